"""One TCP transfer, run inside a host of a live fabric: `receive|send ADDRESS BYTES`.

Each prints one line of JSON: the SHA-256 of the bytes received or sent, and for the sender the output of `ss`
about its connection after the receiver has read all bytes. Not a test itself; it needs Python and `ss`.
"""

import hashlib
import json
import random
import socket
import subprocess
import sys

PORT = 5001
_TIMEOUT_SECS = 60.0
_CHUNK = 1 << 16
_CONGESTION_CONTROL = b"reno"
"""Every Linux has it, and it halves its window for a mark (RFC 3168); BBR, a possible default, does not."""


def receive(address: str, count: int) -> dict[str, object]:
    """Accepts one connection and reads `count` bytes."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, PORT), family=family) as server:
        server.settimeout(_TIMEOUT_SECS)
        print("listening", flush=True)
        connection, _ = server.accept()
        connection.settimeout(_TIMEOUT_SECS)
        digest, got = hashlib.sha256(), 0
        with connection:
            while got < count and (chunk := connection.recv(_CHUNK)):
                digest.update(chunk)
                got += len(chunk)
            connection.sendall(b"!")
            # The sender closes after it has examined its connection.
            connection.recv(1)
    return {"sha256": digest.hexdigest(), "bytes": got}


def send(address: str, count: int) -> dict[str, object]:
    """Sends `count` pseudorandom bytes, which are the same every time."""
    source = random.Random(count)
    digest = hashlib.sha256()
    with socket.create_connection((address, PORT), timeout=_TIMEOUT_SECS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, _CONGESTION_CONTROL)
        for start in range(0, count, _CHUNK):
            chunk = source.randbytes(min(_CHUNK, count - start))
            digest.update(chunk)
            connection.sendall(chunk)
        if connection.recv(1) != b"!":
            raise ConnectionError("the receiver ended early")
        said = subprocess.run(
            ["ss", "-tinoH", f"dport = :{PORT}"], check=True, capture_output=True, text=True
        )
    return {"sha256": digest.hexdigest(), "bytes": count, "ss": said.stdout}


if __name__ == "__main__":
    role, where, size = sys.argv[1:]
    print(json.dumps((receive if role == "receive" else send)(where, int(size))), flush=True)
