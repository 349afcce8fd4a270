"""Captures: each case of `expected/captures/*.yaml`, and bounds for captures of any length."""

import pytest
from captures import CASES, ETHER, HOSTS, cases, check
from eeon_tools.replay.feed import BATCH_PACKETS, Feed
from eeon_tools.trace.layers import IpFrame
from made_captures import capture
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q

ALL = [one for file in sorted(CASES.glob("*.yaml")) for one in cases(file)]


@pytest.mark.parametrize(("case", "text", "names"), ALL)
def test_a_capture_has_its_answers(case, text, names, tmp_path):
    check(case, text, names, tmp_path)


def test_batches_are_bounded(tmp_path):
    frame = bytes(ETHER / IP(src="10.0.1.1", dst="10.0.2.1") / TCP())
    path = capture(tmp_path / "t.pcap", ((n, 54, frame) for n in range(BATCH_PACKETS + 10)))
    assert [len(batch) for batch in Feed(path, HOSTS, 1.0).batches()] == [BATCH_PACKETS, 10]


def test_no_prefix_of_a_frame_makes_it_raise():
    four = IP(src="10.0.1.1", dst="10.0.2.2") / TCP(flags="A") / b"x"
    six = Dot1Q() / IPv6(src="fd00::1", dst="fd00::2") / TCP()
    for whole in map(bytes, (ETHER / four, ETHER / six)):
        for length in range(len(whole)):
            frame = IpFrame.of(whole[:length], len(whole))
            if frame is not None:
                _ = frame.packet_class, frame.headers_end, frame.is_jumbogram
