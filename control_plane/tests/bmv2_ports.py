"""Interfaces for the ports of BMv2 switches."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest


def skip_without_bmv2_on_interfaces() -> None:
    """Skips the test if BMv2 cannot have ports."""
    if shutil.which("simple_switch_grpc") is None:
        pytest.skip("simple_switch_grpc (BMv2) is not on PATH")
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("BMv2's ports need interfaces, which need root and `ip`")


@contextlib.contextmanager
def veth_pairs(count: int) -> Iterator[list[tuple[str, str]]]:
    """Yields pairs of interfaces, all up; without IPv6, so that Linux sends no packets of its own."""
    names = [f"eeon{os.getpid() % 100_000}n{number}" for number in range(count)]
    made = []
    try:
        for name in names:
            subprocess.run(
                ("ip", "link", "add", name, "type", "veth", "peer", "name", f"{name}x"), check=True
            )
            made.append(name)
            for end in (name, f"{name}x"):
                subprocess.run(("ip", "link", "set", end, "addrgenmode", "none", "up"), check=True)
        yield [(name, f"{name}x") for name in names]
    finally:
        for name in made:
            subprocess.run(("ip", "link", "delete", name), check=True)
