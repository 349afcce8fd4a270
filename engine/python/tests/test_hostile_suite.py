"""Hostile clients of a running `eeon-switch`, each kind in a separate process, and as another user if tests
run as root. Meanwhile a primary writes, and frames pass.

`make test` runs each attack for about a second, and only checks that every client is served. `make hostile`
runs each for `--hostile-seconds`, and all of them together, with the deadlines in docs/run/security.md.
"""

import contextlib
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from access_probe import credentials_of, files
from finsy.proto import p4d, p4r
from p4rt_client import MODIFY, PATCH, Client, p4info, pipeline, primary
from switch_process import SwitchProcess, running
from test_security_page import MUTUAL_TLS
from test_switch_command import NanomsgPeer
from test_switch_faults import Traffic, packet_counts, switch_at, traffic_through
from veth import Link

from control_plane.tests.bmv2_process import free_port
from control_plane.tests.waiting import wait_until
from ptf_tests.lib.packets import without_ip

pytestmark = pytest.mark.system

MEMORY_LIMIT_MB = 1024
"""Maximum memory of a switch in docs/run/security.md, whatever its clients do."""
WRITE_SECONDS = 1.0
"""Maximum time of a primary's write in the long form, unless the computer is so busy that a write takes a
tenth of it without hostile clients. In the short form, other tests use the processors as well."""
_SHORT_WRITE_SECONDS = 60.0
_SECONDS = 60.0

ATTACKS = [
    "silent_streams",
    "made_up_roles",
    "slow_requests",
    "large_messages",
    "wildcard_reads",
    "slow_readers",
    "calls",
    "gnmi_gets",
    "gnmi_subscriptions",
    "silent_connections",
    "garbage",
    "slow_thrift",
]

SHORT_ATTACKS = ["slow_readers", "gnmi_subscriptions"]
"""The attacks of the short form on veth pairs; a switch without ports has no data for gNMI."""


@dataclass
class Subject:
    """A switch under attack, with its primary."""

    process: SwitchProcess
    grpc_address: str
    thrift_address: str
    primary: Client
    write: p4r.RegisterEntry
    authority: str = ""

    def highest_mb(self) -> float:
        """The peak resident set so far."""
        status = Path(f"/proc/{self.process.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1000


@contextlib.contextmanager
def subject(place: Path, *ports: str) -> Iterator[Subject]:
    """Runs a switch whose frames use nanomsg, or the given ports."""
    grpc_port, thrift_port = free_port(), free_port()
    address = f"127.0.0.1:{grpc_port}"
    with (
        switch_at(place, ["--thrift-port", str(thrift_port)], grpc_port, *ports) as switch,
        primary_at(address, None) as (primary, write),
    ):
        yield Subject(switch, address, f"127.0.0.1:{thrift_port}", primary, write)


@contextlib.contextmanager
def primary_at(
    address: str, credentials: grpc.ChannelCredentials | None
) -> Iterator[tuple[Client, p4r.RegisterEntry]]:
    # The highest election id, so that no attacker becomes primary.
    settings = {"election_id": 2**128 - 1, "credentials": credentials, "stream_timeout_s": 3600}
    with primary(address, pipeline("patch"), **settings) as client:
        register = p4info("patch").registers[0].preamble.id
        yield client, p4r.RegisterEntry(register_id=register, index=p4r.Index(index=9))


@contextlib.contextmanager
def attack(name: str, at: Subject, niceness: int = 0) -> Iterator[None]:
    """Runs an attack on the switch during the block, in a process with this niceness."""
    script = str(Path(__file__).parent / "hostile_client.py")
    command = ["nice", "-n", str(niceness), sys.executable, script, name]
    process = subprocess.Popen(
        [*command, at.grpc_address, at.thrift_address, at.authority],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield
        process.stdin.close()
        assert int(process.stdout.readline()) > 0, f"{name} did nothing, or this test shows nothing"
    finally:
        process.kill()
        process.wait(_SECONDS)
        process.stdout.close()


def written(at: Subject, seconds: float, limit: float) -> float:
    """Writes and reads back repeatedly. Returns the longest time of a write. Fails above the limit."""
    longest, number, end = 0.0, 0, time.monotonic() + seconds
    while number < 5 or time.monotonic() < end:
        number += 1
        at.write.data.CopyFrom(p4d.P4Data(bitstring=(1 + number % 250).to_bytes(1, "big")))
        begin = time.monotonic()
        at.primary.write((MODIFY, at.write))
        longest = max(longest, time.monotonic() - begin)
        assert longest < limit, f"write {number} took {longest:.2f} s"
        assert at.primary.read(at.write) == [at.write]
        time.sleep(0.01)
    return longest


def is_newcomer_served(address: str) -> bool:
    """Returns whether a new client can read; its place may have been given to others."""
    with contextlib.closing(Client(address)) as client, contextlib.suppress(grpc.RpcError):
        answer = client.stub.Capabilities(p4r.CapabilitiesRequest(), timeout=_SECONDS)
        return bool(answer.p4runtime_api_version)
    return False


@pytest.fixture
def seconds(request: pytest.FixtureRequest) -> float:
    return float(request.config.getoption("--hostile-seconds"))


@pytest.fixture
def is_long(seconds: float) -> bool:
    return seconds > 5


@pytest.mark.nightly
def test_the_switch_goes_on_whatever_its_clients_do(tmp_path, seconds, is_long):
    limit = WRITE_SECONDS if is_long else _SHORT_WRITE_SECONDS
    with subject(tmp_path) as at:
        with traffic_through(tmp_path / "p") as traffic:
            before = written(at, seconds, limit)
            # If other processes use the processors, a write takes long without an attack.
            limit = max(limit, 10 * before)
            print(f"without hostile clients: a write took up to {before:.3f} s")
            for name in ATTACKS:
                with attack(name, at):
                    longest = written(at, seconds, limit)
                    wait_until(lambda: is_newcomer_served(at.grpc_address), f"{name} keeps others out")
                    traffic.wait_for_more()
                print(f"{name:20} a write took up to {longest:.3f} s; {at.highest_mb():.0f} MB")
            if is_long:
                with contextlib.ExitStack() as stack:
                    for name in ATTACKS:
                        # Clients on other computers would not use the switch's processors.
                        stack.enter_context(attack(name, at, niceness=19))
                    longest = written(at, seconds, limit)
                    traffic.wait_for_more()
                print(f"all at once: a write took up to {longest:.3f} s; {at.highest_mb():.0f} MB")
            traffic.finish()
        highest = at.highest_mb()
        status, output = at.process.end()
    assert status == 0
    received, sent, dropped = packet_counts(output)
    assert (received, sent) == (traffic.sent, len(traffic.received))
    assert dropped == 0 and traffic.sent == len(traffic.received), "frames were lost"
    assert "Traceback" not in output
    assert highest < MEMORY_LIMIT_MB


class Wires(NanomsgPeer):
    """The hosts' ends of two veth pairs, for `Traffic`."""

    def __init__(self, left: Link, right: Link) -> None:
        self._left, self._right = left.socket(), right.socket()
        self._right.settimeout(0.2)
        # Closing this socket ends `receive_one`.
        self._own, self._other = socket.socketpair()

    def send(self, port: int, frame: bytes) -> None:
        self._left.send(frame)

    def receive_one(self) -> tuple[int, bytes]:
        """Returns the next test frame; kernels also send frames of their own."""
        while True:
            if select.select([self._own], [], [], 0)[0]:
                raise OSError("closed")
            with contextlib.suppress(TimeoutError):
                frame = self._right.recv(2000)
                if frame[12:14] == without_ip(0)[12:14]:
                    return 1, frame

    def shutdown(self) -> None:
        self._other.close()

    def close(self) -> None:
        for one in (self._left, self._right, self._own, self._other):
            one.close()


class PatientTraffic(Traffic):
    """Sends at most a window of frames that have not returned, so that every loss is detected."""

    PATIENCE_SECONDS = _SECONDS


@pytest.mark.nightly
def test_a_switch_on_veth_pairs_loses_no_frame_whatever_its_clients_do(links, tmp_path, seconds, is_long):
    ports = [f"-i {port}@{link.switch}" for port, link in enumerate(links)]
    with subject(tmp_path, *ports, "--log-console") as at:
        for port, link in enumerate(links):
            up = f"port {port}: interface {link.switch}: up"
            if not any(up in line for line in at.process.lines):
                at.process.wait_for(up)
        traffic = PatientTraffic(Wires(*links))
        try:
            traffic.wait_for_more()
            for name in ATTACKS if is_long else SHORT_ATTACKS:
                with attack(name, at):
                    written(at, seconds, _SHORT_WRITE_SECONDS)
                    traffic.wait_for_more()
                print(f"{name:20} {traffic.sent} frames sent over veth, {len(traffic.received)} back")
            traffic.finish()
        finally:
            traffic.close()
    # In order, each once.
    assert traffic.received == list(range(traffic.sent))


def test_a_switch_with_tls_goes_on_whatever_strangers_do(folder, seconds, is_long):
    address = f"127.0.0.1:{free_port()}"
    arguments = ["--packet-in", f"ipc://{folder}/p", "--device-id", "1", str(PATCH)]
    credentials = credentials_of(files(folder, "controller"))
    limit = WRITE_SECONDS if is_long else _SHORT_WRITE_SECONDS
    with running(*arguments, "--", "--grpc-server-addr", address, *MUTUAL_TLS, cwd=folder) as switch:
        switch.wait_for("Server listening on ")
        with primary_at(address, credentials) as (primary, write):
            at = Subject(switch, address, "", primary, write, *files(folder))
            for name in ("handshakes", "silent_connections", "garbage", "silent_streams", "calls"):
                with attack(name, at):
                    longest = written(at, seconds, limit)
                print(f"{name:20} a write took up to {longest:.3f} s; {at.highest_mb():.0f} MB")
            highest = at.highest_mb()
    assert highest < MEMORY_LIMIT_MB
