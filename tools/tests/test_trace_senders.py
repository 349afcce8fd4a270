"""The frames that hosts send, read from the trace: the network of the settings, and frames as in scapy."""

from pathlib import Path

import pytest
from captures import right
from eeon_control import topology as topologies
from eeon_tools.trace.generate import generate
from eeon_tools.trace.senders import SenderSettings
from made_jobs import Transfers
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet
from scapy.utils import PcapReader

pytestmark = pytest.mark.system

FABRIC = topologies.load("leaf-spine-4")
MSS = 1460
TO_H1 = Transfers(tuple((other, 0, 400_000) for other in (1, 2, 3)))


def sent(folder: Path, transfers: Transfers, **settings: object) -> list[tuple[int, Packet]]:
    """Returns whole frames, with the times in nanoseconds at which they leave."""
    path = folder / "t.pcap"
    generate(path, FABRIC, transfers, SenderSettings(**settings), 1, whole_frames=True)
    return [(int(frame.time * 10**9), frame) for frame in PcapReader(str(path))]


def of_class(frames: list[tuple[int, Packet]], flags: str) -> list[Packet]:
    """Returns the segments without payload that have these flags."""
    return [frame for _, frame in frames if frame[TCP].flags == flags and not payload(frame)]


def payload(frame: Packet) -> int:
    ip = frame.getlayer(IP)
    length = frame[IPv6].plen if ip is None else ip.len - 20
    return int(length) - 4 * int(frame[TCP].dataofs)


@pytest.mark.parametrize(("asked_us", "full_frame_takes_ns"), [(30, 30_000), (1000, 1_000_000), (1, 12_304)])
def test_a_frame_is_in_front_of_the_receivers_link_after_the_one_way_delay(
    tmp_path, asked_us, full_frame_takes_ns
):
    frames = sent(tmp_path, Transfers(((0, 2, 1),)), one_way_delay_ns=asked_us * 1000)
    (syn_ns, syn), (answer_ns, _) = frames[:2]
    # A SYN is shorter than a full frame, so it takes less time on both links; all are 24 bytes longer there.
    expected = full_frame_takes_ns - 8 * (1514 + 24) + 2 * 8 * (len(syn) + 24)
    assert answer_ns - syn_ns == pytest.approx(expected, abs=2)


def test_a_sender_has_as_much_in_flight_as_the_window_allows(tmp_path):
    frames = sent(
        tmp_path, Transfers(((2, 0, 200 * MSS),)), window_bytes=20 * MSS, one_way_delay_ns=1_000_000
    )
    first = frames[0][1][TCP].seq + 1
    highest = acked = longest = 0
    for _, frame in frames[2:]:
        if payload(frame):
            highest = frame[TCP].seq - first + payload(frame)
        elif frame[IP].dst == FABRIC.hosts["h3"].ipv4.compressed:
            acked = frame[TCP].ack - first
        longest = max(longest, highest - acked)
    assert longest == 20 * MSS


def test_a_receiver_whose_link_is_congested_says_so_and_data_is_ect_as_its_host_sent_it(tmp_path):
    together = sent(tmp_path, TO_H1, ce_threshold_bytes=30_000)
    assert len(of_class(together, "AE")) > 10
    data = [frame for _, frame in together if payload(frame)]
    assert {frame[IP].tos for frame in data} == {2}
    assert sum("C" in frame[TCP].flags for frame in data) >= 3, "each sender says that it has slowed down"
    alone = sent(tmp_path, Transfers(TO_H1.transfers[:1]), ce_threshold_bytes=30_000, window_bytes=16 * MSS)
    assert of_class(alone, "AE") == []


def test_without_ecn_nothing_is_ect_and_nothing_says_ece(tmp_path):
    frames = sent(tmp_path, TO_H1, ecn=False, ce_threshold_bytes=1)
    assert {frame[IP].tos for _, frame in frames} == {0}
    assert not any({"E", "C"} & set(str(frame[TCP].flags)) for _, frame in frames)


@pytest.mark.parametrize("version", [4, 6])
def test_scapy_computes_the_same_checksums_and_lengths(tmp_path, version):
    frames = sent(tmp_path, Transfers(((0, 2, 14_401),)), ipv6=version == 6, dscps=(46,))
    full = MSS if version == 4 else MSS - 20
    assert [payload(frame) for _, frame in frames if payload(frame)][:9] == [full] * 9
    assert max(len(frame) for _, frame in frames) == 1514
    assert min(len(frame) for _, frame in frames) == (60 if version == 4 else 74)
    for _, frame in frames:
        assert right(bytes(frame)) == bytes(frame)
        assert (frame[IP].tos if version == 4 else frame[IPv6].tc) >> 2 == 46
