"""Direct counters and meters, with their entries and by themselves, on entries and on default entries
(P4Runtime 1.5 §9.1.3, §9.1.7, §9.3.1, §9.4.1).
"""

import pytest
from eeon_engine import Switch
from finsy.proto import p4r, rpc_code
from made_frames import frame
from p4rt_client import DELETE, INSERT, MODIFY, Client, Names, codes, exact, ports

pytestmark = pytest.mark.system

CONFIG = p4r.MeterConfig(cir=1, cburst=1, pir=1, pburst=2)
ASKED = {"counter_data": p4r.CounterData(), "meter_config": p4r.MeterConfig()}


def entry(names: Names, key: int = 9, **fields: object) -> p4r.TableEntry:
    return names.entry("metered_table", exact(1, key), **fields)  # type: ignore[arg-type]


def default(names: Names, **fields: object) -> p4r.TableEntry:
    return names.entry("metered_table", is_default_action=True, **fields)  # type: ignore[arg-type]


def insert(client: Client, names: Names, **fields: object) -> None:
    client.write((INSERT, entry(names, action=names.action("metered", 4), **fields)))


def config_of(client: Client, names: Names) -> p4r.MeterConfig | None:
    (found,) = client.read(entry(names, **ASKED))
    return found.meter_config if found.HasField("meter_config") else None


def test_a_meter_given_with_an_insert_is_there_from_the_first_packet(
    resources: Client, resource_switch: Switch, resource_names: Names
) -> None:
    insert(resources, resource_names, meter_config=CONFIG)
    for _ in range(3):
        resource_switch.inject(1, frame(9))
    assert ports(resource_switch.advance_to(1000)) == [4, 4]
    assert config_of(resources, resource_names) == CONFIG


def test_a_meter_that_was_not_given_is_green_and_shows_no_config(
    resources: Client, resource_names: Names
) -> None:
    insert(resources, resource_names)
    assert config_of(resources, resource_names) is None


def test_a_read_that_does_not_ask_gets_no_config_and_no_counts(
    resources: Client, resource_names: Names
) -> None:
    insert(resources, resource_names, meter_config=CONFIG)
    (found,) = resources.read(entry(resource_names))
    assert not found.HasField("meter_config")
    assert not found.HasField("counter_data")


def test_a_modify_without_a_config_resets_the_meter_and_leaves_the_counter(
    resources: Client, resource_names: Names
) -> None:
    data = p4r.CounterData(packet_count=5, byte_count=6)
    insert(resources, resource_names, meter_config=CONFIG, counter_data=data)
    resources.write((MODIFY, entry(resource_names, action=resource_names.action("metered", 5))))
    (found,) = resources.read(entry(resource_names, **ASKED))
    assert found.counter_data == data
    assert not found.HasField("meter_config")


def test_a_direct_meter_is_set_read_and_reset_by_itself(resources: Client, resource_names: Names) -> None:
    insert(resources, resource_names)
    key = entry(resource_names)
    resources.write((MODIFY, p4r.DirectMeterEntry(table_entry=key, config=CONFIG)))
    assert resources.read(p4r.DirectMeterEntry(table_entry=key)) == [
        p4r.DirectMeterEntry(table_entry=key, config=CONFIG)
    ]
    assert len(resources.read(p4r.DirectMeterEntry())) == 1
    resources.write((MODIFY, p4r.DirectMeterEntry(table_entry=key)))
    assert resources.read(p4r.DirectMeterEntry(table_entry=key)) == [p4r.DirectMeterEntry(table_entry=key)]


def test_a_deleted_and_inserted_entry_starts_afresh(
    resources: Client, resource_switch: Switch, resource_names: Names
) -> None:
    insert(resources, resource_names, meter_config=CONFIG)
    resource_switch.inject(1, frame(9))
    resource_switch.advance_to(1000)
    resources.write((DELETE, entry(resource_names)))
    insert(resources, resource_names)
    (found,) = resources.read(entry(resource_names, **ASKED))
    assert found.counter_data == p4r.CounterData()
    assert not found.HasField("meter_config")


# ---- default entries


def test_misses_are_counted_with_the_default_entry(
    resources: Client, resource_switch: Switch, resource_names: Names
) -> None:
    for _ in range(3):
        resource_switch.inject(1, frame(1))
    resource_switch.advance_to(1000)
    expected = p4r.CounterData(packet_count=3, byte_count=3 * len(frame(1)))
    (found,) = resources.read(default(resource_names, **ASKED))
    assert found.counter_data == expected
    key = default(resource_names)
    assert resources.read(p4r.DirectCounterEntry(table_entry=key))[0].data == expected
    resources.write((MODIFY, p4r.DirectCounterEntry(table_entry=key, data=p4r.CounterData(packet_count=9))))
    assert resources.read(default(resource_names, **ASKED))[0].counter_data.packet_count == 9


def test_misses_are_metered_once_the_default_entry_has_a_config(
    resources: Client, resource_switch: Switch, resource_names: Names
) -> None:
    resources.write(
        (MODIFY, default(resource_names, action=resource_names.action("metered", 6), meter_config=CONFIG))
    )
    assert resources.read(default(resource_names, **ASKED))[0].meter_config == CONFIG
    for _ in range(3):
        resource_switch.inject(1, frame(1))
    assert ports(resource_switch.advance_to(1000)) == [6, 6]


def test_a_reset_of_the_default_entry_resets_its_meter_and_metadata(
    resources: Client, resource_names: Names
) -> None:
    action = resource_names.action("metered", 6)
    written = default(
        resource_names, action=action, meter_config=CONFIG, metadata=b"m", controller_metadata=7
    )
    resources.write((MODIFY, written))
    (found,) = resources.read(default(resource_names, meter_config=p4r.MeterConfig()))
    assert found == written
    resources.write((MODIFY, default(resource_names)))
    assert resources.read(default(resource_names, meter_config=p4r.MeterConfig())) == [
        default(resource_names, action=resource_names.action("drop"))
    ]


def test_a_direct_meter_of_the_default_entry_is_set_by_itself(
    resources: Client, resource_names: Names
) -> None:
    meter = p4r.DirectMeterEntry(table_entry=default(resource_names), config=CONFIG)
    resources.write((MODIFY, meter))
    assert resources.read(p4r.DirectMeterEntry(table_entry=default(resource_names))) == [meter]


@pytest.mark.parametrize("atomicity", [p4r.WriteRequest.ROLLBACK_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC])
def test_a_batch_that_is_taken_back_leaves_meters_and_counters_as_they_were(
    resources: Client, resource_names: Names, atomicity: int
) -> None:
    insert(resources, resource_names, meter_config=CONFIG, counter_data=p4r.CounterData(packet_count=3))
    requests = (
        p4r.TableEntry(**ASKED),
        p4r.TableEntry(is_default_action=True, **ASKED),
        p4r.MeterEntry(),
        p4r.ValueSetEntry(),
    )
    before = resources.read(*requests)
    other = p4r.MeterConfig(cir=7, cburst=7, pir=7, pburst=7)
    failed = resources.refused(
        (MODIFY, p4r.DirectMeterEntry(table_entry=entry(resource_names), config=other)),
        (DELETE, entry(resource_names)),
        (MODIFY, default(resource_names, action=resource_names.action("metered", 1), meter_config=other)),
        (MODIFY, p4r.MeterEntry(meter_id=resource_names["cells"], config=other)),
        (DELETE, entry(resource_names)),
        atomicity=atomicity,
    )
    assert codes(failed)[-1] == rpc_code.NOT_FOUND
    assert resources.read(*requests) == before


def test_an_entry_whose_deletion_is_taken_back_has_its_meter_and_counter_again(
    resources: Client, resource_names: Names
) -> None:
    insert(resources, resource_names, meter_config=CONFIG, counter_data=p4r.CounterData(packet_count=3))
    before = resources.read(entry(resource_names, **ASKED))
    failed = resources.refused(
        (DELETE, entry(resource_names)),
        (DELETE, entry(resource_names)),
        atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR,
    )
    assert codes(failed) == [rpc_code.ABORTED, rpc_code.NOT_FOUND]
    assert resources.read(entry(resource_names, **ASKED)) == before
    assert before[0].meter_config == CONFIG
