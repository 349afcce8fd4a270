"""Indirect meters (P4Runtime 1.5 §9.4.2), and their valid configurations."""

import pytest
from eeon_engine import Switch
from eeon_engine.p4runtime.entities.meters import config_to_message, rates_from_message
from eeon_engine.p4runtime.errors import StatusError
from eeon_engine.p4runtime.program.schema import Meter, MeterType
from finsy.proto import p4r, rpc_code
from made_frames import frame
from p4rt_client import INSERT, MODIFY, Client, Names, lpm, ports

pytestmark = pytest.mark.system

CONFIG = p4r.MeterConfig(cir=1000, cburst=100, pir=2000, pburst=200)


def meter(names: Names, index: int | None = None, config: p4r.MeterConfig | None = None) -> p4r.MeterEntry:
    entry = p4r.MeterEntry(meter_id=names["cells"], config=config)
    if index is not None:
        entry.index.index = index
    return entry


def test_a_meter_is_set_and_read_by_index(resources: Client, resource_names: Names) -> None:
    resources.write((MODIFY, meter(resource_names, 2, CONFIG)))
    assert resources.read(meter(resource_names, 2)) == [meter(resource_names, 2, CONFIG)]
    # A meter that was never set has no config in a read.
    assert resources.read(meter(resource_names, 1)) == [meter(resource_names, 1)]


def test_without_an_index_every_cell_is_set_and_read(resources: Client, resource_names: Names) -> None:
    resources.write((MODIFY, meter(resource_names, None, CONFIG)))
    assert resources.read(meter(resource_names)) == [meter(resource_names, i, CONFIG) for i in range(4)]
    # Id 0 stands for all arrays, including that of two cells.
    assert len(resources.read(p4r.MeterEntry())) == 6


def test_without_a_config_a_meter_is_green_again(resources: Client, resource_names: Names) -> None:
    resources.write((MODIFY, meter(resource_names, None, CONFIG)))
    resources.write((MODIFY, meter(resource_names, 1)))
    assert [m.HasField("config") for m in resources.read(meter(resource_names))] == [True, False, True, True]


def test_a_meter_that_is_set_colours_packets(
    resources: Client, resource_switch: Switch, resource_names: Names
) -> None:
    """The committed burst is one frame, the peak burst two: the program drops the third, a red one."""
    size = len(frame(9))
    config = p4r.MeterConfig(cir=1, cburst=size, pir=1, pburst=2 * size)
    entry = resource_names.entry("routes", lpm(1, 9, 32), action=resource_names.action("measured", 4))
    resources.write((INSERT, entry), (MODIFY, meter(resource_names, 1, config)))
    for _ in range(3):
        resource_switch.inject(1, frame(9))
    assert ports(resource_switch.advance_to(1000)) == [4, 4]
    resources.write((MODIFY, meter(resource_names, 1)))
    resource_switch.inject(1, frame(9))
    assert ports(resource_switch.advance_to(2000)) == [4]


TWO_RATES, THREE, TWO = (
    MeterType.TWO_RATE_THREE_COLOR,
    MeterType.SINGLE_RATE_THREE_COLOR,
    MeterType.SINGLE_RATE_TWO_COLOR,
)


def config(cir: int, cburst: int, pir: int, pburst: int, eburst: int = 0) -> p4r.MeterConfig:
    return p4r.MeterConfig(cir=cir, cburst=cburst, pir=pir, pburst=pburst, eburst=eburst)


@pytest.mark.parametrize(
    ("kind", "given", "code"),
    [
        (TWO_RATES, config(1, 1, 2, 2, 1), rpc_code.INVALID_ARGUMENT),
        (TWO_RATES, config(2, 1, 1, 1), rpc_code.INVALID_ARGUMENT),
        (TWO_RATES, config(-1, 1, 1, 1), rpc_code.INVALID_ARGUMENT),
        (TWO_RATES, config(1, -1, 1, 1), rpc_code.INVALID_ARGUMENT),
        (TWO_RATES, config(1, 1, 2**50 + 1, 1), rpc_code.UNIMPLEMENTED),
        (TWO_RATES, config(1, 2**32, 1, 2**32), rpc_code.UNIMPLEMENTED),
        (THREE, config(1, 1, 2, 1), rpc_code.INVALID_ARGUMENT),
        (THREE, config(1, 1, 1, 1, 5), rpc_code.UNIMPLEMENTED),
        (TWO, config(1, 1, 1, 2), rpc_code.INVALID_ARGUMENT),
        (TWO, config(1, 1, 1, 1, 5), rpc_code.INVALID_ARGUMENT),
    ],
)
def test_configs_that_do_not_suit_the_type_are_refused(
    kind: MeterType, given: p4r.MeterConfig, code: int
) -> None:
    with pytest.raises(StatusError, match="meter 'm'") as caught:
        rates_from_message(Meter(1, "m", 1, kind), given)
    assert caught.value.code == code


@pytest.mark.parametrize("kind", [TWO_RATES, THREE, TWO])
@pytest.mark.parametrize("rate", [0, 1, 249, 999_999, 10**9 + 7, 2**40 + 1, 2**50 - 1, 2**50])
def test_rates_come_back_as_they_were_given(kind: MeterType, rate: int) -> None:
    given = config(rate, 2**32 - 1, rate, 2**32 - 1)
    found = p4r.MeterConfig()
    config_to_message(rates_from_message(Meter(1, "m", 1, kind), given), found)
    assert found == given
