"""veth pairs for tests: one end for the switch, the other for a host in a separate namespace."""

import contextlib
import ctypes
import itertools
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

# From linux/if_packet.h; the socket module lacks them.
SOL_PACKET, PACKET_AUXDATA = 263, 8

_numbers = itertools.count()


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


@dataclass
class Link:
    """A veth pair: the end for the switch, and the end of a host in a separate namespace."""

    switch: str
    namespace: str

    def make(self) -> None:
        ip("link", "add", self.switch, "type", "veth", "peer", "name", "host", "netns", self.namespace)
        ip("link", "set", self.switch, "up")
        ip("-n", self.namespace, "link", "set", "host", "up")

    def socket(self) -> socket.socket:
        """Returns a packet socket at the host's end. It stays in the namespace in which it was made."""
        found: list[socket.socket] = []

        def opened() -> None:
            # A thread changes only its own namespace.
            with Path(f"/run/netns/{self.namespace}").open() as namespace:
                set_network_namespace(namespace.fileno())
            taken = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            taken.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
            taken.bind(("host", 0))
            found.append(taken)

        thread = threading.Thread(target=opened)
        thread.start()
        thread.join()
        return found[0]


def set_network_namespace(descriptor: int) -> None:
    """Calls setns(2), which Python 3.11 lacks."""
    clone_newnet = 0x40000000
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, clone_newnet):
        raise OSError(ctypes.get_errno(), "setns")


@pytest.fixture
def links(request: pytest.FixtureRequest) -> Iterator[list[Link]]:
    """Makes two links, or as many as the test is parametrized with."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root and `ip` to make veth pairs")
    made: list[Link] = []
    with contextlib.ExitStack() as stack:
        try:
            for _ in range(getattr(request, "param", 2)):
                number = f"{os.getpid() % 100_000}x{next(_numbers)}"
                link = Link(f"sw{number}", f"test-sw{number}")
                ip("netns", "add", link.namespace)
                stack.callback(ip, "netns", "del", link.namespace)
                link.make()
                made.append(link)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no veth pairs here: {error.stderr.strip()}")
        yield made
