"""Frames and fabrics for this package's tests."""

from typing import Any

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

GATES = {"gate_register": "gate_open_at"}
"""The setting of a fabric whose switches run the project's own program."""


def fabric(hosts: int, **settings: object) -> dict[str, Any]:
    """Makes the spec of a fabric: hosts 10.0.1.N on the ports N of a switch, from 1."""
    each = range(1, hosts + 1)
    ends = [{"a": {"node": "leaf1", "port": n}, "b": {"node": f"h{n}", "port": 0}} for n in each]
    return {
        "seed": 1,
        "switches": [{"name": "leaf1", "device_id": 3}],
        "hosts": [{"name": f"h{n}", "mac": f"02:00:00:00:01:{n:02x}", "ipv4": f"10.0.1.{n}"} for n in each],
        "links": [{**end, "rate_bps": 1_000_000_000, "delay_ps": 500_000} for end in ends],
        **settings,
    }


def frame(key: int, ether_type: int = 0x1234, payload: bytes = b"payload") -> bytes:
    """Makes a frame of the test programs: Ethernet, four bytes of key, payload."""
    ethernet = bytes.fromhex("020000000001 020000000002") + ether_type.to_bytes(2, "big")
    return ethernet + key.to_bytes(4, "big") + payload


def numbered(number: int) -> bytes:
    """Makes a frame of 60 bytes without IP, identified by its number."""
    return bytes(12) + b"\x88\xb5" + number.to_bytes(4, "big") + bytes(42)


def udp_frame(length: int = 1000) -> bytes:
    """Makes a UDP datagram of `length` bytes from h1 to h2 of a twin, with a correct IPv4 header checksum."""
    head = Ether(dst="02:01:00:00:00:01", src="02:00:00:00:01:01") / IP(src="10.0.1.1", dst="10.0.1.2")
    return bytes(head / UDP(sport=1000, dport=1000, chksum=0) / bytes(length - 42))
