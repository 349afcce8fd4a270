"""Captures made for tests."""

import struct
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from eeon_tools.trace.capture_writer import CaptureWriter
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import ARP, Ether


def capture(path: Path, packets: Iterable[tuple[int, int, bytes]]) -> Path:
    """Writes packets: time in nanoseconds, length of the frame, and its captured bytes."""
    with CaptureWriter(path) as writer:
        for time_ns, frame_bytes, captured in packets:
            writer.write(time_ns, captured, frame_bytes)
    return path


def sparse(folder: Path) -> Path:
    """Writes twelve frames from h1 to h2, 10 us apart, after one ARP."""
    arp = bytes(Ether(src="02:00:00:00:01:01", dst="ff:ff:ff:ff:ff:ff") / ARP())
    ip = IP(src="10.0.1.1", dst="10.0.1.2", tos=2, len=1000, id=0, flags="DF")
    packets = [(0, len(arp), arp)]
    for nth in range(12):
        tcp = TCP(sport=40_000, dport=5000, seq=nth, ack=1, flags="A", window=0xFFFF, chksum=0)
        frame = bytes(Ether(src="02:00:00:00:01:01", dst="02:01:00:00:00:01") / ip / tcp)
        packets.append((1_000_000 + nth * 10_000, 1014, frame))
    return capture(folder / "sparse.pcap", packets)


def pcap(link_type: int, *packets: bytes, times_us: Iterable[int] | None = None, order: str = "<") -> bytes:
    """Returns the bytes of a file of whole packets, by default 1 s apart."""
    found = struct.pack(order + "IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)
    for time_us, data in zip(times_us or count(0, 10**6), packets, strict=False):
        found += struct.pack(order + "IIII", *divmod(time_us, 10**6), len(data), len(data)) + data
    return found


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """Returns a block of a pcapng file, as do the three functions below."""
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def section(order: str = "<") -> bytes:
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(link_type: int = 1, *options: tuple[int, bytes], order: str = "<") -> bytes:
    body = struct.pack(order + "HHI", link_type, 0, 0)
    for code, value in options:
        body += struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)
    return block(1, body + (bytes(4) if options else b""), order)


def packet(time: int, data: bytes, index: int = 0, options: bytes = b"", order: str = "<") -> bytes:
    head = struct.pack(order + "IIIII", index, time >> 32, time & 0xFFFF_FFFF, len(data), len(data))
    return block(6, head + data + bytes(-len(data) % 4) + options, order)
