"""Batches: order, atomicity, errors of single updates (P4Runtime 1.5 §12); unsupported entities."""

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
    bits,
    codes,
    exact,
    failure,
    lpm,
    one_shot,
    ports,
)

pytestmark = pytest.mark.system

ROLLBACK = p4r.WriteRequest.ROLLBACK_ON_ERROR
ATOMIC = p4r.WriteRequest.DATAPLANE_ATOMIC


def entry(names: Names, key: int, port: int = 1) -> p4r.TableEntry:
    return names.entry("exact_table", exact(1, key), action=names.action("forward", port))


def test_a_batch_goes_on_after_an_error_and_reports_each_update(client: Client, names: Names) -> None:
    failed = client.refused(
        (INSERT, entry(names, 1)),
        (INSERT, entry(names, 1)),
        (DELETE, entry(names, 9)),
        (INSERT, entry(names, 2)),
    )
    assert failed.code == rpc_code.UNKNOWN
    assert codes(failed) == [rpc_code.OK, rpc_code.ALREADY_EXISTS, rpc_code.NOT_FOUND, rpc_code.OK]
    assert failed.updates[0][1] == ""
    assert "2 of 4 updates failed" in failed.message
    assert len(client.read(p4r.TableEntry(table_id=names["exact_table"]))) == 2


def test_updates_of_a_batch_are_applied_in_order(client: Client, switch: Switch, names: Names) -> None:
    client.write((INSERT, entry(names, 1, 1)), (MODIFY, entry(names, 1, 2)), (DELETE, entry(names, 1)))
    assert client.read(p4r.TableEntry(table_id=names["exact_table"])) == []


def test_an_empty_batch_is_accepted(client: Client) -> None:
    client.write()


@pytest.mark.parametrize("atomicity", [ROLLBACK, ATOMIC])
def test_an_atomic_batch_is_taken_back_whole(
    client: Client, switch: Switch, names: Names, atomicity: int
) -> None:
    """The batch writes all kinds of entities; only its last update fails."""
    forward = [names.action("forward", port) for port in range(4)]
    key = lpm(1, 0x0A000000, 8)
    plain = names["plain_profile"]
    member = p4r.ActionProfileMember(action_profile_id=plain, member_id=1, action=forward[1])
    client.write(
        (INSERT, entry(names, 1)),
        (INSERT, entry(names, 2)),
        (INSERT, names.entry("lpm_table", key, action=one_shot((forward[1], 2), (forward[2], 1)))),
        (INSERT, names.entry("lpm_table", lpm(1, 0x0B000000, 8), action=one_shot((forward[3], 1)))),
        (INSERT, member),
        (INSERT, p4r.MulticastGroupEntry(multicast_group_id=1, replicas=[p4r.Replica(port=b"\x01")])),
        (INSERT, p4r.CloneSessionEntry(session_id=1, replicas=[p4r.Replica(port=b"\x01")])),
    )
    switch.inject(1, frame(1))
    switch.advance_to(1000)
    before = client.state()

    other = p4r.ActionProfileMember(action_profile_id=plain, member_id=2, action=forward[2])
    to_member = p4r.TableAction(action_profile_member_id=2)
    batch = [
        (DELETE, entry(names, 1)),
        (MODIFY, entry(names, 2, 3)),
        (INSERT, entry(names, 3)),
        (MODIFY, names.entry("lpm_table", key, action=one_shot((forward[3], 1), (forward[2], 3)))),
        (DELETE, names.entry("lpm_table", lpm(1, 0x0B000000, 8))),
        (INSERT, other),
        (INSERT, names.entry("member_table", exact(1, 1), action=to_member)),
        (MODIFY, p4r.ActionProfileMember(action_profile_id=plain, member_id=1, action=forward[3])),
        (DELETE, member),
        (MODIFY, names.entry("settings", action=forward[2], is_default_action=True)),
        (MODIFY, p4r.CounterEntry(counter_id=names["both"], data=p4r.CounterData(packet_count=9))),
        (MODIFY, p4r.RegisterEntry(register_id=names["wide_cells"], data=bits(9))),
        (MODIFY, p4r.MulticastGroupEntry(multicast_group_id=1, replicas=[p4r.Replica(port=b"\x02")])),
        (DELETE, p4r.CloneSessionEntry(session_id=1)),
        (INSERT, entry(names, 3)),
    ]
    failed = client.refused(*batch, atomicity=atomicity)
    assert codes(failed) == [rpc_code.ABORTED] * 14 + [rpc_code.ALREADY_EXISTS]
    assert sorted(map(str, client.state())) == sorted(map(str, before))
    # The server's own state was restored too: the batch without its last update works, and can be undone.
    client.write(*batch[:-1], atomicity=atomicity)
    switch.inject(1, frame(2))
    assert ports(switch.advance_to(2000)) == [3]


def test_groups_and_their_members_are_taken_back_too(client: Client, switch: Switch, names: Names) -> None:
    selector = names["selector"]
    members = [
        p4r.ActionProfileMember(action_profile_id=selector, member_id=n, action=names.action("forward", n))
        for n in (1, 2)
    ]
    group = p4r.ActionProfileGroup(action_profile_id=selector, group_id=1, max_size=8)
    group.members.add(member_id=1, weight=2)
    client.write(*((INSERT, member) for member in members), (INSERT, group))
    entry_ = names.entry(
        "lpm_table", lpm(1, 0x0A000000, 8), action=p4r.TableAction(action_profile_group_id=1)
    )
    client.write((INSERT, entry_))
    other = p4r.ActionProfileGroup()
    other.CopyFrom(group)
    other.ClearField("members")
    other.members.add(member_id=2, weight=5)
    for batch in (
        [(MODIFY, other)],
        [(DELETE, entry_), (DELETE, group), (DELETE, members[0])],
        [(MODIFY, other), (DELETE, members[0])],
    ):
        before = client.state()
        failed = client.refused(*batch, (INSERT, members[1]), atomicity=ROLLBACK)
        assert codes(failed)[-1] == rpc_code.ALREADY_EXISTS, failed.updates
        assert client.state() == before
        switch.inject(1, frame(0x0A000001))
        assert ports(switch.advance_to(switch.now_ps + 1000)) == [1]


def test_an_unknown_atomicity_is_invalid(client: Client) -> None:
    failure(rpc_code.INVALID_ARGUMENT, "atomicity 9", client.write, atomicity=9)


def test_the_device_is_checked_before_the_client(client: Client) -> None:
    client.device_id, client.election_id = 2, 99
    failure(rpc_code.NOT_FOUND, "", client.write)
    failure(rpc_code.NOT_FOUND, "", client.read, p4r.TableEntry())


def test_a_read_answers_what_is_valid_and_reports_each_request(client: Client, names: Names) -> None:
    client.write((INSERT, entry(names, 1)), (INSERT, entry(names, 2)))
    table = p4r.TableEntry(table_id=names["exact_table"])
    found, failed = client.read_some(table, p4r.TableEntry(table_id=99), p4r.Entity(), entry(names, 2))
    assert found == [entry(names, 1), entry(names, 2), entry(names, 2)]
    assert failed is not None
    assert failed.code == rpc_code.UNKNOWN
    assert codes(failed) == [
        rpc_code.OK,
        rpc_code.INVALID_ARGUMENT,
        rpc_code.INVALID_ARGUMENT,
        rpc_code.OK,
    ]
    assert "2 of 4 requests failed" in failed.message


def test_large_batches_report_every_error(client: Client, names: Names) -> None:
    failed = client.refused(*((DELETE, entry(names, key)) for key in range(500)))
    assert codes(failed) == [rpc_code.NOT_FOUND] * 500
