"""Captures made for tests."""

from __future__ import annotations

from pathlib import Path

from eeon_tools.trace.capture_writer import open_writer
from scapy.layers.l2 import ARP, Ether


def sparse(folder: Path) -> Path:
    """Writes twelve frames from h1 to h2, 10 us apart, after one ARP."""
    path = folder / "sparse.pcap"
    writer = open_writer(path)
    arp = bytes(Ether(src="02:00:00:00:01:01", dst="ff:ff:ff:ff:ff:ff") / ARP())
    writer.write(0, arp, len(arp))
    header = "0201000000010200000001010800450203e800004000400600000a0001010a000102"
    frame = bytearray.fromhex(header)
    total = sum(int.from_bytes(frame[at : at + 2], "big") for at in range(14, 34, 2))
    checksum = 0xFFFF - (total & 0xFFFF) - (total >> 16)
    frame[24:26] = checksum.to_bytes(2, "big")
    frame += bytes.fromhex("9c40138800000001000000015010ffff00000000")
    for nth in range(12):
        frame[38:42] = nth.to_bytes(4, "big")
        writer.write(1_000_000 + nth * 10_000, bytes(frame), 1014)
    writer.close()
    return path
