"""A client that does not read its stream: dropped and counted messages, and the end of the stream."""

import logging

import pytest
from eeon_engine.p4runtime.clients import outbox
from eeon_engine.p4runtime.clients.outbox import End, Outbox
from finsy.proto import p4r, rpc_code

PACKET = p4r.StreamMessageResponse(packet=p4r.PacketIn(payload=b"x"))
ARBITRATION = p4r.StreamMessageResponse(arbitration=p4r.MasterArbitrationUpdate(device_id=1))


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Outbox:
    monkeypatch.setattr(outbox, "LIMIT", 3)
    made = Outbox("ipv4:127.0.0.1:1")
    for _ in range(3):
        made.put(PACKET)
    assert made.dropped == 0
    return made


def test_packets_beyond_the_limit_are_dropped_and_counted(full):
    assert full.take() == PACKET
    for _ in range(6):
        full.put(PACKET)
    assert full.dropped == 5
    full.end(None)
    assert [full.take() for _ in range(4)] == [PACKET, PACKET, PACKET, End(None)]


def test_drops_are_logged_at_powers_of_two(full, caplog):
    with caplog.at_level(logging.WARNING):
        for _ in range(9):
            full.put(PACKET)
    counts = [record.args[2] for record in caplog.records if isinstance(record.args, tuple)]
    assert counts == [1, 2, 4, 8]
    assert "client ipv4:127.0.0.1:1 does not read its stream" in caplog.text


def test_an_arbitration_update_without_room_ends_the_stream(full):
    full.put(ARBITRATION)
    last = [full.take() for _ in range(4)][-1]
    assert isinstance(last, End)
    assert last.error is not None
    assert last.error.code == rpc_code.RESOURCE_EXHAUSTED
