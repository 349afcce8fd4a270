"""The new AQM: in a burst to a port of 1 Gbit/s, it marks packets that have waited longer than 50 us."""

from pathlib import Path

import pytest
from eeon_engine import Port, Program, Switch

JSON = Path(__file__).with_name("delay.json")
FRAME_BYTES, TARGET_NS = 1250, 50_000
FRAME_NS = FRAME_BYTES * 8  # at 1 Gbit/s: the Nth frame waits N times as long
NOT_ECT, ECT1, ECT0, CE = 0, 1, 2, 3


def frame(ecn: int) -> bytes:
    header = bytearray.fromhex("4500 04d4 0000 0000 4011 0000 0a000001 0a000002")
    header[1] = ecn
    header[10:12] = checksum(header).to_bytes(2, "big")
    return (bytes.fromhex("020000000002 020000000001 0800") + header).ljust(FRAME_BYTES, b"\0")


def checksum(header: bytes) -> int:
    """Returns the checksum of RFC 1071."""
    total = sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, 20, 2))
    return 0xFFFF - (total % 0xFFFF or 0xFFFF)


@pytest.fixture
def switch() -> Switch:
    made = Switch(Program(JSON.read_bytes()), ports=[Port(0), Port(1, rate_bps=1_000_000_000)])
    target = TARGET_NS.to_bytes(4, "big")
    made.mt_add_entry(
        "DelayEgress.delay", [("exact", (1).to_bytes(2, "big"))], "DelayEgress.mark_above", [target]
    )
    return made


def burst(switch: Switch, ecn: int) -> list[int]:
    """Returns the ECN of twelve frames that arrived at the same time, in order of departure."""
    for _ in range(12):
        switch.inject(0, frame(ecn))
    left = switch.advance_to(switch.now_ps + 1_000_000_000)
    assert [checksum(out[14:34]) for _, _, out in left] == [0] * 12
    return [out[15] & 3 for _, _, out in left]


def test_who_waited_longer_than_the_target_is_marked(switch: Switch) -> None:
    waited = [position * FRAME_NS > TARGET_NS for position in range(12)]
    assert burst(switch, ECT0) == [CE if long else ECT0 for long in waited]
    assert waited.count(True) == 6


@pytest.mark.parametrize(("ecn", "after"), [(NOT_ECT, NOT_ECT), (CE, CE), (ECT1, CE)])
def test_what_cannot_be_marked_is_left_as_it_is(switch: Switch, ecn: int, after: int) -> None:
    assert burst(switch, ecn)[-1] == after
