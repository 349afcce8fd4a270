"""Table entries over P4Runtime (1.5 §9.1): written entries apply to packets, and can be read back."""

import pytest
from eeon_engine import Switch
from finsy.proto import p4r, rpc_code
from made_frames import frame
from p4rt_client import (
    DELETE,
    INSERT,
    MODIFY,
    Client,
    Names,
    between,
    codes,
    exact,
    lpm,
    number_bytes,
    one_shot,
    optional,
    ports,
    ternary,
)

pytestmark = pytest.mark.system


def send(switch: Switch, key: int, ether_type: int = 0x1234) -> list[int]:
    """Returns the ports on which a frame with this key leaves."""
    switch.inject(1, frame(key, ether_type))
    return ports(switch.advance_to(switch.now_ps + 1000))


def entries(client: Client, names: Names, table: str, **filters: object) -> list[p4r.TableEntry]:
    return client.read(p4r.TableEntry(table_id=names[table], **filters))


def test_an_exact_entry_is_inserted_modified_and_deleted(
    client: Client, switch: Switch, names: Names
) -> None:
    entry = names.entry("exact_table", exact(1, 9), action=names.action("forward", 4))
    client.write((INSERT, entry))
    assert send(switch, 9) == [4]
    assert entries(client, names, "exact_table") == [entry]

    changed = names.entry("exact_table", exact(1, 9), action=names.action("forward", 5), metadata=b"m")
    client.write((MODIFY, changed))
    assert send(switch, 9) == [5]
    assert entries(client, names, "exact_table") == [changed]

    client.write((DELETE, names.entry("exact_table", exact(1, 9))))
    assert send(switch, 9) == []
    assert entries(client, names, "exact_table") == []


def test_the_longest_prefix_wins_and_an_omitted_prefix_matches_all(
    client: Client, switch: Switch, names: Names
) -> None:
    def to(port: int) -> p4r.TableAction:
        return one_shot((names.action("forward", port), 1))

    client.write(
        (INSERT, names.entry("lpm_table", action=to(1))),
        (INSERT, names.entry("lpm_table", lpm(1, 0x0A000000, 8), action=to(2))),
        (INSERT, names.entry("lpm_table", lpm(1, 0x0A0B0000, 16), action=to(3))),
    )
    assert send(switch, 0x0A0B0C0D) == [3]
    assert send(switch, 0x0A0C0C0D) == [2]
    assert send(switch, 0x0C0C0C0D) == [1]


def test_the_higher_priority_wins(client: Client, switch: Switch, names: Names) -> None:
    def entry(mask: int, port: int, priority: int) -> p4r.TableEntry:
        match = [ternary(1, 0x10 & mask, mask), exact(2, 0x1234)]
        return names.entry("ternary_table", *match, action=names.action("forward", port), priority=priority)

    client.write((INSERT, entry(0xF0, 1, 10)), (INSERT, entry(0x10, 2, 20)))
    assert send(switch, 0x10) == [2]
    client.write((INSERT, entry(0x30, 3, 30)))
    assert send(switch, 0x10) == [3]
    assert sorted(e.priority for e in entries(client, names, "ternary_table")) == [10, 20, 30]


def test_range_and_optional_match(client: Client, switch: Switch, names: Names) -> None:
    client.write(
        (INSERT, names.entry("range_table", between(1, 5, 9), action=names.action("forward", 1), priority=1)),
        (
            INSERT,
            names.entry("range_table", optional(2, 0x0800), action=names.action("forward", 2), priority=2),
        ),
    )
    assert [send(switch, key) for key in (4, 5, 9, 10)] == [[], [1], [1], []]
    assert send(switch, 5, 0x0800) == [2]
    assert send(switch, 4, 0x0800) == [2]


def test_leading_zeros_name_the_same_entry_and_are_not_answered(client: Client, names: Names) -> None:
    long = p4r.FieldMatch(field_id=1, exact=p4r.FieldMatch.Exact(value=b"\x00\x00\x00\x09"))
    action = p4r.Action(action_id=names["forward"])
    action.params.add(param_id=1, value=b"\x00\x04")
    client.write((INSERT, names.entry("exact_table", long, action=action)))
    short = names.entry("exact_table", exact(1, 9), action=names.action("forward", 4))
    assert entries(client, names, "exact_table") == [short]
    assert codes(client.refused((INSERT, short))) == [rpc_code.ALREADY_EXISTS]


def test_priorities_that_differ_are_different_entries(client: Client, names: Names) -> None:
    for priority in (1, 2):
        client.write(
            (
                INSERT,
                names.entry("range_table", between(1, 5, 9), action=names.action("drop"), priority=priority),
            )
        )
    client.write((DELETE, names.entry("range_table", between(1, 5, 9), priority=1)))
    assert [e.priority for e in entries(client, names, "range_table")] == [2]


def test_a_modify_without_an_action_keeps_the_action(client: Client, switch: Switch, names: Names) -> None:
    client.write((INSERT, names.entry("exact_table", exact(1, 9), action=names.action("forward", 4))))
    client.write((MODIFY, names.entry("exact_table", exact(1, 9), metadata=b"new")))
    assert entries(client, names, "exact_table") == [
        names.entry("exact_table", exact(1, 9), action=names.action("forward", 4), metadata=b"new")
    ]
    assert send(switch, 9) == [4]


# ---- default entries


def test_the_default_entry_is_modified_reset_and_read(client: Client, switch: Switch, names: Names) -> None:
    original = names.entry("settings", action=names.action("NoAction"), is_default_action=True)
    assert entries(client, names, "settings", is_default_action=True) == [original]
    changed = names.entry(
        "settings", action=names.action("forward", 6), is_default_action=True, metadata=b"d"
    )
    client.write((MODIFY, changed))
    assert entries(client, names, "settings", is_default_action=True) == [changed]
    assert send(switch, 1) == [6]
    client.write((MODIFY, names.entry("settings", is_default_action=True)))
    assert entries(client, names, "settings", is_default_action=True) == [original]
    assert send(switch, 1) == []


def test_default_entries_of_all_tables_are_read_at_once(client: Client, names: Names) -> None:
    found = client.read(p4r.TableEntry(is_default_action=True))
    assert {entry.table_id for entry in found} == {table.preamble.id for table in names.info.tables}


# ---- const entries


def test_const_entries_are_read_with_the_priorities_of_their_order(
    client: Client, switch: Switch, names: Names
) -> None:
    forward = names.action("forward", 7)
    found = entries(client, names, "const_table")
    assert found == [
        names.entry(
            "const_table", ternary(1, 0xCAFE0001, 0xFFFFFFFF), action=forward, priority=2, is_const=True
        ),
        names.entry(
            "const_table",
            ternary(1, 0xCAFE0000, 0xFFFF0000),
            action=names.action("drop"),
            priority=1,
            is_const=True,
        ),
    ]
    # Each can be read by its key, with the same result.
    for entry in found:
        assert entries(client, names, "const_table", match=entry.match, priority=entry.priority) == [entry]
    assert send(switch, 0xCAFE0001) == [7]


# ---- reading


def test_wildcard_reads_take_all_tables_or_one(client: Client, names: Names) -> None:
    one = names.entry("exact_table", exact(1, 9), action=names.action("drop"))
    two = names.entry("range_table", between(1, 5, 9), action=names.action("drop"), priority=1)
    client.write((INSERT, one), (INSERT, two))
    found = client.read(p4r.TableEntry())
    assert one in found and two in found and len(found) == 4  # with the two const entries
    assert entries(client, names, "exact_table") == [one]


def test_reads_filter_by_key_priority_metadata_and_action(client: Client, names: Names) -> None:
    written = [
        names.entry(
            "range_table",
            between(1, number, 99),
            action=names.action("forward", number) if number < 3 else names.action("drop"),
            priority=number,
            metadata=number_bytes(number % 2 + 1),
        )
        for number in (1, 2, 3)
    ]
    client.write(*((INSERT, entry) for entry in written))

    def found(**filters: object) -> list[int]:
        return [entry.priority for entry in entries(client, names, "range_table", **filters)]

    assert found(match=[between(1, 2, 99)], priority=2) == [2]
    assert found(priority=3) == [3]
    assert found(metadata=b"\x02") == [3, 1]
    action = p4r.TableAction(action=p4r.Action(action_id=names["forward"]))
    assert found(action=action) == [2, 1]
    assert entries(client, names, "exact_table", match=[exact(1, 5)]) == []


def test_entries_are_read_highest_priority_first_whatever_the_order_of_writes(
    client: Client, names: Names
) -> None:
    def entry(value: int, priority: int) -> p4r.TableEntry:
        match = between(1, value, 99)
        return names.entry("range_table", match, action=names.action("drop"), priority=priority)

    client.write(*((INSERT, entry(*key)) for key in ((5, 2), (7, 3), (3, 2))))
    assert entries(client, names, "range_table") == [entry(7, 3), entry(3, 2), entry(5, 2)]


def test_the_default_entry_of_an_indirect_table_is_noaction(client: Client, names: Names) -> None:
    (default,) = entries(client, names, "lpm_table", is_default_action=True)
    assert default.action.action.action_id == names["NoAction"]
