"""A member whose watched port loses its link, with `eeon-switch` and veth pairs. Skipped without root."""

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from finsy.proto import p4r
from made_frames import frame
from p4rt_client import INSERT, Names, lpm, one_shot, pipeline, primary
from switch_process import local_grpc, local_thrift, running
from veth import Link, ip

pytestmark = pytest.mark.system

SECONDS = 60.0
FRAMES = 32


@contextlib.contextmanager
def engine(links: list[Link], folder: Path) -> Iterator[str]:
    interfaces = [f"-i {port}@{link.switch}" for port, link in enumerate(links)]
    arguments = [*interfaces, "--no-p4", "--device-id", "1", "--log-console", *local_thrift(), *local_grpc()]
    with running(*arguments, cwd=folder) as switch:
        switch.wait_for("Server listening")
        yield next(line for line in switch.lines if "Server listening" in line).rpartition(" ")[2]
        assert switch.end()[0] == 0


def spread(left: socket.socket, right: list[socket.socket]) -> list[int]:
    """Returns the number of frames with different keys that leave on each port."""
    for key in range(FRAMES):
        left.send(frame(0x0A000000 + key * 7919))
    found, end = [0 for _ in right], time.monotonic() + 1
    while sum(found) < FRAMES and time.monotonic() < end:
        for at, receiver in enumerate(right):
            with contextlib.suppress(BlockingIOError, OSError):
                while True:
                    found[at] += receiver.recv(2048)[12:14] == b"\x12\x34"
        time.sleep(0.01)
    return found


@pytest.mark.parametrize("links", [3], indirect=True)
@pytest.mark.parametrize("end", ["own", "other"])
def test_an_interface_without_a_link_leaves_the_selection_until_it_has_one(
    end: str, links: list[Link], names: Names, tmp_path: Path
) -> None:
    with engine(links, tmp_path) as address, contextlib.ExitStack() as stack:
        client = stack.enter_context(primary(address, pipeline()))
        actions = one_shot((names.action("forward", 1), 1), (names.action("forward", 2), 1))
        for port, action in enumerate(actions.action_profile_action_set.action_profile_actions, 1):
            action.watch_port = bytes([port])
        entry = names.entry("lpm_table", lpm(1, 0x0A000000, 8), action=actions)
        client.write((INSERT, entry))
        left, *right = (stack.enter_context(link.socket()) for link in links)
        for receiver in right:
            receiver.setblocking(False)

        def wait_for(wanted: Callable[[int, int], bool]) -> None:
            end, found = time.monotonic() + SECONDS, [0, 0]
            while time.monotonic() < end:
                found = spread(left, right)
                if sum(found) == FRAMES and wanted(*found):
                    return
            pytest.fail(f"{FRAMES} frames, and by ports 1 and 2 left {found}")

        wait_for(lambda one, two: one > 0 and two > 0)
        interface = ("link", "set", links[2].switch)
        if end == "other":
            interface = ("-n", links[2].namespace, "link", "set", "host")
        ip(*interface, "down")
        wait_for(lambda one, two: one == FRAMES)
        assert client.read(p4r.TableEntry(table_id=names["lpm_table"])) == [entry]
        ip(*interface, "up")
        wait_for(lambda one, two: one > 0 and two > 0)
