"""Captures made for tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from eeon_tools.trace.capture_writer import CaptureWriter
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
    header = "0201000000010200000001010800450203e800004000400600000a0001010a000102"
    frame = bytearray.fromhex(header)
    total = sum(int.from_bytes(frame[at : at + 2], "big") for at in range(14, 34, 2))
    checksum = 0xFFFF - (total & 0xFFFF) - (total >> 16)
    frame[24:26] = checksum.to_bytes(2, "big")
    frame += bytes.fromhex("9c40138800000001000000015010ffff00000000")
    packets = [(0, len(arp), arp)]
    for nth in range(12):
        frame[38:42] = nth.to_bytes(4, "big")
        packets.append((1_000_000 + nth * 10_000, 1014, bytes(frame)))
    return capture(folder / "sparse.pcap", packets)
