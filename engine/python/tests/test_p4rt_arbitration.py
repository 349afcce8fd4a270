"""Arbitration (P4Runtime 1.5 §5) with a real server; every stream is a separate client."""

import grpc
import pytest
from finsy.proto import U128, p4r, rpc_code
from p4rt_client import INSERT, Client, Connect, Names, exact, failure

pytestmark = pytest.mark.system


def test_the_first_client_with_an_election_id_is_primary(connect: Connect) -> None:
    answer = connect().arbitrate(election_id=5)
    assert answer.status.code == rpc_code.OK
    assert answer.device_id == 1
    assert U128.decode(answer.election_id) == 5


def test_a_client_without_an_election_id_is_a_backup_and_hears_of_no_primary(connect: Connect) -> None:
    client = connect()
    client.send(arbitration=p4r.MasterArbitrationUpdate(device_id=1))
    answer = client.receive().arbitration
    assert answer.status.code == rpc_code.NOT_FOUND
    assert not answer.HasField("election_id")


def test_a_lower_election_id_is_a_backup(connect: Connect) -> None:
    connect().arbitrate(election_id=5)
    answer = connect().arbitrate(election_id=4)
    assert answer.status.code == rpc_code.ALREADY_EXISTS
    assert U128.decode(answer.election_id) == 5


def test_a_higher_election_id_takes_over_and_the_old_primary_is_told(connect: Connect, names: Names) -> None:
    old, new = connect(), connect()
    old.arbitrate(election_id=5)
    assert new.arbitrate(election_id=6).status.code == rpc_code.OK
    told = old.receive().arbitration
    assert told.status.code == rpc_code.ALREADY_EXISTS
    assert U128.decode(told.election_id) == 6
    entry = names.entry("exact_table", exact(1, 1), action=names.action("drop"))
    failure(rpc_code.PERMISSION_DENIED, "election id 5 is not the primary", old.write, (INSERT, entry))
    new.write((INSERT, entry))


def test_all_128_bits_of_an_election_id_count(connect: Connect) -> None:
    connect().arbitrate(election_id=2**64 - 1)
    assert connect().arbitrate(election_id=2**64).status.code == rpc_code.OK
    assert connect().arbitrate(election_id=2**128 - 1).status.code == rpc_code.OK


def test_an_election_id_in_use_ends_the_stream(connect: Connect) -> None:
    connect().arbitrate(election_id=5)
    failure(rpc_code.INVALID_ARGUMENT, "lection id 5 is used", connect().arbitrate, election_id=5)


def test_when_the_primary_leaves_the_backups_are_told_and_one_may_take_over(connect: Connect) -> None:
    primary, backup = connect(), connect()
    primary.arbitrate(election_id=5)
    backup.arbitrate(election_id=4)
    primary.close()
    told = backup.receive().arbitration
    assert told.status.code == rpc_code.NOT_FOUND
    assert U128.decode(told.election_id) == 5
    # No client is promoted: the highest id ever received is 5, and 4 is lower.
    assert backup.arbitrate(election_id=4).status.code == rpc_code.NOT_FOUND
    assert backup.arbitrate(election_id=5).status.code == rpc_code.OK


def test_a_primary_may_step_down(connect: Connect) -> None:
    primary = connect()
    primary.arbitrate(election_id=5)
    assert primary.arbitrate(election_id=3).status.code == rpc_code.NOT_FOUND


def test_a_write_without_an_election_id_is_not_one_with_0(connect: Connect) -> None:
    client = connect()
    client.arbitrate(election_id=0)
    client.write()
    with pytest.raises(grpc.RpcError) as caught:
        client.stub.Write(p4r.WriteRequest(device_id=1))
    assert caught.value.code() is grpc.StatusCode.PERMISSION_DENIED


def test_another_device_is_not_found(connect: Connect) -> None:
    failure(rpc_code.NOT_FOUND, "this is device 1", connect(device_id=2).arbitrate)


def test_a_stream_stays_with_its_device_and_role(connect: Connect) -> None:
    for change in ({"device_id": 2}, {"role": "other"}):
        client = connect()
        client.arbitrate(election_id=1)
        for name, value in change.items():
            setattr(client, name, value)
        failure(rpc_code.FAILED_PRECONDITION, "", client.arbitrate, election_id=1)


def test_every_role_has_a_primary_of_its_own(connect: Connect, names: Names) -> None:
    one, other = connect(), connect(role="other")
    assert one.arbitrate(election_id=5).status.code == rpc_code.OK
    answer = other.arbitrate(election_id=1)
    assert answer.status.code == rpc_code.OK
    assert answer.role.name == "other"
    other.write((INSERT, names.entry("exact_table", exact(1, 1), action=names.action("drop"))))


def test_an_unknown_role_is_not_found(client: Client) -> None:
    client.role = "nobody"
    failure(rpc_code.NOT_FOUND, "no role 'nobody'", client.write)


def test_a_stream_must_begin_with_arbitration(connect: Connect) -> None:
    client = connect()
    client.send(packet=p4r.PacketOut(payload=b"x"))
    failure(rpc_code.FAILED_PRECONDITION, "first message", client.receive)


def test_writes_without_arbitration_are_denied_and_reads_are_not(connect: Connect, names: Names) -> None:
    client = connect()
    failure(
        rpc_code.PERMISSION_DENIED,
        "",
        client.write,
        (INSERT, names.entry("exact_table", exact(1, 1), action=names.action("drop"))),
    )
    assert len(client.read(p4r.TableEntry())) == 2  # the const entries
