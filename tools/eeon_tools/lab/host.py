"""A host of a lab: its routing, and its reaction to frames that arrive. Frames go in, frames come out.

It answers ARP requests and echo requests for its own address, and sends ARP requests for MAC addresses that
it does not know.
"""

from collections import deque
from dataclasses import dataclass
from ipaddress import IPv4Address

from eeon_tools.errors import InputError
from eeon_tools.lab import packets
from eeon_tools.lab.packets import Arp, Packet
from eeon_tools.lab.topology import LabHost
from eeon_tools.trace.frames import mac_bytes

_MAX_WAITING = 64
"""Maximum number of packets that wait for one MAC address; the oldest is dropped, as in Linux."""
_NOBODY = b"\0" * 6


@dataclass(frozen=True)
class Received:
    """The result of a frame: frames to send at once, and the IPv4 packet if it was one for this host."""

    answers: tuple[bytes, ...] = ()
    packet: Packet | None = None


class Host:
    """The IPv4 stack of one host."""

    def __init__(self, place: LabHost) -> None:
        self._place = place
        self._mac = mac_bytes(place.mac)
        self._macs = {ip: mac_bytes(mac) for ip, mac in place.neighbours.items()}
        self._waiting: dict[IPv4Address, deque[bytes]] = {}

    @property
    def address(self) -> IPv4Address:
        return self._place.ipv4.ip

    def send(self, destination: IPv4Address, packet: bytes) -> tuple[bytes, ...]:
        """Returns the frames for an IPv4 packet: the packet's, or an ARP request while it waits.

        Raises InputError if no route leads to `destination`, or it is the host's own.
        """
        if not self._place.has_address:
            raise InputError(self._place.name, str(destination), "cannot be sent to: this host has no ip")
        if destination == self.address:
            raise InputError(self._place.name, str(destination), "is its own address; name another host")
        hop = self._next_hop(destination)
        mac = self._macs.get(hop)
        if mac is not None:
            return (packets.ethernet(mac, self._mac, packets.TYPE_IPV4, packet),)
        self._waiting.setdefault(hop, deque(maxlen=_MAX_WAITING)).append(packet)
        asked = Arp(packets.ARP_REQUEST, self._mac, self.address, _NOBODY, hop)
        return (packets.ethernet(packets.BROADCAST, self._mac, packets.TYPE_ARP, asked.encode()),)

    def receive(self, frame: bytes) -> Received:
        destination, kind, payload = frame[:6], int.from_bytes(frame[12:14], "big"), frame[14:]
        is_group = bool(destination[:1]) and destination[0] & 1 == 1
        if destination != self._mac and not is_group:
            return Received()
        if kind == packets.TYPE_ARP:
            return Received(answers=self._arp(payload))
        packet = Packet.read(payload) if kind == packets.TYPE_IPV4 else None
        if packet is None or packet.destination != self.address:
            return Received()
        answers: tuple[bytes, ...] = ()
        echoed = packet.icmp()
        if echoed is not None and echoed[0] == packets.ECHO_REQUEST:
            _, identifier, sequence, data = echoed
            reply = packets.echo(packets.ECHO_REPLY, identifier, sequence, data)
            try:
                answers = self.send(
                    packet.source,
                    packets.ipv4(self.address, packet.source, packets.PROTOCOL_ICMP, reply, packet.tos),
                )
            except InputError:
                # A host without a route to the sender stays silent.
                answers = ()
        return Received(answers, packet)

    def _next_hop(self, destination: IPv4Address) -> IPv4Address:
        if destination in self._place.ipv4.network:
            return destination
        ways = [way for way in self._place.routes if destination in way[0]]
        if ways:
            return max(ways, key=lambda way: way[0].prefixlen)[1] or destination
        if self._place.gateway is None:
            raise InputError(
                self._place.name,
                str(destination),
                f"has no route there: its network is {self._place.ipv4.network}; give the host one in its "
                "commands, such as `route add default gw` with an address of its network",
            )
        return self._place.gateway

    def _arp(self, payload: bytes) -> tuple[bytes, ...]:
        arp = Arp.read(payload)
        if arp is None:
            return ()
        frames = []
        if arp.target_ip == self.address:
            # The sender gets an answer, so its address is worth keeping (RFC 826).
            self._macs[arp.sender_ip] = arp.sender_mac
            if arp.operation == packets.ARP_REQUEST:
                reply = Arp(packets.ARP_REPLY, self._mac, self.address, arp.sender_mac, arp.sender_ip)
                frames.append(packets.ethernet(arp.sender_mac, self._mac, packets.TYPE_ARP, reply.encode()))
            for packet in self._waiting.pop(arp.sender_ip, ()):
                frames.append(packets.ethernet(arp.sender_mac, self._mac, packets.TYPE_IPV4, packet))
        return tuple(frames)
