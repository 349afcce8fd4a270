"""The address plan, which is defined only here.

    leaf L (1-based)           10.0.L.0/24            fd00:0:0:L::/64
    host K (1-based) of leaf L 10.0.L.K               fd00:0:0:L::K          02:00:00:LL:LL:KK
    switch with device id N                                                  02:01:00:00:NN:NN

with the default prefixes 10.0.0.0/8 and fd00::/48; leaf 256 has 10.1.0.0/24. K is at most 254. MACs
are locally administered (second bit of the first byte).
"""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Annotated

from eeon_control.model_base import Strict, of_text

HOSTS_PER_LEAF_LIMIT = 254
SWITCH_LIMIT = 0xFFFF
_LEAVES_IN_A_MAC = 0xFFFF


def _prefix(
    kind: type[IPv4Network] | type[IPv6Network], longest: int
) -> Callable[[object], IPv4Network | IPv6Network]:
    def read(text: object) -> IPv4Network | IPv6Network:
        if isinstance(text, kind):
            return text
        try:
            if not isinstance(text, str) or "/" not in text:
                raise ValueError
            prefix = kind(text)
        except ValueError:
            raise ValueError(
                f"write a prefix such as {'10.0.0.0/8' if longest == 16 else 'fd00::/48'}"
            ) from None
        if prefix.prefixlen > longest:
            raise ValueError(f"use /{longest} or a shorter prefix, so that every leaf has room")
        return prefix

    return read


Ipv4Prefix = Annotated[
    IPv4Network, *of_text(_prefix(IPv4Network, 16), {"type": "string", "pattern": r"^[0-9.]+/[0-9]+$"})
]
Ipv6Prefix = Annotated[
    IPv6Network, *of_text(_prefix(IPv6Network, 48), {"type": "string", "pattern": r"^[0-9A-Fa-f:.]+/[0-9]+$"})
]


class Addressing(Strict):
    """The prefixes from which addresses are assigned."""

    ipv4: Ipv4Prefix = IPv4Network("10.0.0.0/8")
    """Leaf L has the L-th /24 of this prefix, and its K-th host has the K-th address of that /24. The default
    is 10.0.0.0/8: 10.0.L.K."""
    ipv6: Ipv6Prefix = IPv6Network("fd00::/48")
    """Leaf L has the L-th /64 of this prefix, and its K-th host has the K-th address of that /64."""

    @property
    def leaf_limit(self) -> int:
        """The maximum number of leaves; their numbers start at 1."""
        ipv4_room, ipv6_room = 1 << 24 - self.ipv4.prefixlen, 1 << 64 - self.ipv6.prefixlen
        return min(ipv4_room - 1, ipv6_room - 1, _LEAVES_IN_A_MAC)

    def leaf_ipv4(self, leaf: int) -> IPv4Network:
        return IPv4Network((int(self.ipv4.network_address) + (leaf << 8), 24))

    def leaf_ipv6(self, leaf: int) -> IPv6Network:
        return IPv6Network((int(self.ipv6.network_address) + (leaf << 64), 64))

    def host_ipv4(self, leaf: int, host: int) -> IPv4Address:
        return IPv4Address(int(self.ipv4.network_address) + (leaf << 8) + host)

    def host_ipv6(self, leaf: int, host: int) -> IPv6Address:
        return IPv6Address(int(self.ipv6.network_address) + (leaf << 64) + host)


def host_mac(leaf: int, host: int) -> str:
    return f"02:00:00:{leaf >> 8:02x}:{leaf & 0xFF:02x}:{host:02x}"


def switch_mac(device_id: int) -> str:
    """Returns the MAC of the switch with a device id; a switch uses one MAC on all its ports."""
    return f"02:01:00:00:{device_id >> 8:02x}:{device_id & 0xFF:02x}"


def mac_number(text: str) -> int:
    """Returns a MAC address that has colons as a number."""
    return int(text.replace(":", ""), 16)


def mac_text(number: int) -> str:
    """Returns a MAC address as text with colons."""
    return number.to_bytes(6, "big").hex(":")
