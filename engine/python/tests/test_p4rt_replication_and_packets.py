"""Clone sessions, packet-in and packet-out over P4Runtime (1.5 §9.5, §16)."""

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4r, rpc_code
from made_frames import frame
from p4rt_client import INSERT, MODIFY, Client, Names, codes, exact, p4info, primary

pytestmark = pytest.mark.system


def session(*ports: int, **fields: object) -> p4r.CloneSessionEntry:
    replicas = [p4r.Replica(port=bytes([port])) for port in ports]
    return p4r.CloneSessionEntry(session_id=1, replicas=replicas, **fields)


def only_session(client: Client) -> object:
    (found,) = client.read(p4r.CloneSessionEntry())
    return found.clone_session_entry


def test_a_session_cuts_its_copies(client: Client, switch: Switch, names: Names) -> None:
    written = session(2, 3, packet_length_bytes=16)
    mirrored = names.entry("exact_table", exact(1, 9), action=names.action("mirror", 4, 1))
    client.write((INSERT, written), (INSERT, mirrored))
    assert only_session(client) == written
    switch.inject(1, frame(9))
    sent = {port: len(frame) for _, port, frame in switch.advance_to(1000)}
    assert sent == {4: len(frame(9)), 2: 16, 3: 16}


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


def test_a_port_of_megabytes_is_refused_in_a_short_sentence(client: Client) -> None:
    huge = p4r.MulticastGroupEntry(multicast_group_id=1, replicas=[p4r.Replica(port=b"\xff" * (1 << 20))])
    failed = client.refused((INSERT, huge))
    assert codes(failed) == [rpc_code.INVALID_ARGUMENT]
    assert len(failed.updates[0][1]) < 200


# ---- packets


def packet_out(port: int, payload: bytes, *extra: tuple[int, bytes]) -> p4r.PacketOut:
    metadata = [(1, port.to_bytes(2, "big")), *extra]
    return p4r.PacketOut(
        payload=payload, metadata=[p4r.PacketMetadata(metadata_id=i, value=v) for i, v in metadata]
    )


def test_a_packet_out_that_is_too_long_is_refused(client: Client, switch: Switch) -> None:
    client.send(packet=packet_out(1, bytes(65_535)))
    error = client.receive().error
    assert (error.canonical_code, "limit is 65535" in error.message) == (rpc_code.INVALID_ARGUMENT, True)
    assert switch.next_event_ps is None
