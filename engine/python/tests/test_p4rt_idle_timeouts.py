"""Idle time-outs, by the switch's own clock (P4Runtime 1.5 §9.1.8, §16.4)."""

import pytest
from eeon_engine import Switch
from finsy.proto import p4r, rpc_code
from made_frames import frame
from p4rt_client import DELETE, INSERT, MODIFY, Client, Names, codes, exact, lpm

pytestmark = pytest.mark.system

MS = 10**6
PS = 1000


def entry(names: Names, key: int = 1, timeout_ns: int = 0, **fields: object) -> p4r.TableEntry:
    action = names.action("forward", 2)
    return names.entry("ageing_table", exact(1, key), action=action, idle_timeout_ns=timeout_ns, **fields)  # type: ignore[arg-type]


def elapsed(client: Client, names: Names, key: int = 1) -> int:
    asked = names.entry("ageing_table", exact(1, key), time_since_last_hit=p4r.TableEntry.IdleTimeout())
    (found,) = client.read(asked)
    assert found.HasField("time_since_last_hit")
    return int(found.time_since_last_hit.elapsed_ns)


def test_an_entry_that_is_not_hit_is_reported_once_a_time_out(
    resources: Client, resource_switch: Switch, resource_names: Names
) -> None:
    written = entry(resource_names, timeout_ns=10 * MS, metadata=b"m", controller_metadata=7)
    resources.write((INSERT, written))
    for at_ms in (10, 20):
        resource_switch.advance_to(at_ms * MS * PS)
        notice = resources.receive().idle_timeout_notification
        expected = p4r.TableEntry()
        expected.CopyFrom(written)
        expected.ClearField("action")
        assert list(notice.table_entry) == [expected]
        assert notice.timestamp > 0


def test_a_hit_starts_the_time_out_again(
    resources: Client, resource_switch: Switch, resource_names: Names
) -> None:
    resources.write(
        (INSERT, entry(resource_names, 1, timeout_ns=10 * MS)),
        (INSERT, entry(resource_names, 2, timeout_ns=10 * MS)),
    )
    resource_switch.inject(1, frame(1), at_ps=6 * MS * PS)
    resource_switch.advance_to(12 * MS * PS)
    (told,) = resources.receive().idle_timeout_notification.table_entry
    assert told.match[0] == exact(1, 2)
    assert elapsed(resources, resource_names, 1) == 6 * MS


def test_the_time_since_the_last_hit_is_told_when_asked_for(
    resources: Client, resource_switch: Switch, resource_names: Names
) -> None:
    resources.write((INSERT, entry(resource_names)))
    resource_switch.advance_to(5 * MS * PS)
    assert elapsed(resources, resource_names) == 5 * MS
    resource_switch.inject(1, frame(1))
    resource_switch.advance_to(8 * MS * PS)
    assert elapsed(resources, resource_names) == 3 * MS
    (found,) = resources.read(resource_names.entry("ageing_table", exact(1, 1)))
    assert not found.HasField("time_since_last_hit")


def test_time_outs_are_modified_read_and_taken_away(
    resources: Client, resource_switch: Switch, resource_names: Names
) -> None:
    resources.write((INSERT, entry(resource_names, timeout_ns=10 * MS)))
    resources.write((MODIFY, entry(resource_names, timeout_ns=30 * MS)))
    assert resources.read(resource_names.entry("ageing_table"))[0].idle_timeout_ns == 30 * MS
    resources.write((MODIFY, entry(resource_names)))
    assert resources.read(resource_names.entry("ageing_table"))[0].idle_timeout_ns == 0
    resources.write((INSERT, entry(resource_names, 2, timeout_ns=100 * MS)))
    resource_switch.advance_to(100 * MS * PS)
    (told,) = resources.receive().idle_timeout_notification.table_entry
    assert told.match[0] == exact(1, 2)


def test_a_time_out_needs_a_table_whose_entries_age(resources: Client, resource_names: Names) -> None:
    other = resource_names.entry(
        "metered_table", exact(1, 1), action=resource_names.action("drop"), idle_timeout_ns=5
    )
    failed = resources.refused((INSERT, other))
    assert codes(failed) == [rpc_code.INVALID_ARGUMENT]
    assert "support_timeout" in failed.updates[0][1]
    asked = p4r.TableEntry(table_id=other.table_id, time_since_last_hit=p4r.TableEntry.IdleTimeout())
    assert codes(resources.read_refused(asked)) == [rpc_code.INVALID_ARGUMENT]


@pytest.mark.parametrize("kind", [INSERT, MODIFY])
def test_the_time_since_the_last_hit_is_not_written(
    resources: Client, resource_names: Names, kind: int
) -> None:
    written = entry(resource_names, time_since_last_hit=p4r.TableEntry.IdleTimeout())
    assert codes(resources.refused((kind, written))) == [rpc_code.INVALID_ARGUMENT]


def test_a_negative_time_out_and_one_of_the_default_entry_are_invalid(
    resources: Client, resource_names: Names
) -> None:
    default = resource_names.entry(
        "ageing_table", action=resource_names.action("drop"), is_default_action=True, idle_timeout_ns=1
    )
    negative = entry(resource_names, timeout_ns=-1)
    assert codes(resources.refused((MODIFY, default), (INSERT, negative))) == [rpc_code.INVALID_ARGUMENT] * 2


def test_a_batch_that_is_taken_back_leaves_time_outs_as_they_were(
    resources: Client, resource_switch: Switch, resource_names: Names
) -> None:
    resources.write((INSERT, entry(resource_names, timeout_ns=10 * MS)))
    failed = resources.refused(
        (DELETE, entry(resource_names)),
        (INSERT, entry(resource_names, timeout_ns=50 * MS)),
        (INSERT, entry(resource_names)),
        atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR,
    )
    assert codes(failed)[-1] == rpc_code.ALREADY_EXISTS
    resource_switch.advance_to(10 * MS * PS)
    (told,) = resources.receive().idle_timeout_notification.table_entry
    assert told.idle_timeout_ns == 10 * MS


def test_a_time_out_whose_change_is_taken_back_is_the_old_one_again(
    resources: Client, resource_switch: Switch, resource_names: Names
) -> None:
    resources.write((INSERT, entry(resource_names, timeout_ns=10 * MS)))
    failed = resources.refused(
        (MODIFY, entry(resource_names, timeout_ns=1000 * MS)),
        (INSERT, entry(resource_names)),
        atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR,
    )
    assert codes(failed)[-1] == rpc_code.ALREADY_EXISTS
    # This one is due later: it comes first if the old time-out is gone.
    resources.write((INSERT, entry(resource_names, 2, timeout_ns=20 * MS)))
    resource_switch.advance_to(10 * MS * PS)
    (told,) = resources.receive().idle_timeout_notification.table_entry
    assert told.match[0] == exact(1, 1)


def test_expired_entries_of_several_tables_come_in_a_message_each(
    resources: Client, resource_switch: Switch, resource_names: Names
) -> None:
    route = resource_names.entry(
        "routes", lpm(1, 1, 32), action=resource_names.action("forward", 1), idle_timeout_ns=MS
    )
    resources.write((INSERT, entry(resource_names, timeout_ns=MS)), (INSERT, route))
    resource_switch.advance_to(MS * PS)
    tables = {resources.receive().idle_timeout_notification.table_entry[0].table_id for _ in range(2)}
    assert tables == {resource_names["ageing_table"], resource_names["routes"]}
