"""The feed: hosts and times of frames; foreign addresses; order."""

from dataclasses import asdict
from pathlib import Path

import pytest
from eeon_control.topology import Host
from eeon_tools.errors import TraceError
from eeon_tools.replay.feed import BATCH_PACKETS, Feed, FeedCounts, Offer, SendRules
from eeon_tools.trace.frames import mac_bytes
from made_captures import capture
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    ICMPv6ND_NS,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    RouterAlert,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

pytestmark = pytest.mark.system


def write(path: Path, packets: list[tuple[int, Packet]], keep: int | None = None) -> Path:
    return capture(path, ((time_ns, len(packet), bytes(packet)[:keep]) for time_ns, packet in packets))


def offers(path: Path, hosts: list[Host], speed: float = 1.0, maps: tuple[str, ...] = ()) -> list[Offer]:
    feed = Feed(path, hosts, speed, SendRules(maps))
    return [offer for batch in feed.batches() for offer in batch]


def segment(source: str, destination: str, payload: bytes = b"") -> Packet:
    return Ether() / IP(src=source, dst=destination) / TCP(flags="A") / payload


GOOD_4 = segment("10.0.1.1", "10.0.2.1")
GOOD_6 = Ether() / IPv6(src="fd00:0:0:1::1", dst="fd00:0:0:2::1") / TCP()
OPTION = IP(src="10.0.1.1", dst="10.0.2.1", options=[IPOption(b"\x94\x04\0\0")])
TOO_LATE = r"packet 2: is .* s after the first one.*1,000,000 s"


@pytest.mark.parametrize(
    ("packet", "keeps", "message"),
    [
        (GOOD_4, [13, 14, 20, 33], "of its 54 bytes were captured"),
        (GOOD_4 / bytes(100), [34, 40, 47], "of its 154 bytes .*, and its TCP flags end at byte 48"),
        (Ether() / OPTION / UDP() / bytes(100), [36], "of its 146 .* its headers end at byte 38 or later"),
        (GOOD_6, [14, 15, 20, 21, 53], "of its 74 bytes were captured, too few"),
    ],
)
def test_a_frame_cut_before_what_is_asked_for_is_refused(
    tmp_path: Path, hosts: list[Host], packet: Packet, keeps: list[int], message: str
) -> None:
    for keep in keeps:
        with pytest.raises(TraceError, match=f"packet 1: only {keep} {message}"):
            offers(write(tmp_path / "t.pcap", [(0, packet)], keep), hosts)


@pytest.mark.parametrize(
    ("packets", "speed", "message"),
    [
        ([(0, Ether(type=0x0800))], 1, "packet 1: its 14 bytes end before its IP addresses"),
        ([(0, GOOD_4), (4_294_967_295 * 10**9, GOOD_4)], 1, TOO_LATE),
        ([(0, GOOD_4), (1_000_001 * 10**9, GOOD_4)], 1, TOO_LATE),
        ([(0, GOOD_4), (2 * 10**9, GOOD_4)], 1e-6, TOO_LATE),
        ([(5, GOOD_4), (4, GOOD_4)], 1, "packet 2: is 1 ns earlier"),
        ([(0, Ether() / ARP())], 1, "no IPv4 or IPv6 packet to replay"),
        (
            [(0, GOOD_4), (1, segment("192.0.2.9", "10.0.1.1"))],
            1,
            r"packet 2: source 192\.0\.2\.9 is not a host .* --map 192\.0\.2\.9=h1",
        ),
    ],
)
def test_a_packet_that_cannot_be_sent_is_refused_by_number(
    tmp_path: Path, hosts: list[Host], packets: list[tuple[int, Packet]], speed: float, message: str
) -> None:
    with pytest.raises(TraceError, match=message):
        offers(write(tmp_path / "t.pcap", packets), hosts, speed)


def test_the_host_with_the_source_address_sends_and_time_starts_at_the_first_packet(
    tmp_path: Path, hosts: list[Host]
) -> None:
    packets = [
        (10**18, segment("10.0.2.1", "10.0.1.1")),
        (10**18 + 7, segment("10.0.1.2", "10.0.1.1", b"x" * 99)),
    ]
    found = offers(write(tmp_path / "t.pcapng", packets, keep=54), hosts)
    assert [(o.host, o.at_ps, o.frame_bytes, len(o.captured)) for o in found] == [
        (2, 0, 60, 54),
        (1, 7000, 153, 54),
    ]


def test_ipv6_and_vlan_tags_are_seen_through(tmp_path: Path, hosts: list[Host]) -> None:
    six = Ether() / Dot1Q(vlan=3) / IPv6(src="fd00:0:0:2::2", dst="fd00:0:0:1::1") / UDP()
    assert [o.host for o in offers(write(tmp_path / "t.pcap", [(0, six)]), hosts)] == [3]


def test_a_higher_speed_divides_the_times(tmp_path: Path, hosts: list[Host]) -> None:
    path = write(tmp_path / "t.pcap", [(n * 1000, GOOD_4) for n in range(3)])
    assert [o.at_ps for o in offers(path, hosts, speed=4.0)] == [0, 250_000, 500_000]


def test_frames_that_are_not_ip_are_left_out_and_counted(tmp_path: Path, hosts: list[Host]) -> None:
    others = [Ether() / ARP(), *(Ether(type=each) / GOOD_4[IP] for each in (0x8847, 0x8847, 0x9100, 7))]
    path = write(tmp_path / "t.pcap", [(number, each) for number, each in enumerate([*others, GOOD_4])])
    feed = Feed(path, hosts, 1.0)
    assert sum(len(batch) for batch in feed.batches()) == 1
    assert feed.counts.remarks() == [
        "packets left out because they are not IP (MPLS 2, ARP 1, EtherType 0x9100 1, IEEE 802.2 1): 5"
    ]
    assert asdict(feed.counts)["not_ip"] == {"ARP": 1, "MPLS": 2, "EtherType 0x9100": 1, "IEEE 802.2": 1}


def test_batches_are_bounded(tmp_path: Path, hosts: list[Host]) -> None:
    one = Raw(bytes(GOOD_4))
    path = write(tmp_path / "t.pcap", [(n, one) for n in range(BATCH_PACKETS + 10)])
    assert [len(batch) for batch in Feed(path, hosts, 1.0).batches()] == [BATCH_PACKETS, 10]


@pytest.mark.parametrize(
    "packet",
    [
        Ether() / IP(src="192.0.2.1", dst="198.51.100.7") / TCP(flags="PA", seq=77) / b"hello!",
        Ether()
        / IP(src="192.0.2.1", dst="198.51.100.7", options=b"\x01" * 4)
        / UDP(sport=9, dport=8)
        / b"odd",
        Ether() / IP(src="192.0.2.1", dst="198.51.100.7") / UDP(chksum=0) / b"none",
        Ether() / IPv6(src="2001:db8::1", dst="2001:db8::2") / TCP() / b"six",
        Ether() / IPv6(src="2001:db8::1", dst="2001:db8::2") / UDP() / b"",
    ],
    ids=lambda packet: packet.summary(),
)
def test_mapped_addresses_are_rewritten_and_checksums_stay_right(
    tmp_path: Path, hosts: list[Host], packet: Packet
) -> None:
    path = write(tmp_path / "t.pcap", [(0, packet)])
    layer = packet.getlayer(1)
    (offer,) = offers(path, hosts, maps=(f"{layer.src}=h2", f"{layer.dst}=h3"))
    assert offer.host == 1
    rewritten = Ether(offer.captured)
    expected = packet.copy()
    six = IPv6 in packet
    source, target = hosts[1], hosts[2]
    expected.src, expected.dst = source.mac, source.gateway_mac
    expected.getlayer(1).src = str(source.ipv6 if six else source.ipv4)
    expected.getlayer(1).dst = str(target.ipv6 if six else target.ipv4)
    # scapy computes the checksums of `expected`; ours were updated incrementally.
    assert bytes(rewritten) == bytes(expected)


def test_the_longest_prefix_has_an_address_after_single_ones_and_hosts_own(
    tmp_path: Path, hosts: list[Host]
) -> None:
    sources = ["192.0.2.9", "192.0.2.200", "192.0.2.201", "10.0.1.1"]
    ends = [(sources[0], "10.0.1.1"), *((source, "192.0.2.9") for source in sources[1:])]
    packets = [(index, segment(*end)) for index, end in enumerate(ends)]
    maps = ("0.0.0.0/0=h4", "192.0.2.0/24=h2", "192.0.2.128/25=h3", "192.0.2.201=h4")
    found = offers(write(tmp_path / "t.pcap", packets), hosts, maps=maps)
    assert [offer.host for offer in found] == [1, 2, 3, 0]
    receivers = [str(hosts[index].ipv4) for index in (0, 1, 1, 1)]
    assert [Ether(offer.captured)[IP].dst for offer in found] == receivers
    six = Ether() / IPv6(src="2001:db8:1::5", dst="2001:db8:2::5") / TCP()
    (offer,) = offers(
        write(tmp_path / "six.pcap", [(0, six)]), hosts, maps=("2001:db8:1::/48=h2", "2001:db8::/32=h3")
    )
    assert offer.host == 1 and Ether(offer.captured)[IPv6].dst == str(hosts[2].ipv6)


def read(
    folder: Path, hosts: list[Host], packets: list[Packet], rules: SendRules, keep: int | None = None
) -> tuple[FeedCounts, list[bytes]]:
    """Returns the counts of the feed, and the frames that hosts send."""
    path = write(folder / "t.pcap", list(enumerate(packets)), keep)
    feed = Feed(path, hosts, 1.0, rules)
    return feed.counts, [offer.captured for offer in feed.offers()]


FOREIGN = ("192.0.2.1=h1", "192.0.2.2=h3", "192.0.2.3=h3", "2001:db8::1=h1", "2001:db8::2=h3")
GOOD = segment("192.0.2.1", "192.0.2.2")


GROUP = Ether(dst="ff:ff:ff:ff:ff:ff")
MULTICAST = Ether(dst="01:00:5e:00:00:fb")
TO_PREFIX = ("192.0.2.0/24=h1", "198.51.100.0/24=h3")
REST_TO_H1 = ("0.0.0.0/0=h1", "198.51.100.0/24=h3")
UNMAPPED = r"203\.0\.113\.9 is not a host .* or leave such packets out"
NOT_A_HOST = r"packet 1: .* is not a host"
TO_ITSELF = "packet to replay; packets left out because they go from a host"


@pytest.mark.parametrize(
    ("why", "stray", "maps", "refusal"),
    [
        ("multicast", segment("192.0.2.1", "224.0.0.251"), FOREIGN, NOT_A_HOST),
        ("multicast", segment("0.0.0.0", "255.255.255.255"), FOREIGN, NOT_A_HOST),
        ("multicast", Ether() / IPv6(src="2001:db8::1", dst="ff02::fb") / UDP(), FOREIGN, NOT_A_HOST),
        ("multicast", Ether() / IPv6(src="::", dst="ff02::1:ff00:1") / UDP(), FOREIGN, NOT_A_HOST),
        # Also where a prefix holds the group's address.
        ("multicast", GROUP / IP(src="198.51.100.7", dst="192.0.2.255") / UDP(), TO_PREFIX, None),
        ("multicast", GROUP / IP(src="10.0.1.1", dst="10.0.1.255") / UDP(), (), None),
        ("multicast", MULTICAST / IP(src="198.51.100.7", dst="224.0.0.251") / UDP(), REST_TO_H1, None),
        ("link_local", Ether() / IPv6(src="fe80::1", dst="2001:db8::1") / ICMPv6ND_NS(), FOREIGN, NOT_A_HOST),
        ("link_local", Ether() / IPv6(src="fe80::1", dst="febf::2") / UDP(), (), NOT_A_HOST),
        ("link_local", segment("192.0.2.1", "169.254.169.254"), FOREIGN, NOT_A_HOST),
        ("unmapped", Ether() / IPv6(src="2001:db8::1", dst="fec0::2") / UDP(), FOREIGN, NOT_A_HOST),
        ("unmapped", segment("192.0.2.1", "203.0.113.9"), FOREIGN, UNMAPPED),
        ("unmapped", segment("203.0.113.9", "192.0.2.1"), FOREIGN, UNMAPPED),
        ("same_host", segment("192.0.2.2", "192.0.2.3"), FOREIGN, TO_ITSELF),
        ("same_host", segment("10.0.1.1", "10.0.1.1"), (), TO_ITSELF),
    ],
)
def test_a_packet_for_no_single_host_is_left_out_and_counted_or_else_refused(
    tmp_path: Path,
    hosts: list[Host],
    why: str,
    stray: Packet,
    maps: tuple[str, ...],
    refusal: str | None,
) -> None:
    good = {(): GOOD_4, FOREIGN: GOOD}.get(maps, segment("198.51.100.7", "192.0.2.1"))
    dropping = SendRules(maps, unmapped="drop" if why == "unmapped" else None)
    counts, frames = read(tmp_path, hosts, [stray, good], dropping)
    assert (getattr(counts, why), counts.offered, len(frames)) == (1, 1, 1)
    told = {"multicast": "they are multicast or broadcast", "link_local": "an address is link-local"}
    if why in told:
        assert counts.remarks() == [f"packets left out because {told[why]}: 1"]
    refusing = SendRules(maps, unmapped="refuse" if why in told else None)
    if refusal is not None:
        with pytest.raises(TraceError, match=refusal):
            read(tmp_path, hosts, [stray, good][: 1 if why == "same_host" else 2], refusing)


def test_one_that_cuts_nothing_that_is_asked_for_is_not(tmp_path: Path, hosts: list[Host]) -> None:
    datagram = Ether() / IP(src="10.0.1.1", dst="10.0.2.1") / UDP() / bytes(100)
    read(tmp_path, hosts, [datagram], SendRules(), 36)


@pytest.mark.parametrize("payload", [bytes(100), b""])
def test_one_that_cuts_tcp_behind_its_flags_leaves_a_whole_header_whose_rest_is_zeros(
    tmp_path: Path, hosts: list[Host], payload: bytes
) -> None:
    whole = segment("10.0.1.1", "10.0.2.1", payload)
    _, (frame,) = read(tmp_path, hosts, [whole], SendRules(), 48)
    assert frame[12:] == bytes(whole)[12:48] + bytes(6)


@pytest.mark.parametrize("macs", [bytes(12), b"\xff" * 12, b"\2\0\0\0\1\2\2\1\0\0\0\1"])
def test_a_frame_goes_from_its_host_to_the_router_whatever_macs_were_captured(
    tmp_path: Path, hosts: list[Host], macs: bytes
) -> None:
    found = bytes(GOOD_4)[12:]
    _, (frame,) = read(tmp_path, hosts, [Ether(macs + found)], SendRules())
    assert frame == mac_bytes(hosts[0].gateway_mac) + mac_bytes(hosts[0].mac) + found


SIX = IPv6(src="2001:db8::1", dst="2001:db8::2")
ROUTED = IPv6(src="2001:db8::1", dst="2001:db8::2") / IPv6ExtHdrRouting(addresses=["2001:db8::9"])


@pytest.mark.parametrize(
    "packet",
    [
        SIX / ICMPv6EchoRequest(data=b"ping"),
        SIX / IPv6ExtHdrHopByHop(options=RouterAlert()) / UDP(dport=7) / b"data",
        SIX / IPv6ExtHdrDestOpt() / IPv6ExtHdrHopByHop() / TCP() / b"data",
        ROUTED / UDP(dport=7) / b"data",
        SIX / IPv6ExtHdrFragment(m=0, offset=0) / UDP(dport=7) / b"data",
        IP(src="192.0.2.1", dst="192.0.2.2") / ICMP() / b"ping",
        IP(src="192.0.2.1", dst="192.0.2.2", options=[IPOption(b"\x94\x04\0\0")]) / UDP() / b"data",
    ],
)
def test_checksums_stay_right_under_a_mapping(tmp_path: Path, hosts: list[Host], packet: Packet) -> None:
    _, (frame,) = read(tmp_path, hosts, [Ether() / packet], SendRules(FOREIGN))
    found = Ether(frame)
    assert {found[1].src, found[1].dst} & {str(hosts[0].ipv4), str(hosts[0].ipv6)}
    again = found.copy()
    for layer in again.iterpayloads():
        for checksum in ("chksum", "cksum"):
            if checksum in layer.fields:
                delattr(layer, checksum)
    assert bytes(again) == frame


@pytest.mark.parametrize("maps", [(), FOREIGN])
@pytest.mark.parametrize("options", [[], [IPOption(b"\x94\x04\0\0")]])
def test_a_header_checksum_that_a_host_leaves_to_its_nic_is_computed(
    tmp_path: Path, hosts: list[Host], options: list[IPOption], maps: tuple[str, ...]
) -> None:
    source, destination = ("192.0.2.1", "192.0.2.2") if maps else ("10.0.1.1", "10.0.2.1")
    packet = Ether() / Dot1Q(vlan=3) / IP(src=source, dst=destination, options=options, chksum=0) / UDP()
    _, (frame,) = read(tmp_path, hosts, [packet], SendRules(maps))
    again = Ether(frame)
    del again[IP].chksum
    assert Ether(bytes(again))[IP].chksum == Ether(frame)[IP].chksum != 0


def test_a_wrong_header_checksum_stays_wrong(tmp_path: Path, hosts: list[Host]) -> None:
    wrong = Ether() / IP(src="10.0.1.1", dst="10.0.2.1", chksum=1) / UDP()
    short = Ether() / IP(src="10.0.1.1", dst="10.0.2.1", ihl=4, chksum=0) / UDP()
    _, frames = read(tmp_path, hosts, [wrong, short], SendRules())
    assert [frame[24:26] for frame in frames] == [b"\0\1", b"\0\0"]


def test_later_fragments_are_left_as_they_are(tmp_path: Path, hosts: list[Host]) -> None:
    packet = Ether() / SIX / IPv6ExtHdrFragment(nh=17, m=0, offset=8) / (b"payload " * 4)
    _, (frame,) = read(tmp_path, hosts, [packet], SendRules(FOREIGN))
    assert frame[54:] == bytes(packet)[54:]
