"""Runs the commands of docs/run/show.md on real switches. `python show_document.py` updates the page.

Frames of two hosts of leaf1 to one host of leaf2 are carried through the engine's switches, at twice the rate
of its link, so that its queue marks and overflows; the answers go back. Virtual time makes each output
deterministic, except those over an interval (`--rate`): these come from a live fabric, and only their
headings are compared.
"""

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from carried_frames import Running
from eeon_command import eeon, place
from eeon_control import topology
from eeon_control.routing import Flow

from ptf_tests.lib.packets import of_flow

PAGE = Path(__file__).resolve().parents[2] / "docs" / "run" / "show.md"
_BLOCK = re.compile(r"(^```console\n\$ )(eeon [^\n]*)\n(.*?)(?=^```)", re.MULTILINE | re.DOTALL)
_CHANGING = re.compile(r"--rate")

FRAMES = 300
_FRAME_PS = 1514 * 8000  # at 1 Gbit/s
_END_PS = 10**12


def blocks(text: str) -> list[tuple[str, str]]:
    """Returns each command with its output."""
    return [(command, shown) for _, command, shown in _BLOCK.findall(text)]


def agree(command: str, shown: str, printed: str) -> bool:
    """Returns whether the page agrees with the output; only headings are compared if it varies."""
    if not _CHANGING.search(command):
        return shown == printed
    return headings(shown) == headings(printed)


def headings(output: str) -> list[str]:
    """Returns the words of the lines without numbers, down to the first row."""
    lines = output.splitlines()
    rows = [number for number, line in enumerate(lines) if re.match(r"leaf|spine|\d", line)]
    return [word for line in lines[: rows[0]] if not re.search(r"\d", line) for word in line.split()]


@contextlib.contextmanager
def fabric() -> Iterator[Running]:
    """Provides the commands with four switches that have carried the frames."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(mock.patch.dict(os.environ, {"XDG_STATE_HOME": str(folder / "state")}))
        os.environ.pop("EEON_STATE", None)
        running = Running(topology.load("leaf-spine-4"), stack)
        options = " ".join(place(folder, running.targets))
        typed(f"eeon config apply -c mark_threshold -c eee_120us100 {options}")
        carry(running)
        yield running


def carry(running: Running) -> None:
    """Carries the frames switch by switch: a frame that leaves one arrives at the next after its link."""
    hosts, begin_ps = running.topology.hosts, running.now_ps
    running.now_ps += 2 * _END_PS
    h1, h2, h3 = hosts["h1"], hosts["h2"], hosts["h3"]
    arriving: dict[str, list[tuple[int, int, bytes]]] = {name: [] for name in running.switches}
    for source, port in ((h1, 40000), (h2, 40001)):
        data = of_flow(source, h3, Flow(6, port, 5000), 4, payload=1460)
        arriving["leaf1"] += [
            (begin_ps + n * _FRAME_PS, source.port.peer.port, data) for n in range(1, FRAMES + 1)
        ]
    for name in ("leaf1", "spine1", "spine2", "leaf2"):
        pass_on(running, name, arriving)
    ack = of_flow(h3, h1, Flow(6, 5000, 40000), 4)
    arriving["leaf2"] = [
        (begin_ps + _END_PS + n * _FRAME_PS, h3.port.peer.port, ack) for n in range(1, FRAMES + 1)
    ]
    for name in ("leaf2", "spine1", "spine2", "leaf1"):
        pass_on(running, name, arriving)


def pass_on(running: Running, name: str, arriving: dict[str, list[tuple[int, int, bytes]]]) -> None:
    switch = running.switches[name]
    frames, arriving[name] = sorted(arriving[name]), []
    sent = []
    for time_ps, port, frame in frames:
        sent += switch.advance_to(time_ps - 1)
        switch.inject(port, frame, time_ps)
    if frames:
        sent += switch.advance_to(frames[-1][0] + _END_PS // 2)
    for time_ps, port, frame in sent:
        link = running.topology.port(f"{name}:{port}")
        if link.peer.node in arriving:
            arriving[link.peer.node].append((time_ps + int(link.delay), link.peer.port, frame))


def typed(command: str) -> str:
    """Returns the output of a command in a pipe of 200 columns, without trailing blanks."""
    output = eeon(*command.split()[1:]).output
    home = re.sub(r"/\S*/(?=eeon-show/)", "/home/me/.local/state/", output)
    return "".join(f"{line.rstrip()}\n" for line in home.splitlines())


def renewed(block: re.Match[str]) -> str:
    """Returns a block with the command's present output, if that differs."""
    begin, command, shown = block.groups()
    printed = typed(command)
    if agree(command, shown, printed):
        return block[0]
    if _CHANGING.search(command):
        print(f"{command}: headings differ; take its output from a live fabric:\n{printed}")
        return block[0]
    print(f"{command}: updated")
    return f"{begin}{command}\n{printed}"


if __name__ == "__main__":
    with fabric():
        PAGE.write_text(_BLOCK.sub(renewed, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
