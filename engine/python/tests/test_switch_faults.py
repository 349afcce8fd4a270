"""Faults around a running `eeon-switch` while frames pass through it: it continues, and every frame is
accounted for.

A peer sends numbered frames through BMv2's nanomsg socket; the frames that return and the switch's final
counts must add up. Faults of interfaces are in `test_switch_interfaces.py`, large numbers of hostile messages
in `test_p4rt_hostile.py` and `test_thrift_hostile.py`.
"""

import contextlib
import re
import signal
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from finsy.proto import p4r
from p4rt_client import COMMIT, PATCH, Client, Failed, pipeline, primary
from switch_process import SwitchProcess, local_thrift, running
from test_switch_command import NanomsgPeer
from thrift_client import ThriftClient

from control_plane.tests.bmv2_process import free_port
from ptf_tests.lib.packets import without_ip

pytestmark = pytest.mark.system

SECONDS = 60.0
_QUIET_SECS = 1.0
_FRAME = struct.Struct("!I")


class Traffic:
    """Sends frames to port 0, in windows, until it is stopped, and receives those that return on port 1."""

    WINDOW = 64
    PATIENCE_SECONDS = 0.05
    """Time after which frames that have not returned count as dropped, and the window moves on."""

    def __init__(self, peer: NanomsgPeer) -> None:
        self.sent = 0
        self.received: list[int] = []
        self._ends: list[BaseException] = []
        self._peer = peer
        self._stop = threading.Event()
        self._moved = threading.Condition()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()

    @contextlib.contextmanager
    def _until_closed(self) -> Iterator[None]:
        try:
            yield
        except (OSError, AssertionError) as end:  # A closed socket ends both threads.
            self._ends.append(end)

    def _send(self) -> None:
        with self._until_closed():
            while not self._stop.is_set():
                # Dropped frames never return; the window moves on after a while.
                with self._moved:
                    self._moved.wait_for(
                        lambda: self.sent - len(self.received) < self.WINDOW, self.PATIENCE_SECONDS
                    )
                for _ in range(self.WINDOW // 2):
                    self._peer.send(0, without_ip(self.sent))
                    self.sent += 1

    def _receive(self) -> None:
        with self._until_closed():
            while True:
                port, frame = self._peer.receive_one()
                assert port == 1
                with self._moved:
                    self.received.append(_FRAME.unpack_from(frame, 14)[0])
                    self._moved.notify_all()

    def wait_for_more(self, frames: int = 500) -> None:
        """Waits until `frames` more have returned."""
        with self._moved:
            goal = len(self.received) + frames
            came = self._moved.wait_for(lambda: len(self.received) >= goal, SECONDS)
            assert came, f"{len(self.received)} of {self.sent} came back; threads ended by {self._ends}"

    def finish(self) -> None:
        """Stops sending, and waits until no more frames return."""
        self._stop.set()
        self._threads[0].join(SECONDS)
        with self._moved:
            while self._moved.wait(_QUIET_SECS):
                pass

    def close(self) -> None:
        """Ends the connection."""
        self._stop.set()
        self._peer.shutdown()
        for thread in self._threads:
            thread.join(SECONDS)
        self._peer.close()


@contextlib.contextmanager
def traffic_through(path: Path) -> Iterator[Traffic]:
    traffic = Traffic(NanomsgPeer(path))
    try:
        traffic.wait_for_more()
        yield traffic
    finally:
        traffic.close()


@contextlib.contextmanager
def switch_at(folder: Path, options: list[str], grpc_port: int, *ports: str) -> Iterator[SwitchProcess]:
    """Runs a switch whose frames use nanomsg, or the given ports."""
    ports = ports or ("--packet-in", f"ipc://{folder}/p")
    target = ["--", "--grpc-server-addr", f"127.0.0.1:{grpc_port}"]
    with running(*ports, "--device-id", "1", *options, str(PATCH), *target, cwd=folder) as switch:
        switch.wait_for("Server listening on ")
        yield switch


def packet_counts(output: str) -> tuple[int, int, int]:
    """Returns the frames received, sent and dropped for any reason, from the switch's final output."""
    line = next(line for line in reversed(output.splitlines()) if "received=" in line)
    counts = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", line)}
    lost = sum(count for name, count in counts.items() if name.startswith(("drops_", "tx_")))
    return counts["received"], counts["sent"], lost


def test_a_switch_that_was_killed_comes_back_clean_on_the_same_addresses(tmp_path):
    thrift_options, port = local_thrift(), free_port()
    with (
        switch_at(tmp_path, thrift_options, port) as first,
        traffic_through(tmp_path / "p"),
        primary(f"127.0.0.1:{port}", pipeline("patch")),
    ):
        first.process.kill()
        assert first.process.wait(SECONDS) == -signal.SIGKILL
    assert (tmp_path / "p").exists(), "nobody could tidy up, or this test shows nothing"
    with switch_at(tmp_path, thrift_options, port) as second:
        with traffic_through(tmp_path / "p") as traffic:
            client = Client(f"127.0.0.1:{port}")
            # No client is primary any more, and the pushed pipeline is gone.
            assert client.arbitrate(election_id=1).status.code == 0
            with pytest.raises(Failed, match="No forwarding pipeline"):
                client.read(p4r.TableEntry())
            client.push(COMMIT, pipeline("patch"))
            traffic.wait_for_more()
            traffic.finish()
            client.close()
        status, output = second.end()
    assert status == 0
    assert packet_counts(output)[:2] == (traffic.sent, len(traffic.received))
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("interface", ["thrift", "p4runtime"])
def test_every_frame_of_a_swap_under_load_has_passed_or_is_counted(tmp_path, interface):
    thrift_options, port = local_thrift(), free_port()
    with switch_at(tmp_path, thrift_options, port) as switch:
        with traffic_through(tmp_path / "p") as traffic:
            thrift, client = ThriftClient(f"127.0.0.1:{thrift_options[1]}"), Client(f"127.0.0.1:{port}")
            client.arbitrate()
            for _ in range(15):
                if interface == "thrift":
                    thrift.standard.bm_load_new_config(PATCH.read_text())
                    thrift.standard.bm_swap_configs()
                else:
                    client.push(COMMIT, pipeline("patch"))
                traffic.wait_for_more(100)
            traffic.finish()
            client.close()
            thrift.close()
        status, output = switch.end()
    assert status == 0
    received, sent, dropped = packet_counts(output)
    assert received == traffic.sent
    assert sent == len(traffic.received)
    assert received == sent + dropped
    # In order, none twice.
    assert traffic.received == sorted(set(traffic.received))
