"""Counters and registers over P4Runtime (1.5 §9.3, §9.7): reads show the effect of packets."""

import pytest
from eeon_engine import Switch
from finsy.proto import p4d, p4r
from made_frames import frame
from p4rt_client import INSERT, MODIFY, Client, Names, bits, exact

pytestmark = pytest.mark.system


def counter(names: Names, alias: str, index: int | None = None, **data: int) -> p4r.CounterEntry:
    entry = p4r.CounterEntry(counter_id=names[alias])
    if index is not None:
        entry.index.index = index
    if data:
        entry.data.CopyFrom(p4r.CounterData(**data))
    return entry


def register(names: Names, alias: str, index: int | None = None, data: object = None) -> p4r.RegisterEntry:
    entry = p4r.RegisterEntry(register_id=names[alias], data=data)
    if index is not None:
        entry.index.index = index
    return entry


def receive(switch: Switch, key: int, count: int = 1) -> None:
    for _ in range(count):
        switch.inject(1, frame(key))
    switch.advance_to(switch.now_ps + 1_000_000)


# ---- indirect counters


def test_counters_count_what_their_unit_says(client: Client, switch: Switch, names: Names) -> None:
    receive(switch, key=3, count=2)
    size = 2 * len(frame(3))
    assert client.read(counter(names, "both", 3)) == [
        counter(names, "both", 3, byte_count=size, packet_count=2)
    ]
    assert client.read(counter(names, "packets_only", 3)) == [
        counter(names, "packets_only", 3, packet_count=2)
    ]
    assert client.read(counter(names, "bytes_only", 3)) == [counter(names, "bytes_only", 3, byte_count=size)]


def test_counters_are_read_by_array_or_all_at_once(client: Client, switch: Switch, names: Names) -> None:
    receive(switch, key=3)
    found = client.read(counter(names, "both"))
    assert [entry.index.index for entry in found] == list(range(8))
    assert [entry.data.packet_count for entry in found] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert len(client.read(p4r.CounterEntry())) == 24


def test_counters_are_set_by_cell_or_whole(client: Client, names: Names) -> None:
    client.write((MODIFY, counter(names, "both", 2, byte_count=7, packet_count=1)))
    client.write((MODIFY, counter(names, "both", 2)))  # without data, nothing changes
    assert client.read(counter(names, "both", 2))[0].data == p4r.CounterData(byte_count=7, packet_count=1)
    client.write((MODIFY, counter(names, "both", byte_count=5, packet_count=5)))
    assert {e.data.packet_count for e in client.read(counter(names, "both"))} == {5}


# ---- direct counters


def test_direct_counters_count_hits_of_their_entry(client: Client, switch: Switch, names: Names) -> None:
    entry = names.entry("exact_table", exact(1, 3), action=names.action("drop"))
    other = names.entry("exact_table", exact(1, 4), action=names.action("drop"))
    client.write((INSERT, entry), (INSERT, other))
    receive(switch, key=3, count=5)
    key = names.entry("exact_table", exact(1, 3))
    found = client.read(p4r.DirectCounterEntry(table_entry=key))
    data = p4r.CounterData(packet_count=5, byte_count=5 * len(frame(3)))
    assert found == [p4r.DirectCounterEntry(table_entry=key, data=data)]
    table = p4r.TableEntry(table_id=names["exact_table"])
    assert len(client.read(p4r.DirectCounterEntry(table_entry=table))) == 2
    assert len(client.read(p4r.DirectCounterEntry())) == 2
    asked = p4r.TableEntry(table_id=names["exact_table"], match=[exact(1, 3)], counter_data=p4r.CounterData())
    assert client.read(asked)[0].counter_data == data
    assert not client.read(table)[0].HasField("counter_data")


def test_direct_counters_are_set_with_their_entry_or_by_themselves(client: Client, names: Names) -> None:
    data = p4r.CounterData(packet_count=2, byte_count=9)
    key = names.entry("exact_table", exact(1, 3))
    client.write(
        (INSERT, names.entry("exact_table", exact(1, 3), action=names.action("drop"), counter_data=data))
    )
    assert client.read(p4r.DirectCounterEntry(table_entry=key))[0].data == data
    zero = p4r.CounterData()
    client.write((MODIFY, p4r.DirectCounterEntry(table_entry=key, data=zero)))
    assert client.read(p4r.DirectCounterEntry(table_entry=key))[0].data == zero


# ---- registers


def test_registers_are_read_as_the_program_wrote_them(client: Client, switch: Switch, names: Names) -> None:
    switch.inject(1, frame(0), at_ps=0x123456 * 1000)
    switch.advance_to(0x123456 * 1000)
    assert client.read(register(names, "wide_cells", 0))[0].data == bits(0x123456)


def test_registers_are_written_by_cell_or_whole(client: Client, switch: Switch, names: Names) -> None:
    client.write((MODIFY, register(names, "wide_cells", 5, bits(0xFFFFFFFFFFFF))))
    found = client.read(register(names, "wide_cells"))
    assert [e.index.index for e in found] == list(range(16))
    assert [e.data for e in found] == [bits(0)] * 5 + [bits(0xFFFFFFFFFFFF)] + [bits(0)] * 10
    assert switch.register_read("EverythingIngress.wide_cells", 5) == b"\xff" * 6
    client.write((MODIFY, register(names, "wide_cells", None, bits(7))))
    assert {e.data.bitstring for e in client.read(register(names, "wide_cells"))} == {b"\x07"}


def test_all_registers_are_read_at_once(client: Client, names: Names) -> None:
    assert len(client.read(p4r.RegisterEntry())) == 16 + 4


@pytest.mark.parametrize(
    ("value", "data"), [(-1, b"\xff"), (-739, b"\xfd\x1d"), (127, b"\x7f"), (128, b"\x00\x80")]
)
def test_signed_cells_are_twos_complement_in_the_fewest_bytes(
    client: Client, names: Names, value: int, data: bytes
) -> None:
    written = p4d.P4Data(bitstring=value.to_bytes(2, "big", signed=True))
    client.write((MODIFY, register(names, "signed_cells", 1, written)))
    assert client.read(register(names, "signed_cells", 1))[0].data.bitstring == data


def test_the_program_sees_signed_cells_as_written(client: Client, switch: Switch, names: Names) -> None:
    receive(switch, 0)  # the program decrements cell 0
    assert client.read(register(names, "signed_cells", 0))[0].data.bitstring == b"\xff"
    client.write((MODIFY, register(names, "signed_cells", 0, p4d.P4Data(bitstring=b"\xfd\x1d"))))
    receive(switch, 0)
    assert client.read(register(names, "signed_cells", 0))[0].data.bitstring == b"\xfd\x1c"
