"""Idle timeouts, in the switch's own time (P4Runtime 1.5 §9.1.8, §16.4)."""

import pytest
from eeon_engine import Switch
from finsy.proto import p4r, rpc_code
from made_frames import frame
from p4rt_client import DELETE, INSERT, MODIFY, Client, Names, codes, exact, lpm
from thrift_client import ThriftClient, standard
from thrift_client import exact as thrift_exact

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
    # This entry expires later: its notification comes first only if the old timeout is gone.
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


def test_an_entry_of_thrift_that_ages_is_told_to_the_client(
    resources: Client, resource_switch: Switch, resource_thrift: ThriftClient
) -> None:
    call, table, no_options = (
        resource_thrift.standard,
        "ResourcesIngress.ageing_table",
        standard.BmAddEntryOptions(),
    )
    key = [thrift_exact(bytes(3) + b"\x09")]
    handle = call.bm_mt_add_entry(0, table, key, "ResourcesIngress.forward", [b"\x02"], no_options)
    call.bm_mt_set_entry_ttl(0, table, handle, 1)
    resource_switch.advance_to(2_000_000_000)
    (expired,) = resources.receive().idle_timeout_notification.table_entry
    assert expired.match[0] == exact(1, 9)
