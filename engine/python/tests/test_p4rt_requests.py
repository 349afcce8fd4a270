"""Requests over P4Runtime that a script cannot write: other fields, many items, other switches."""

import socket

import grpc
import pytest
from eeon_engine import Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4r, rpc_code
from p4rt_client import DELETE, INSERT, MODIFY, Names, codes, exact, failure, p4info, primary

from ptf_tests.lib.p4rt_session import Session

pytestmark = pytest.mark.system


def entry(names: Names, key: int, port: int = 1) -> p4r.TableEntry:
    return names.entry("exact_table", exact(1, key), action=names.action("forward", port))


def test_an_unknown_atomicity_is_invalid(client):
    failure(rpc_code.INVALID_ARGUMENT, "atomicity 9", client.write, atomicity=9)


def test_the_device_is_checked_before_the_client(client):
    client.device_id, client.election_id = 2, 99
    failure(rpc_code.NOT_FOUND, "", client.write)
    failure(rpc_code.NOT_FOUND, "", client.read, p4r.TableEntry())


def test_a_read_answers_what_is_valid_and_reports_each_request(client, names):
    client.write((INSERT, entry(names, 1)), (INSERT, entry(names, 2)))
    table = p4r.TableEntry(table_id=names["exact_table"])
    found, failed = client.read_some(table, p4r.TableEntry(table_id=99), p4r.Entity(), entry(names, 2))
    assert found == [entry(names, 1), entry(names, 2), entry(names, 2)]
    assert failed is not None
    assert failed.code == rpc_code.UNKNOWN
    assert codes(failed) == [rpc_code.OK, rpc_code.INVALID_ARGUMENT, rpc_code.INVALID_ARGUMENT, rpc_code.OK]
    assert "2 of 4 requests failed" in failed.message


def test_large_batches_report_every_error(client, names):
    failed = client.refused(*((DELETE, entry(names, key)) for key in range(500)))
    assert codes(failed) == [rpc_code.NOT_FOUND] * 500


def session(*ports: int, **fields: object) -> p4r.CloneSessionEntry:
    replicas = [p4r.Replica(port=bytes([port])) for port in ports]
    return p4r.CloneSessionEntry(session_id=1, replicas=replicas, **fields)


def test_a_class_of_service_needs_its_queue(names, program):
    with serve(Switch(program, priorities=4), p4info=p4info()) as server, primary(server.address) as client:
        client.write((INSERT, session(2, class_of_service=3)))
        for number in (4, 8):
            failed = client.refused((MODIFY, session(3, class_of_service=number)))
            assert codes(failed) == [rpc_code.INVALID_ARGUMENT]
        (found,) = client.read(p4r.CloneSessionEntry())
        assert found.clone_session_entry == session(2, class_of_service=3)


def test_more_replicas_than_bmv2_has_room_for_are_refused(client):
    replicas = [p4r.Replica(port=b"\1", instance=number) for number in range(4097)]
    failed = client.refused((INSERT, p4r.MulticastGroupEntry(multicast_group_id=1, replicas=replicas)))
    assert failed.updates == [
        (rpc_code.RESOURCE_EXHAUSTED, "multicast group 1: 4097 replicas, the limit is 4096")
    ]


def test_a_role_has_an_arbitration_of_its_own_by_name_and_by_number(resource_server, clients):
    by_name, by_number = clients(resource_server.address), clients(resource_server.address)
    assert by_name.arbitrate(role=p4r.Role(name="routing")).status.code == rpc_code.OK
    answer = by_number.arbitrate(role=p4r.Role(id=7))
    assert answer.status.code == rpc_code.OK
    assert (answer.role.name, answer.role.id) == ("", 7)
    by_number.write(role_id=7)
    failure(rpc_code.NOT_FOUND, "no role 8", by_number.write, role_id=8)


def test_a_write_without_an_election_id_is_not_one_with_0(connect):
    client = connect()
    client.arbitrate(election_id=0)
    client.write()
    with pytest.raises(grpc.RpcError) as caught:
        client.stub.Write(p4r.WriteRequest(device_id=1))
    assert caught.value.code() is grpc.StatusCode.PERMISSION_DENIED


def test_a_client_gives_up_on_a_server_that_does_not_answer_arbitration():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        session = Session(f"127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.2)
        with pytest.raises(TimeoutError, match=r"127\.0\.0\.1:\d+: no answer to arbitration within 0\.2 s"):
            session.arbitrate()
        session.close()
