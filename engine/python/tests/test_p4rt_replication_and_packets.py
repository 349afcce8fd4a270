"""Clone sessions, packet-in and packet-out over P4Runtime (1.5 §9.5, §16)."""

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4r, rpc_code
from p4rt_client import INSERT, MODIFY, Client, Names, codes, p4info, primary

pytestmark = pytest.mark.system


def session(*ports: int, **fields: object) -> p4r.CloneSessionEntry:
    replicas = [p4r.Replica(port=bytes([port])) for port in ports]
    return p4r.CloneSessionEntry(session_id=1, replicas=replicas, **fields)


def only_session(client: Client) -> object:
    (found,) = client.read(p4r.CloneSessionEntry())
    return found.clone_session_entry


def test_a_class_of_service_needs_its_queue(names: Names, program: Program) -> None:
    with serve(Switch(program, priorities=4), p4info=p4info()) as server, primary(server.address) as client:
        client.write((INSERT, session(2, class_of_service=3)))
        for number in (4, 8):
            failed = client.refused((MODIFY, session(3, class_of_service=number)))
            assert codes(failed) == [rpc_code.INVALID_ARGUMENT]
        assert only_session(client) == session(2, class_of_service=3)


def test_more_replicas_than_bmv2_has_room_for_are_refused(client: Client) -> None:
    replicas = [p4r.Replica(port=b"\1", instance=number) for number in range(4097)]
    failed = client.refused((INSERT, p4r.MulticastGroupEntry(multicast_group_id=1, replicas=replicas)))
    assert failed.updates == [
        (rpc_code.RESOURCE_EXHAUSTED, "multicast group 1: 4097 replicas, the limit is 4096")
    ]


# ---- packets
