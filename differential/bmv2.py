"""BMv2's simple_switch as one of the two sides: a process with frames over nanomsg and calls over Thrift."""

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from finsy.proto import p4i
from thriftpy2.thrift import TException

from control_plane.tests.bmv2_process import free_port
from ptf_tests.lib.p4rt_session import DEVICE_ID, Failed

from .nanomsg import Pair
from .p4runtime import SERVICE, P4RuntimeClient
from .thrift import Call, Client

START_TIMEOUT_SECONDS = 30.0
OUTPUT_TIMEOUT_SECONDS = 4.0
"""Maximum time for a frame that the engine has sent, before the state of BMv2's threads is checked."""
REST_TIMEOUT_SECONDS = 60.0
"""Maximum time for BMv2 to come to rest; the machine may be busy."""
BETWEEN_LOOKS_SECONDS = 0.0005
QUEUE_DEPTH_PACKETS = 100_000

_OF_THREADS = ("State:", "voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:")


class Ended(RuntimeError):
    """simple_switch has ended by itself."""


def why_not(target: str = "simple_switch") -> str | None:
    """Returns why BMv2 cannot be used here; None if it can."""
    if shutil.which(target) is None:
        return f"{target} is not on PATH: install BMv2 (https://github.com/p4lang/behavioral-model)"
    return None


def version() -> str:
    """Returns the output of `simple_switch --version`."""
    run = subprocess.run(["simple_switch", "--version"], capture_output=True, text=True, timeout=30)
    return run.stdout.strip()


class Bmv2:
    """A running switch with one program."""

    def __init__(self, program: Path, info: p4i.P4Info | None = None, options: Sequence[str] = ()) -> None:
        """Starts simple_switch, or with a P4Info simple_switch_grpc, with pipeline and requests over
        P4Runtime."""
        self._folder = tempfile.TemporaryDirectory(prefix="differential-")
        folder = Path(self._folder.name)
        port = self.thrift_port = free_port()
        name = "simple_switch" if info is None else "simple_switch_grpc"
        command = [name, *options, "--packet-in", f"ipc://{folder}/packets", "--thrift-port", str(port)]
        command += ["--notifications-addr", f"ipc://{folder}/notifications"]
        if info is None:
            command.append(str(program))
        else:
            command += ["--no-p4", "--device-id", str(DEVICE_ID)]
            command += ["--", "--grpc-server-addr", f"unix:{folder}/p4runtime"]
        self._log = folder / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while not self._answers(port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                text = self._log.read_text(errors="replace")[-2000:]
                self._process.kill()
                raise Ended(f"{name} does not start with {program}: {text}")
            time.sleep(0.02)
        self._pair = Pair(folder / "packets")
        self._p4runtime: P4RuntimeClient | None = None
        if info is not None:
            try:
                self._p4runtime = P4RuntimeClient(f"unix:{folder}/p4runtime", info, program.read_bytes())
            except (Failed, TimeoutError) as error:
                self._process.kill()
                raise self._ended(str(error)) from error

    def _answers(self, port: int) -> bool:
        # Its Thrift server listens before it has the service simple_switch.
        with contextlib.suppress(OSError, TException):
            self._client = Client(f"127.0.0.1:{port}")
            depths = Call("simple_switch", "set_all_egress_queue_depths", (QUEUE_DEPTH_PACKETS,))
            if self._client.make(depths) == 0:
                return True
            self._client.close()
        return False

    def close(self) -> None:
        """Ends the process."""
        if self._p4runtime is not None:
            self._p4runtime.close()
        self._client.close()
        self._pair.close()
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()

    def control(self, call: Call) -> object:
        """Returns the answer to a call."""
        try:
            if call.service == SERVICE:
                assert self._p4runtime is not None, "a subject with a P4Info"
                return self._p4runtime.make(call)
            return self._client.make(call)
        except Exception as error:
            raise self._ended(f"{call}: {error}") from error

    def packet(self, port: int, frame: bytes, expected: int) -> list[tuple[int, bytes]]:
        """Returns the frames that leave after one has arrived, as (port, frame); waits for the expected
        number."""
        self.send(port, frame)
        frames = self.receive(expected, OUTPUT_TIMEOUT_SECONDS)
        return frames if len(frames) >= expected else frames + self.surplus()

    def send(self, port: int, frame: bytes) -> None:
        """Sends a frame that arrives at a port; `receive` returns the frames that leave."""
        try:
            self._pair.send(port, frame)
        except OSError as error:
            raise self._ended(str(error)) from error

    def receive(self, expected: int, seconds: float) -> list[tuple[int, bytes]]:
        """Returns the frames that have left, as (port, frame); waits up to `seconds` for those expected."""
        try:
            return self._pair.receive(expected, seconds)
        except OSError as error:
            raise self._ended(str(error)) from error

    def surplus(self) -> list[tuple[int, bytes]]:
        """Returns the further frames that leave until BMv2 is idle.

        It is idle if every thread sleeps and none has run between two checks: a thread that passes a frame on
        wakes the next one before it sleeps. On a loaded machine, no time without output proves as much.
        """
        deadline = time.monotonic() + REST_TIMEOUT_SECONDS
        before: list[tuple[str, ...]] = []
        while time.monotonic() < deadline:
            threads = self._threads()
            if threads == before and all(state.startswith("S") for state, *_ in threads):
                return self.receive(0, 0)
            before = threads
            time.sleep(BETWEEN_LOOKS_SECONDS)
        raise self._ended(f"does not come to rest in {REST_TIMEOUT_SECONDS:.0f} s")

    def _threads(self) -> list[tuple[str, ...]]:
        """Returns the state of each thread, and its numbers of sleeps and interruptions."""
        found = []
        for thread in sorted(Path(f"/proc/{self._process.pid}/task").glob("*/status")):
            # A thread may end in between, and does so when the process ends.
            with contextlib.suppress(OSError):
                lines = thread.read_text().splitlines()
                found.append(tuple(line.partition("\t")[2] for line in lines if line.startswith(_OF_THREADS)))
        if not found:
            raise self._ended("has no threads")
        return found

    def _ended(self, what: str) -> Ended:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        text = self._log.read_text(errors="replace")[-500:]
        return Ended(f"{what}; exit status {self._process.poll()}; {text}")
