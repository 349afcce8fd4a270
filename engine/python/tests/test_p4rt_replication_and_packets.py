"""Multicast, clone sessions, packet-in and packet-out over P4Runtime (1.5 §9.5, §16)."""

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4r, rpc_code
from made_frames import frame
from p4rt_client import DELETE, INSERT, MODIFY, Client, Names, codes, exact, p4info, ports, primary

pytestmark = pytest.mark.system


def replicas(*pairs: tuple[int, int]) -> list[p4r.Replica]:
    return [p4r.Replica(port=bytes([port]), instance=instance) for port, instance in pairs]


def group(number: int, *pairs: tuple[int, int], **fields: object) -> p4r.MulticastGroupEntry:
    return p4r.MulticastGroupEntry(multicast_group_id=number, replicas=replicas(*pairs), **fields)


def session(number: int, *pairs: tuple[int, int], **fields: object) -> p4r.CloneSessionEntry:
    return p4r.CloneSessionEntry(session_id=number, replicas=replicas(*pairs), **fields)


def send(switch: Switch, key: int) -> list[int]:
    switch.inject(1, frame(key))
    return sorted(ports(switch.advance_to(switch.now_ps + 1_000_000)))


def pre(found: object, kind: str) -> list[object]:
    return [getattr(entry, kind) for entry in found]  # type: ignore[attr-defined]


def test_a_multicast_group_copies_to_its_replicas(client: Client, switch: Switch, names: Names) -> None:
    client.write((INSERT, group(5, (2, 0), (3, 0), (3, 1), metadata=b"m")))
    client.write((INSERT, names.entry("exact_table", exact(1, 9), action=names.action("flood", 5))))
    assert send(switch, 9) == [2, 3, 3]
    client.write((MODIFY, group(5, (4, 0))))
    assert send(switch, 9) == [4]
    client.write((DELETE, group(5)))
    assert send(switch, 9) == []


def test_a_clone_session_copies_to_its_replicas(client: Client, switch: Switch, names: Names) -> None:
    client.write((INSERT, names.entry("exact_table", exact(1, 9), action=names.action("mirror", 2, 7))))
    assert send(switch, 9) == [2]
    client.write((INSERT, session(7, (5, 0), (6, 0))))
    # A clone is parsed and passes egress again, without ingress.
    assert send(switch, 9) == [2, 5, 6]
    client.write((MODIFY, session(7, (6, 0))))
    assert send(switch, 9) == [2, 6]
    client.write((DELETE, session(7)))
    assert send(switch, 9) == [2]


def test_replication_is_read_by_id_or_all(client: Client) -> None:
    client.write((INSERT, group(1, (1, 0), metadata=b"m")), (INSERT, group(2)), (INSERT, session(1, (1, 0))))
    assert pre(client.read(p4r.MulticastGroupEntry()), "multicast_group_entry") == [
        group(1, (1, 0), metadata=b"m"),
        group(2),
    ]
    one = client.read(p4r.MulticastGroupEntry(multicast_group_id=2))
    assert pre(one, "multicast_group_entry") == [group(2)]
    assert pre(client.read(p4r.CloneSessionEntry()), "clone_session_entry") == [session(1, (1, 0))]
    assert client.read(p4r.CloneSessionEntry(session_id=9)) == []
    assert len(client.read(p4r.PacketReplicationEngineEntry())) == 3


def mirrored(names: Names, session_id: int = 1) -> p4r.TableEntry:
    return names.entry("exact_table", exact(1, 9), action=names.action("mirror", 4, session_id))


def test_a_session_cuts_its_copies(client: Client, switch: Switch, names: Names) -> None:
    written = session(1, (2, 0), (3, 0), packet_length_bytes=16)
    client.write((INSERT, written), (INSERT, mirrored(names)))
    assert pre(client.read(p4r.CloneSessionEntry()), "clone_session_entry") == [written]
    switch.inject(1, frame(9))
    sent = {port: len(frame) for _, port, frame in switch.advance_to(1000)}
    assert sent == {4: len(frame(9)), 2: 16, 3: 16}


def test_a_class_of_service_needs_its_queue(names: Names, program: Program) -> None:
    with serve(Switch(program, priorities=4), p4info=p4info()) as server, primary(server.address) as client:
        client.write((INSERT, session(1, (2, 0), class_of_service=3)))
        for number in (4, 8):
            failed = client.refused((MODIFY, session(1, (3, 0), class_of_service=number)))
            assert codes(failed) == [rpc_code.INVALID_ARGUMENT]
        (found,) = pre(client.read(p4r.CloneSessionEntry()), "clone_session_entry")
        assert found == session(1, (2, 0), class_of_service=3)


def test_a_refused_session_leaves_no_group_behind(client: Client, switch: Switch, names: Names) -> None:
    """The switch has one queue per port: it refuses class 1, whose message is valid."""
    failed = client.refused((INSERT, session(1, (2, 0), class_of_service=1)))
    assert codes(failed) == [rpc_code.INVALID_ARGUMENT]
    assert "ports have 1 queues" in failed.updates[0][1]
    assert client.read(p4r.CloneSessionEntry()) == []
    client.write((INSERT, session(1, (2, 0))), (INSERT, mirrored(names)))
    assert codes(client.refused((MODIFY, session(1, (3, 0), class_of_service=1)))) == [
        rpc_code.INVALID_ARGUMENT
    ]
    switch.inject(1, frame(9))
    assert sorted(ports(switch.advance_to(1000))) == [2, 4]


def test_ports_are_read_in_their_shortest_form(client: Client) -> None:
    written = p4r.MulticastGroupEntry(
        multicast_group_id=1, replicas=[p4r.Replica(port=bytes(7) + b"\x05")], metadata=b"m"
    )
    client.write((INSERT, written))
    (found,) = pre(client.read(p4r.MulticastGroupEntry()), "multicast_group_entry")
    assert (found.replicas[0].port, found.metadata) == (b"\x05", b"m")


def test_a_port_of_megabytes_is_refused_in_a_short_sentence(client: Client) -> None:
    huge = p4r.MulticastGroupEntry(multicast_group_id=1, replicas=[p4r.Replica(port=b"\xff" * (1 << 20))])
    failed = client.refused((INSERT, huge))
    assert codes(failed) == [rpc_code.INVALID_ARGUMENT]
    assert len(failed.updates[0][1]) < 200


# ---- packets


def test_a_packet_in_carries_its_metadata(client: Client, switch: Switch, names: Names) -> None:
    client.write((INSERT, names.entry("exact_table", exact(1, 9), action=names.action("to_cpu"))))
    switch.inject(300, frame(9))
    switch.advance_to(1000)
    packet = client.receive().packet
    assert packet.payload == frame(9)
    assert [(m.metadata_id, m.value) for m in packet.metadata] == [(1, b"\x01\x2c"), (2, b"\x00")]


def packet_out(port: int, payload: bytes, *extra: tuple[int, bytes]) -> p4r.PacketOut:
    metadata = [(1, port.to_bytes(2, "big")), *extra]
    return p4r.PacketOut(
        payload=payload, metadata=[p4r.PacketMetadata(metadata_id=i, value=v) for i, v in metadata]
    )


def wait_for_arrival(switch: Switch) -> None:
    """Waits until the packet has reached the switch, because the stream has no acknowledgements."""
    import time

    deadline = time.monotonic() + 10
    while switch.next_event_ps is None:
        assert time.monotonic() < deadline, "the packet did not arrive"
        time.sleep(0.01)


@pytest.mark.parametrize("padding", [(), ((2, b"\x00"),)])
def test_a_packet_out_leaves_by_its_port(
    client: Client, switch: Switch, padding: tuple[tuple[int, bytes], ...]
) -> None:
    client.send(packet=packet_out(300, frame(1), *padding))
    wait_for_arrival(switch)
    assert [(port, sent) for _, port, sent in switch.advance_to(1000)] == [(300, frame(1))]


@pytest.mark.parametrize(
    ("packet", "code", "reason"),
    [
        (p4r.PacketOut(payload=b"x"), rpc_code.INVALID_ARGUMENT, "'egress_port' .* missing|is missing"),
        (packet_out(1, b"x", (7, b"\x00")), rpc_code.INVALID_ARGUMENT, "no metadata field with id 7"),
        (packet_out(1, b"x", (1, b"\x00")), rpc_code.INVALID_ARGUMENT, "given twice"),
        (packet_out(512, b"x"), rpc_code.INVALID_ARGUMENT, "egress_port"),
        (packet_out(1, bytes(65_535)), rpc_code.INVALID_ARGUMENT, "longest frame"),
    ],
)
def test_a_packet_out_that_does_not_fit_is_reported_on_the_stream(
    client: Client, switch: Switch, packet: p4r.PacketOut, code: int, reason: str
) -> None:
    client.send(packet=packet)
    error = client.receive().error
    assert error.canonical_code == code
    assert error.packet_out.packet_out == packet
    assert switch.next_event_ps is None
    # The stream continues.
    assert client.arbitrate().status.code == rpc_code.OK


def test_a_packet_out_of_a_backup_is_denied(client: Client, switch: Switch, server: object) -> None:
    backup = Client(server.address, election_id=0)  # type: ignore[attr-defined]
    backup.arbitrate(election_id=0)
    backup.send(packet=packet_out(1, b"x"))
    assert backup.receive().error.canonical_code == rpc_code.PERMISSION_DENIED
    backup.close()
    assert switch.next_event_ps is None


def test_other_stream_messages_are_answered_by_name(client: Client) -> None:
    client.send(digest_ack=p4r.DigestListAck(digest_id=1))
    error = client.receive().error
    assert error.canonical_code == rpc_code.INVALID_ARGUMENT
    assert error.digest_list_ack.digest_list_ack.digest_id == 1
    assert "no digest with id 1" in error.message
    message = p4r.StreamMessageRequest()
    message.other.Pack(p4r.Uint128())
    client.send(other=message.other)
    error = client.receive().error
    assert error.canonical_code == rpc_code.UNIMPLEMENTED
    assert error.other.other == message.other
    client.send()
    assert client.receive().error.canonical_code == rpc_code.INVALID_ARGUMENT
