#!/usr/bin/env python3
"""Linux' TCP against ours: the same transfer over the same path, sent by one and received by the other.

The path is the example `edge` of the crate tcp: a delay, with losses and ECN marks of chosen data segments at
their first transmission. Linux is on the other side of a TUN device in a separate network namespace. This
needs root, but does not affect the machine's network:

    cargo build --release --package tcp --example edge
    unshare --net python3 engine/tcp/examples/linux.py engine/target/release/examples/edge
"""

import fcntl
import itertools
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

LINUX, OURS = "10.99.0.1", "10.99.0.2"
PORTS = itertools.count(5001)
"""A new port for each transfer, so that none meets the TIME-WAIT of another."""
DELAY_MS = 20
SEGMENT_BYTES = 1448
"""Payload of a full segment with timestamps."""
LOSSES = {
    "none": "",
    "20": "20",
    "20, 22, 23": "20,22,23",
    "30 to 39": ",".join(map(str, range(30, 40))),
    "the last": "100",
}
MARKS = {"20": "20", "20 to 40": ",".join(map(str, range(20, 41))), "20, 150": "20,150"}
ALGORITHMS = {"newreno": "reno", "cubic": "cubic"}
"""Our names of algorithms, and Linux'."""
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_DEADLINE_SECONDS = 60


def open_tun() -> int:
    """Opens a TUN device between Linux and us, sets Linux' address and settings, and returns the
    descriptor."""
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH", b"judge", _IFF_TUN | _IFF_NO_PI))
    for command in (
        ["ip", "address", "add", f"{LINUX}/24", "dev", "judge"],
        ["ip", "link", "set", "judge", "mtu", "1500", "up"],
    ):
        subprocess.run(command, check=True)
    for name, value in (("tcp_no_metrics_save", "1"), ("tcp_slow_start_after_idle", "1")):
        Path(f"/proc/sys/net/ipv4/{name}").write_text(value)
    return device


def serve(listener: socket.socket, sends: int) -> None:
    """Serves one connection as Linux' application: sends `sends` bytes, if any, and receives everything that
    arrives."""
    connection, _ = listener.accept()
    with connection:
        if sends:
            connection.sendall(bytes(sends))
            connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 20):
            pass


def transfer(
    edge: str, device: int, sender: str, algorithm: str, segments: int, lost: str, marked: str
) -> dict[str, object]:
    """Runs one transfer, and returns the path's observations of it."""
    port = next(PORTS)
    Path("/proc/sys/net/ipv4/tcp_ecn").write_text("1" if marked else "0")
    with socket.create_server((LINUX, port)) as listener:
        # Root may choose algorithms that the namespace's own setting does not allow.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, ALGORITHMS[algorithm].encode())
        linux_sends = segments * SEGMENT_BYTES if sender == "Linux" else 0
        application = threading.Thread(target=serve, args=(listener, linux_sends), daemon=True)
        application.start()
        size = "0" if sender == "Linux" else str(segments * SEGMENT_BYTES)
        ended = subprocess.run(
            [edge, OURS, LINUX, str(port), size, algorithm, str(DELAY_MS), lost, marked],
            stdin=device,
            stdout=device,
            stderr=subprocess.PIPE,
            text=True,
            timeout=_DEADLINE_SECONDS,
            check=False,
        )
        if ended.returncode != 0:
            raise RuntimeError(f"{sender}, {algorithm}, {lost}: {ended.stderr}")
        application.join(_DEADLINE_SECONDS)
    result: dict[str, object] = json.loads(ended.stderr)
    return result


def main() -> None:
    """Prints the table."""
    edge = sys.argv[1]
    device = open_tun()
    print("| algorithm | lost | marked | sender | ms | sent again | largest flight in each round trip |")
    print("|---|---|---|---|---|---|---|")
    for algorithm in ALGORITHMS:
        cases = [(100, name, lost, "none", "") for name, lost in LOSSES.items()]
        cases += [(300, "none", "", name, marked) for name, marked in MARKS.items()]
        for segments, lost_name, lost, marked_name, marked in cases:
            for sender in ("ours", "Linux"):
                try:
                    one = transfer(edge, device, sender, algorithm, segments, lost, marked)
                except OSError as error:
                    # The kernel lacks the algorithm.
                    print(f"{algorithm}: skipped, {error}", file=sys.stderr)
                    break
                assert one["bytes"] == segments * SEGMENT_BYTES, one
                assert one["marked"] == len(marked.split(",")) * bool(marked), one
                took, peaks = float(str(one["took_us"])) / 1e3, " ".join(map(str, one["peaks"]))  # type: ignore[call-overload]
                print(
                    f"| `{algorithm}` | {lost_name} | {marked_name} | {sender} | {took:.0f} "
                    f"| {one['retransmitted']} | {peaks} |"
                )


if __name__ == "__main__":
    main()
