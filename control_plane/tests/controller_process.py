"""`eeon controller run` as a child process, and its log lines."""

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from waiting import SECONDS

Line = dict[str, object]


class ControllerProcess:
    """A controller, started immediately; `wait_for` reads its log lines in order."""

    def __init__(self, state: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "eeon_control", "controller", "run", "--state", str(state)),
                *("--log-format", "json", *arguments),
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[Line] = []
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._queue.put(line)
        self._queue.put(None)

    def wait_for(
        self, event: str, accept: Callable[[Line], bool] = lambda line: True, **fields: object
    ) -> Line:
        """Returns the next new line of this event with these fields."""
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                text = self._queue.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                text = None
            told = "\n".join(map(str, self.lines))
            assert text is not None, f"no line {event} {fields}:\n{told}"
            line = _parsed(text)
            self.lines.append(line)
            if line["event"] == event and fields.items() <= line.items() and accept(line):
                return line

    def wait_for_all(self, event: str, switches: list[str], **fields: object) -> None:
        """Waits for one such line of every switch, in any order."""
        left = set(switches)
        while left:
            left.discard(
                str(self.wait_for(event, lambda line: line.get("switch") in left, **fields)["switch"])
            )

    def events(self, name: str) -> list[Line]:
        """Returns the lines of one event among those read so far."""
        return [line for line in self.lines if line["event"] == name]

    def read_rest(self) -> list[Line]:
        """Reads all lines up to the end; the process must have ended, or be ending."""
        while (text := self._queue.get(timeout=SECONDS)) is not None:
            self.lines.append(_parsed(text))
        return self.lines

    def __enter__(self) -> "ControllerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.end(signal.SIGKILL)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Sends a signal. Returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(SECONDS)


def _parsed(text: str) -> Line:
    """Parses a log line; other output, such as a traceback or an early error, stays text."""
    try:
        return dict(json.loads(text))
    except ValueError:
        return {"event": "text", "text": text}
