"""veth pairs between the switch under test and ptf, removed in any case. Linux and root only.

The even end of each pair is the switch's, the odd one ptf's. Names contain this process's id, for concurrent
runs. IPv6 is off, so that the kernel sends no packets of its own; offloads are off.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

MTU_BYTES = 9_500
_OFFLOADS = ("rx", "tx", "sg", "tso", "gso", "gro", "rxvlan", "txvlan")


class Refused(Exception):
    """`ip` or `ethtool` failed. The text is its output."""


def why_impossible() -> str | None:
    """Returns why pairs cannot be created here, or None if they can."""
    if not sys.platform.startswith("linux"):
        return "veth pairs are Linux's"
    missing = [tool for tool in ("ip", "ethtool") if shutil.which(tool) is None]
    if missing:
        return f"{' and '.join(missing)} not on PATH"
    if os.geteuid() != 0:
        return "veth pairs need root"
    try:
        # Root in a container may lack the permission.
        with pairs((0,)):
            return None
    except (Refused, OSError) as error:
        return f"no veth pair can be made: {error}"


@contextmanager
def pairs(ports: Sequence[int]) -> Iterator[dict[int, tuple[str, str]]]:
    """Creates a pair for each port: the switch's end and ptf's. Raises Refused or OSError."""
    ends = {port: (f"ep{os.getpid()}n{2 * port}", f"ep{os.getpid()}n{2 * port + 1}") for port in ports}
    made = []
    try:
        for switch, test in ends.values():
            _run("ip", "link", "add", switch, "mtu", str(MTU_BYTES), "type", "veth", "peer", "name", test)
            made.append(switch)
            _run("ip", "link", "set", test, "mtu", str(MTU_BYTES))
            for name in (switch, test):
                ipv6 = Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6")
                if ipv6.exists():
                    ipv6.write_text("1")
                _run("ethtool", "-K", name, *(word for one in _OFFLOADS for word in (one, "off")))
                _run("ip", "link", "set", name, "up")
        yield ends
    finally:
        for switch in made:
            subprocess.run(("ip", "link", "del", switch), check=False, stderr=subprocess.DEVNULL)


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(f"{' '.join(command)}: {done.stderr.strip()}")
