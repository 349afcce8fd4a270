"""The address plan: one rule, here only.

    leaf L (1-based)           10.0.L.0/24            fd00:0:0:L::/64
    host K (1-based) of leaf L 10.0.L.K               fd00:0:0:L::K          02:00:00:00:LL:KK
    switch with device id N                                                  02:01:00:00:NN:NN

L and K are at most 254. MACs are locally administered (second bit of the first byte).
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

LEAF_LIMIT = 254
HOSTS_PER_LEAF_LIMIT = 254
SWITCH_LIMIT = 0xFFFF


def leaf_ipv4(leaf: int) -> IPv4Network:
    """IPv4 prefix of leaf `leaf`."""
    return IPv4Network(f"10.0.{leaf}.0/24")


def leaf_ipv6(leaf: int) -> IPv6Network:
    """IPv6 prefix of leaf `leaf`."""
    return IPv6Network(f"fd00:0:0:{leaf:x}::/64")


def host_ipv4(leaf: int, host: int) -> IPv4Address:
    """IPv4 address of host number `host` of leaf `leaf`."""
    return leaf_ipv4(leaf).network_address + host


def host_ipv6(leaf: int, host: int) -> IPv6Address:
    """IPv6 address of host number `host` of leaf `leaf`."""
    return leaf_ipv6(leaf).network_address + host


def host_mac(leaf: int, host: int) -> str:
    """MAC of host number `host` of leaf `leaf`."""
    return f"02:00:00:00:{leaf:02x}:{host:02x}"


def switch_mac(device_id: int) -> str:
    """MAC of the switch with a device id; a switch uses one MAC on all its ports."""
    return f"02:01:00:00:{device_id >> 8:02x}:{device_id & 0xFF:02x}"
