"""Frames of segmentation offload: the fabric gets the segments that a NIC would send."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from eeon_control.topology import Host
from eeon_tools.cli.trace import trace
from eeon_tools.replay.feed import AS_A_NIC, Feed, Offer, SendRules
from made_captures import capture
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop, Jumbo
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet

pytestmark = pytest.mark.system

PAYLOAD = bytes(range(256)) * 40  # 10,240 bytes
ENDS4 = {"src": "10.0.1.1", "dst": "10.0.2.1"}
ENDS6 = {"src": "fd00:0:0:1::1", "dst": "fd00:0:0:2::1"}


def feed(
    folder: Path, hosts: list[Host], frames: list[tuple[bytes, int]], rules: SendRules = AS_A_NIC
) -> tuple[Feed, list[Offer]]:
    packets = ((number * 1000, length, captured) for number, (captured, length) in enumerate(frames))
    path = capture(folder / "trace.pcap", packets)
    found = Feed(path, hosts, 1.0, rules)
    return found, list(found.offers())


def whole(packet: Packet) -> tuple[bytes, int]:
    return bytes(packet), len(packet)


def right(frame: bytes) -> bytes:
    """Returns a frame with the checksums that scapy computes."""
    packet = Ether(frame)
    for layer in (IP, TCP):
        if layer in packet:
            del packet[layer].chksum
    return bytes(packet)


@pytest.mark.parametrize(
    "network",
    [
        IP(id=65_535, **ENDS4),
        IPv6(**ENDS6),
        Dot1Q(vlan=7) / IP(**ENDS4),
        IPv6(**ENDS6) / IPv6ExtHdrHopByHop(),
    ],
)
def test_a_super_frame_is_sent_as_the_segments_of_an_mtu_of_1500_bytes(
    tmp_path: Path, hosts: list[Host], network: Packet
) -> None:
    tcp = TCP(flags="FPAC", seq=2**32 - 3000, options=[("Timestamp", (1, 2)), ("NOP", None), ("NOP", None)])
    found, offers = feed(tmp_path, hosts, [whole(Ether() / network / tcp / PAYLOAD)])
    assert max(len(Ether(offer.captured).payload) for offer in offers) <= 1504
    assert b"".join(bytes(Ether(offer.captured)[TCP].payload) for offer in offers) == PAYLOAD
    assert [offer.captured for offer in offers] == [right(offer.captured) for offer in offers]
    assert [offer.frame_bytes for offer in offers] == [len(offer.captured) for offer in offers]
    flags = [str(Ether(offer.captured)[TCP].flags) for offer in offers]
    assert flags == ["AC", *["A"] * (len(offers) - 2), "FPA"]
    sequence = 2**32 - 3000
    for offer in offers:
        segment = Ether(offer.captured)[TCP]
        assert segment.seq == sequence
        sequence = (sequence + len(segment.payload)) % 2**32
    assert {(offer.number, offer.at_ps) for offer in offers} == {(1, 0)}
    assert (found.counts.super_frames, found.counts.segments) == (1, len(offers))
    assert found.counts.remarks()[0].startswith("frames of segmentation offload, cut into")


@pytest.mark.parametrize(
    ("own", "receivers", "segments"),
    [
        (None, 8960, [8960, 8960, 10]),
        (8960, None, [8960, 8960, 10]),
        (9960, 8960, [8960, 8960, 10]),
        (1460, 8960, [*[1460] * 6, 200, *[1460] * 6, 210]),
    ],
)
def test_the_smaller_mss_of_the_syns_is_the_size_of_segments(
    tmp_path: Path, hosts: list[Host], own: int | None, receivers: int | None, segments: list[int]
) -> None:
    there, back = IP(**ENDS4), IP(src=ENDS4["dst"], dst=ENDS4["src"])
    frames = [
        whole(Ether() / network / TCP(sport=source, dport=destination, flags=flags, options=[("MSS", mss)]))
        for network, source, destination, flags, mss in (
            (there, 1000, 80, "S", own),
            (back, 80, 1000, "SA", receivers),
        )
        if mss is not None
    ]
    syns = len(frames)
    frames += [
        whole(Ether() / there / TCP(sport=1000, dport=80, flags="A") / bytes(size)) for size in (8960, 8970)
    ]
    _, offers = feed(tmp_path, hosts, frames)
    assert [offer.frame_bytes - 54 for offer in offers[syns:]] == segments


def test_ip_may_promise_more_than_the_frame_has_and_only_that_is_sent(
    tmp_path: Path, hosts: list[Host]
) -> None:
    frame = Ether() / IP(len=65_535, **ENDS4) / TCP(flags="A") / PAYLOAD
    _, offers = feed(tmp_path, hosts, [whole(frame)])
    assert sum(offer.frame_bytes - 54 for offer in offers) == len(PAYLOAD)


def test_a_syn_says_nothing_about_another_address_that_is_the_same_host(
    tmp_path: Path, hosts: list[Host]
) -> None:
    syns = [
        whole(
            Ether()
            / IP(src="10.0.2.1", dst=f"10.20.0.{one}")
            / TCP(sport=80, dport=20, flags="SA", options=[("MSS", mss)])
        )
        for one, mss in ((1, 1000), (2, 500))
    ]
    big = whole(Ether() / IP(src="10.20.0.1", dst="10.0.2.1") / TCP(flags="A") / PAYLOAD)
    found, _ = feed(tmp_path, hosts, [*syns, big], SendRules(mapping=("10.20.0.0/16=h1",)))
    assert found.counts.segments == 11


@pytest.mark.parametrize(("kept", "stored"), [(96, [96, 66]), (56, [66, 66])])
def test_what_a_snapped_super_frame_lacks_is_cut_as_zeros(
    tmp_path: Path, hosts: list[Host], kept: int, stored: list[int]
) -> None:
    tcp = TCP(flags="A", options=[("Timestamp", (0, 0)), ("EOL", None), ("EOL", None)])
    packet = bytes(Ether() / IP(**ENDS4) / tcp / bytes(45 * 1448))
    _, offers = feed(tmp_path, hosts, [(packet[:kept], len(packet))])
    assert len(offers) == 45
    assert [len(offer.captured) for offer in offers[:2]] == stored
    for offer in offers:
        padded = offer.captured + bytes(offer.frame_bytes - len(offer.captured))
        assert padded == right(padded)


def test_frames_longer_than_an_ip_packet_are_cut_or_else_left_out_and_counted(
    tmp_path: Path, hosts: list[Host]
) -> None:
    header = bytes(Ether() / IP(len=0, **ENDS4) / TCP(flags="A"))
    small = whole(Ether() / IP(**ENDS4) / UDP())
    big = (header, 190_000)
    found, offers = feed(tmp_path, hosts, [big, small])
    assert sum(offer.frame_bytes - 54 for offer in offers[:-1]) == 190_000 - 54
    found, offers = feed(tmp_path, hosts, [big, small], SendRules(keep_super_frames=True))
    assert (found.counts.too_long, found.counts.super_frames, len(offers)) == (1, 1, 1)
    datagram = (bytes(Ether() / IP(id=2, **ENDS4) / UDP()), 65_549)
    found, offers = feed(tmp_path, hosts, [datagram, small])
    assert (found.counts.too_long, len(offers)) == (1, 1)
    assert found.counts.remarks() == ["packets left out because they are longer than 65,535 bytes: 1"]


def test_super_frames_that_are_kept_and_long_datagrams_are_said(tmp_path: Path, hosts: list[Host]) -> None:
    packets = [whole(Ether() / IP(**ENDS4) / layer / PAYLOAD) for layer in (TCP(flags="A"), UDP())]
    found, offers = feed(tmp_path, hosts, packets, SendRules(keep_super_frames=True))
    assert [offer.frame_bytes for offer in offers] == [10_294, 10_282]
    super_frames, long_frames = found.counts.remarks()
    assert super_frames.startswith("frames of segmentation offload, sent whole")
    assert long_frames == "other frames longer than 1,518 bytes, sent as they are: 1"


@pytest.mark.parametrize(
    ("network", "rest"),
    [
        (IP(flags="MF", **ENDS4), PAYLOAD),
        (IP(frag=5, **ENDS4), PAYLOAD),
        (IP(len=1500, **ENDS4), bytes(1460 + 4)),  # an undeclared frame check sequence
        (IPv6(plen=1460, **ENDS6), bytes(1440 + 16)),  # a trailer
    ],
)
def test_fragments_and_full_frames_with_something_behind_them_are_not_cut(
    tmp_path: Path, hosts: list[Host], network: Packet, rest: bytes
) -> None:
    found, offers = feed(tmp_path, hosts, [whole(Ether() / network / TCP(flags="A") / rest)])
    assert (found.counts.super_frames, len(offers)) == (0, 1)


def test_segments_of_a_jumbogram_are_no_jumbograms(tmp_path: Path, hosts: list[Host]) -> None:
    headers = IPv6(plen=0, **ENDS6) / IPv6ExtHdrHopByHop(options=[Jumbo(jumboplen=100_028)])
    frame = bytes(Ether() / headers / TCP(flags="A") / bytes(100_000))
    _, offers = feed(tmp_path, hosts, [(frame, len(frame))])
    assert [offer.frame_bytes for offer in offers] == [14 + 40 + 20 + 1440] * 69 + [14 + 40 + 20 + 640]
    assert all(TCP in (sent := Ether(offer.captured)) and sent[IPv6].nh == 6 for offer in offers)
    assert all(right(offer.captured) == offer.captured for offer in offers)


def test_trace_info_knows_the_payload_of_a_frame_whose_ip_header_says_no_length(tmp_path: Path) -> None:
    jumbogram = IPv6(plen=0, **ENDS6) / IPv6ExtHdrHopByHop(options=[Jumbo(jumboplen=100_028)])
    networks = (IP(len=0, **ENDS4), IPv6(plen=0, **ENDS6), jumbogram)
    frames = [bytes(Ether() / network / TCP(flags="A") / bytes(100_000)) for network in networks]
    path = capture(tmp_path / "big.pcap", ((0, len(frame), frame) for frame in frames))
    found = json.loads(CliRunner().invoke(trace, ["info", str(path), "--json"]).stdout)
    assert found["payload_bytes"] == 300_000
    assert found["classes"]["data"]["packets"] == 3


def test_trace_info_counts_them_too(tmp_path: Path, hosts: list[Host]) -> None:
    feed(tmp_path, hosts, [whole(Ether() / IP(**ENDS4) / TCP(flags="A") / PAYLOAD)])
    told = CliRunner().invoke(trace, ["info", str(tmp_path / "trace.pcap")])
    assert "frames longer than TCP segments: 1; segmentation offload" in told.stdout
    assert "cuts them into 8" in told.stdout
    told = CliRunner().invoke(trace, ["info", str(tmp_path / "trace.pcap"), "--json"])
    assert '"super_frames": 1' in told.stdout and '"super_frame_segments": 8' in told.stdout
