"""The frames that Python's tests send: of every packet class, of a topology's hosts, and of the engine's test
programs; and the frame that must leave after forwarding.

Host K is behind port K of the switch under test; its addresses below are the tests' own, not those of the
controller's plan. Builders return bytes (scapy builds, the tests compare bytes). `forwarded` edits bytes by
offset and not with scapy, so that all fields that the switch must not change are compared unchanged.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6, IPv6ExtHdrFragment
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import checksum

from ptf_tests.lib.ports import NUMBERS

if TYPE_CHECKING:
    from eeon_control.routing import Flow
    from eeon_control.topology import Host

VLAN_BYTES = NUMBERS["constants"]["VLAN_BYTES"]

FULL_FRAME = 1514
"""Bytes of a full Ethernet frame without FCS (1500-byte IP packet)."""


class Ecn(IntEnum):
    """The ECN field (RFC 3168, section 5; ECT(1) as RFC 9331 uses it)."""

    NOT_ECT = 0
    ECT1 = 1
    ECT0 = 2
    CE = 3


class PacketClass(IntEnum):
    """Packet classes with the program's numbers."""

    DATA = 0
    ACK = 1
    ACK_ECE = 2
    SYN = 3
    SYN_ACK = 4
    FIN_RST = 5
    OTHER = 6
    CONTROL = 7


class Verdict(IntEnum):
    """The outcomes of a packet with the program's numbers."""

    FORWARDED = 0
    MARKED = 1
    EARLY_DROPPED = 2
    TAIL_DROPPED = 3
    NO_ROUTE = 4
    TTL_EXPIRED = 5
    TO_CPU = 6
    MALFORMED = 7
    CONSUMED = 8
    NOT_ADMITTED = 9
    MARTIAN = 10


_SIZES = NUMBERS["constants"]
_CLASSES = _SIZES["RECEIVED_CELLS"] // _SIZES["PORT_CELLS"]
_VERDICTS = _SIZES["VERDICT_CELLS"] // _SIZES["RECEIVED_CELLS"]


def received_cell(port: int, packet_class: int) -> int:
    """Returns the cell of the counter `received` for a port and a class."""
    return port * _CLASSES + packet_class


def verdict_cell(port: int, packet_class: int, verdict: int) -> int:
    """Returns the cell of the counter `verdicts`."""
    return received_cell(port, packet_class) * _VERDICTS + verdict


def host_ipv4(port: int, host: int = 1) -> str:
    """Returns the IPv4 address of a host behind `port`."""
    return f"10.0.{port}.{host}"


def host_ipv6(port: int, host: int = 1) -> str:
    """Returns the IPv6 address of a host behind `port`."""
    return f"fd00:0:0:{port:x}::{host:x}"


def networks(port: int) -> dict[str, tuple[int, int]]:
    """Returns the prefixes of the hosts behind `port`, by the table of their routes."""
    return {
        "ipv4_route": (int(IPv4Address(host_ipv4(port, 0))), 24),
        "ipv6_route": (int(IPv6Address(host_ipv6(port, 0))), 64),
    }


def host_mac(port: int) -> str:
    """Returns the MAC address of the host behind `port`."""
    return f"02:00:00:00:00:{port:02x}"


def switch_mac(port: int) -> str:
    """Returns the switch's MAC address at `port`."""
    return f"02:01:00:00:00:{port:02x}"


def mac_int(mac: str) -> int:
    """Returns a MAC address as the integer for P4Runtime."""
    return int(mac.replace(":", ""), 16)


def arriving(frame: bytes, port: int) -> bytes:
    """Returns the frame as the neighbour at `port` sends it to the switch."""
    return mac_int(switch_mac(port)).to_bytes(6, "big") + frame[6:]


TcpOptions = Sequence[tuple[str, object]]
"""TCP options in scapy's form: names and values."""


class Network(TypedDict, total=False):
    """Arguments of `network`; `fl` is an IPv6 flow label."""

    frm: int
    ipv6: bool
    ecn: int
    dscp: int
    ttl: int
    vlan: int | None
    host: int
    ip_options: Sequence[IPOption]
    fl: int


class Segment(Network, total=False):
    """Arguments of `tcp` apart from the length of the payload."""

    flags: str
    sport: int
    dport: int
    seq: int
    tcp_options: TcpOptions
    pad_to: int | None


def network(
    to: int,
    *,
    frm: int = 1,
    ipv6: bool = False,
    ecn: int = Ecn.NOT_ECT,
    dscp: int = 0,
    ttl: int = 64,
    vlan: int | None = None,
    host: int = 1,
    ip_options: Sequence[IPOption] = (),
    **ip_fields: Any,  # any field of scapy's header # noqa: ANN401
) -> Packet:
    """Returns the headers below the transport, from the host behind `frm` to host `host` behind `to`."""
    frame: Packet = Ether(src=host_mac(frm), dst=switch_mac(frm))
    if vlan is not None:
        frame /= Dot1Q(vlan=vlan, prio=3)
    tos = dscp << 2 | ecn
    if ipv6:
        source, destination = host_ipv6(frm), host_ipv6(to, host)
        return frame / IPv6(src=source, dst=destination, tc=tos, hlim=ttl, **ip_fields)
    return frame / IP(
        src=host_ipv4(frm),
        dst=host_ipv4(to, host),
        tos=tos,
        ttl=ttl,
        id=0x4321,
        options=list(ip_options),
        **ip_fields,
    )


def padded(frame: bytes, size: int | None) -> bytes:
    """Returns `frame` with Ethernet padding (zeros after the IP packet) up to `size` bytes."""
    if size is None:
        return frame
    if len(frame) > size:
        raise ValueError(f"a frame of {len(frame)} bytes cannot be padded to {size}")
    return frame + bytes(size - len(frame))


def tcp(
    to: int,
    *,
    flags: str = "A",
    payload: int = 0,
    sport: int = 50000,
    dport: int = 13562,
    seq: int = 1000,
    tcp_options: TcpOptions = (),
    pad_to: int | None = None,
    **below: Unpack[Network],
) -> bytes:
    """Returns a TCP segment with `payload` bytes of data; `below` goes to `network`."""
    # Cached: scapy takes a millisecond per frame, and a burst's are equal. IP options cannot be hashed.
    build = _tcp.__wrapped__ if below.get("ip_options") else _tcp
    return padded(build(to, flags, payload, sport, dport, seq, tuple(tcp_options), **below), pad_to)


@lru_cache(maxsize=10_000)
def _tcp(
    to: int,
    flags: str,
    payload: int,
    sport: int,
    dport: int,
    seq: int,
    tcp_options: TcpOptions,
    **below: Unpack[Network],
) -> bytes:
    segment = TCP(sport=sport, dport=dport, seq=seq, ack=2000, flags=flags, options=list(tcp_options))
    return bytes(network(to, **below) / segment / bytes(payload))


def udp(
    to: int,
    *,
    payload: int = 18,
    sport: int = 50000,
    dport: int = 9,
    pad_to: int | None = None,
    **below: Unpack[Network],
) -> bytes:
    """Returns a UDP datagram with `payload` bytes."""
    return padded(bytes(network(to, **below) / UDP(sport=sport, dport=dport) / bytes(payload)), pad_to)


def mac_control(to: int) -> bytes:
    """Returns a pause frame of IEEE 802.3 annex 31B, with an IP packet for host `to` behind it."""
    head = Ether(dst="01:80:c2:00:00:01", src=host_mac(1), type=NUMBERS["constants"]["ETHERTYPE_MAC_CONTROL"])
    return bytes(head / bytes([0, 1, 0xFF, 0xFF])) + udp(to)[14:]


def pfc(times: Mapping[int, int], *, enabled: int | None = None, dst: str = "01:80:c2:00:00:01") -> bytes:
    """Returns a priority flow control frame (IEEE 802.3 annex 31D) without FCS: `times` in quanta by
    priority; `enabled` replaces the class-enable vector of `times`."""
    vector = sum(1 << priority for priority in times) if enabled is None else enabled
    values = [times.get(priority, 0) for priority in range(8)]
    head = Ether(dst=dst, src=host_mac(1), type=NUMBERS["constants"]["ETHERTYPE_MAC_CONTROL"])
    return padded(bytes(head) + struct.pack("!HH8H", 0x0101, vector, *values), 60)


def icmp_echo(to: int, **below: Unpack[Network]) -> bytes:
    """Returns an ICMP or ICMPv6 echo request."""
    message = ICMPv6EchoRequest(data=bytes(32)) if below.get("ipv6") else ICMP() / bytes(32)
    return bytes(network(to, **below) / message)


def tcp_fragment(to: int, *, first: bool, **below: Unpack[Network]) -> bytes:
    """Returns a fragment of a TCP segment: the first one (which has the TCP header) or a later one."""
    if below.get("ipv6"):
        frame = network(to, **below) / IPv6ExtHdrFragment(nh=6, offset=0 if first else 185, m=first, id=77)
    else:
        frame = network(to, proto=6, flags="MF" if first else 0, frag=0 if first else 185, **below)
    segment = TCP(sport=50000, dport=13562, flags="A") / bytes(64) if first else bytes(64)
    return bytes(frame / segment)


def data(to: int, *, size: int | None = None, **fields: Unpack[Segment]) -> bytes:
    """Returns a TCP segment with payload; `size` is that of the whole frame (default: 100 bytes of
    payload)."""
    if size is None:
        return tcp(to, payload=100, **fields)
    without_data: Segment = {**fields, "seq": 0}
    bare = len(tcp(to, payload=0, **without_data))
    if size <= bare:
        raise ValueError(f"a data frame of {size} bytes has no payload: headers take {bare}")
    return tcp(to, payload=size - bare, **fields)


def numbered(count: int, to: int = 2, *, size: int | None = None, **fields: Unpack[Segment]) -> list[bytes]:
    """Returns data frames with the TCP sequence numbers 0, 1, 2 and so on."""
    return [data(to, size=size, **(fields | Segment(seq=n))) for n in range(count)]


BUILDERS: dict[PacketClass, Callable[..., bytes]] = {
    PacketClass.DATA: data,
    PacketClass.ACK: lambda to, **fields: tcp(to, flags="A", **fields),
    PacketClass.ACK_ECE: lambda to, **fields: tcp(to, flags="AE", **fields),
    PacketClass.SYN: lambda to, **fields: tcp(to, flags="S", **fields),
    PacketClass.SYN_ACK: lambda to, **fields: tcp(to, flags="SA", **fields),
    PacketClass.FIN_RST: lambda to, **fields: tcp(to, flags="FA", **fields),
    PacketClass.OTHER: udp,
}
"""The simplest frame of each class, to the host behind a port."""


def of_flow(
    source: "Host", destination: "Host", flow: "Flow", version: int, payload: int = 0, dscp: int = 0
) -> bytes:
    """Returns a frame of a flow between hosts of a topology: with a header of TCP or UDP, or with 26 bytes of
    another protocol. Over IPv4 it has the DSCP, and is ECT(0)."""
    protocol = flow.protocol
    frame: Packet = Ether(dst=source.gateway_mac, src=source.mac)
    if version == 6:
        frame /= IPv6(src=str(source.ipv6), dst=str(destination.ipv6), nh=protocol)
    else:
        tos = dscp << 2 | Ecn.ECT0
        frame /= IP(src=str(source.ipv4), dst=str(destination.ipv4), tos=tos, flags="DF", proto=protocol)
    head: Packet = Raw(bytes(26))
    if protocol == 6:
        head = TCP(sport=flow.source_port, dport=flow.destination_port, flags="A")
    elif protocol == 17:
        head = UDP(sport=flow.source_port, dport=flow.destination_port) / bytes(18)
    return bytes(frame / head / bytes(payload))


def keyed(key: int, ether_type: int = 0x1234, payload: bytes = b"payload") -> bytes:
    """Returns a frame of the engine's test programs: Ethernet, four bytes of key, payload."""
    ethernet = bytes.fromhex("020000000001 020000000002") + ether_type.to_bytes(2, "big")
    return ethernet + key.to_bytes(4, "big") + payload


def without_ip(number: int) -> bytes:
    """Returns a frame of 60 bytes of another protocol than IP, identified by its number."""
    return bytes(12) + b"\x88\xb5" + number.to_bytes(4, "big") + bytes(42)


def l3_offset(frame: bytes) -> int:
    """Returns the offset of the IP header, after the Ethernet header and any VLAN tags."""
    offset = 12
    while frame[offset : offset + 2] in (b"\x81\x00", b"\x88\xa8"):
        offset += VLAN_BYTES
    return offset + 2


def ecn_of(frame: bytes) -> int:
    """Returns the ECN field of an IPv4 or IPv6 frame."""
    at = l3_offset(frame)
    if frame[at] >> 4 == 4:
        return frame[at + 1] & 3
    return frame[at + 1] >> 4 & 3


def forwarded(
    frame: bytes, to: int, *, ecn: int | None = None, src_mac: str | None = None, dst_mac: str | None = None
) -> bytes:
    """Returns the frame that must leave port `to` for an arriving `frame`: new MACs, TTL or hop limit
    decremented, `ecn` if it was marked, and a recomputed IPv4 header checksum. All else is unchanged."""
    out = bytearray(frame)
    out[0:6] = bytes.fromhex((dst_mac or host_mac(to)).replace(":", ""))
    out[6:12] = bytes.fromhex((src_mac or switch_mac(to)).replace(":", ""))
    at = l3_offset(frame)
    if out[at] >> 4 == 4:
        out[at + 8] -= 1
        if ecn is not None:
            out[at + 1] = out[at + 1] & 0xFC | ecn
        end = at + (out[at] & 0xF) * 4
        out[at + 10 : at + 12] = b"\0\0"
        out[at + 10 : at + 12] = struct.pack("!H", checksum(bytes(out[at:end])))
    else:
        out[at + 7] -= 1
        if ecn is not None:
            out[at + 1] = out[at + 1] & 0xCF | ecn << 4
    return bytes(out)
