"""A running `eeon-switch` for tests: started like a user's, stopped at the end."""

import contextlib
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from control_plane.tests.bmv2_process import free_port

# Long, because the machine may be busy with other tests.
_SECONDS = 60.0


class SwitchProcess:
    """The process, and the lines that it has printed so far."""

    def __init__(self, *arguments: str, cwd: Path, name: str = "eeon-switch") -> None:
        command = [sys.executable, "-m", "eeon_engine.switch_command", "--as", name, *arguments]
        self.process = subprocess.Popen(
            command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.lines: list[str] = []
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._queue.put(line.rstrip("\n"))
        self._queue.put(None)

    def wait_for(self, text: str) -> str:
        """Returns the next line that contains a text, after those already returned."""
        return self.wait_for_all(text)[0]

    def wait_for_all(self, *texts: str) -> list[str]:
        """Returns the next lines that contain these texts, in any order, after those already returned."""
        found: dict[str, str] = {}
        while len(found) < len(texts):
            line = self._queue.get(timeout=_SECONDS)
            missing = [text for text in texts if text not in found]
            assert line is not None, f"the switch ended before it said {missing}:\n" + "\n".join(self.lines)
            self.lines.append(line)
            found |= {text: line for text in missing if text in line}
        return [found[text] for text in texts]

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Stops the process. Returns the exit status and its whole output."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(_SECONDS)
        while (line := self._queue.get(timeout=_SECONDS)) is not None:
            self.lines.append(line)
        return status, "\n".join(self.lines)


@contextlib.contextmanager
def running(*arguments: str, cwd: Path, name: str = "eeon-switch") -> Iterator[SwitchProcess]:
    """Runs a switch with these arguments; kills it at the end if the test has not stopped it."""
    switch = SwitchProcess(*arguments, cwd=cwd, name=name)
    try:
        yield switch
    finally:
        if switch.process.poll() is None:
            switch.process.kill()
        switch.process.wait(_SECONDS)
        assert switch.process.stdout is not None
        switch.process.stdout.close()


def local_thrift() -> list[str]:
    """Returns options, before the program, that put Thrift on a free local port."""
    return ["--thrift-port", str(free_port())]


def local_grpc() -> list[str]:
    """Returns target arguments that put P4Runtime on a free local port."""
    return ["--", "--grpc-server-addr", "127.0.0.1:0"]
