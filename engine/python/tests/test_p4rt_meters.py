"""Configurations of meters (P4Runtime 1.5 §9.4): pure functions, no switch."""

import pytest
from eeon_engine.p4runtime.entities.meters import config_to_message, rates_from_message
from eeon_engine.p4runtime.errors import StatusError
from eeon_engine.p4runtime.program.schema import Meter, MeterType
from finsy.proto import p4r, rpc_code

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
