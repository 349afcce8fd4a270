#!/usr/bin/env python3
"""Record the output of BMv2's simple_switch with probe.json in bmv2_outputs.json, for tests/it/bmv2.rs.

Needs `simple_switch` and `simple_switch_CLI` on PATH; BMv2 1.15.5 recorded the committed file. Each request
runs in a new switch. Non-zero fields that depend on real time are replaced with 1; queue depths and waiting
times are replaced with 0.
"""

from __future__ import annotations

import json
import struct
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PORTS = range(8)
THRIFT_PORT = 29190

# Control plane: tests/it/bmv2.rs makes the same calls.
COMMANDS = """
mc_mgrp_create 3
mc_node_create 1 4
mc_node_create 2 5 2
mc_node_associate 3 0
mc_node_associate 3 1
mirroring_add 1 6
mirroring_add_mc 2 3
mirroring_add 3 6
"""


def request(
    op: int, count: int = 0, port: int = 1, argument: int = 0, is_checked: int = 0, checksum: int = 0
) -> str:
    """Returns a request packet with 20 bytes of payload, in hexadecimal."""
    header = struct.pack(">BBHHBBH", op, count, port, argument, 0, is_checked, checksum)
    return (header + bytes(range(20))).hex()


REQUESTS = {
    "forward": request(0),
    "drop in ingress": request(1),
    "drop in egress": request(2),
    "recirculate twice": request(3, count=2),
    "resubmit three times": request(4, count=3),
    "multicast": request(5, argument=3),
    "multicast to no group": request(5, argument=9),
    "clone in ingress to a port": request(6, argument=1),
    "clone in ingress to a group": request(6, argument=2),
    "clone in ingress to no session": request(6, argument=9),
    "clone in egress to a port": request(7, argument=1),
    "clone in egress to a group": request(7, argument=2),
    "clone in egress, original dropped": request(8, argument=1),
    "digest": request(9),
    "truncate in egress": request(10, argument=70),
    "truncate in ingress": request(11, argument=60),
    "register": request(13, argument=3),
    "everything at once": request(16, argument=3),
    "grow": request(19, count=5),
    "port without a link": request(0, port=300),
    "right checksum": request(
        0, count=0x12, argument=0x3456, is_checked=1, checksum=0xFFFF - 0x0012 - 0x0001 - 0x3456
    ),
    "wrong checksum": request(0, is_checked=1, checksum=1),
    "too short for its parser": "010203",
    "empty payload": request(0)[:20],
}

# Offset and length in the report of fields that depend on real time.
TIMES = ((20, 8), (28, 8), (36, 4))
DEPTHS = ((40, 4), (44, 4), (48, 4))


def write_pcap(path: Path, frame: bytes) -> None:
    """Writes one frame, or none if it is empty."""
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    if frame:
        data += struct.pack("<IIII", 1, 0, len(frame), len(frame)) + frame
    path.write_bytes(data)


def read_pcap(path: Path) -> list[bytes]:
    """Returns the frames of a file in the machine's byte order."""
    data = path.read_bytes()[24:]
    frames = []
    while data:
        captured = struct.unpack("<IIII", data[:16])[2]
        frames.append(data[16 : 16 + captured])
        data = data[16 + captured :]
    return frames


def without_times(frame: bytes) -> str:
    """Returns the frame in hexadecimal, with its real times replaced by 1 and its depths by 0."""
    changed = bytearray(frame)
    for offset, length in TIMES:
        value = 1 if any(changed[offset : offset + length]) else 0
        changed[offset : offset + length] = value.to_bytes(length, "big")
    for offset, length in DEPTHS:
        changed[offset : offset + length] = bytes(length)
    return changed.hex()


def run(frame: bytes) -> list[list[object]]:
    """Returns the output of one switch for one frame at port 0: [port, frame], by port, then in order."""
    with tempfile.TemporaryDirectory() as scratch:
        for port in PORTS:
            write_pcap(Path(scratch) / f"p{port}_in.pcap", frame if port == 0 else b"")
        interfaces = [word for port in PORTS for word in ("-i", f"{port}@p{port}")]
        command = ["simple_switch", "--use-files", "3", "--thrift-port", str(THRIFT_PORT), *interfaces]
        with subprocess.Popen(
            [*command, str(HERE / "probe.json")],
            cwd=scratch,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as switch:
            try:
                time.sleep(1)
                cli = ["simple_switch_CLI", "--thrift-port", str(THRIFT_PORT)]
                subprocess.run(cli, input=COMMANDS, text=True, check=True, capture_output=True)
                time.sleep(3.5)
            finally:
                switch.terminate()
        outputs = []
        for port in PORTS:
            path = Path(scratch) / f"p{port}_out.pcap"
            outputs += [[port, without_times(out)] for out in (read_pcap(path) if path.exists() else [])]
        return outputs


def main() -> None:
    """Writes bmv2_outputs.json beside probe.json."""
    cases = []
    for name, frame in REQUESTS.items():
        cases.append({"name": name, "request": frame, "outputs": run(bytes.fromhex(frame))})
    (HERE / "bmv2_outputs.json").write_text(json.dumps(cases, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
