"""A reader of the guide: terminals, its own folder and home, free TCP ports."""

import getpass
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from unittest.mock import patch

from click.testing import CliRunner
from eeon_control import data
from eeon_control.cli import main as eeon_main
from guide_document import Block

_REPOSITORY = Path(__file__).resolve().parents[2]
_COLUMNS = "80"
_SECONDS = 60.0  # for any event; the machine may be busy
_EEON = [sys.executable, "-m", "eeon_control"]
# Programs print line by line only into a terminal; into a pipe they need stdbuf.
_BASH = [*(["stdbuf", "-oL"] if shutil.which("stdbuf") else []), "bash", "-c"]
_PORTS = (*range(19559, 19563), 19464, 19570)  # of the guide; each run takes free ones instead


@dataclass
class Terminal:
    """A command that runs while others run, and its output."""

    process: subprocess.Popen[str]
    printed: list[str] = field(default_factory=list)
    shown: int = 0

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        self._ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            with self._changed:
                self.printed.append(line)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def more(self, until: str | None) -> str:
        """Returns the output since the last call, up to a line with `until` and lines directly after it."""

        def is_there() -> bool:
            seen = "".join(self.printed[self.shown :])
            return self._ended or (until is not None and all(text in seen for text in until.split("|")))

        with self._changed:
            if not self._changed.wait_for(is_there, _SECONDS):
                raise AssertionError(f"{until!r} did not come in {_SECONDS:g} s:\n{''.join(self.printed)}")
        time.sleep(0.2)  # further lines of the same message
        with self._changed:
            text = "".join(self.printed[self.shown :])
            self.shown = len(self.printed)
        return text


class Reader:
    """A reader who follows the guide in a folder of their own."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "fabric"
        self.folder.mkdir()
        self.terminals: dict[str, Terminal] = {}
        keep = {name: value for name, value in os.environ.items() if not name.startswith(("EEON", "XDG"))}
        self.environment = keep | {
            "HOME": str(home),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        }
        self._ports = _free_ports()
        user = f"{getpass.getuser()}@{socket.gethostname()}"
        self._tidy = [
            (str(data.folder("examples")), "/home/me/e-eon/control_plane/examples"),  # or installed
            (str(_REPOSITORY), "/home/me/e-eon"),
            (str(home), "/home/me"),
            (user, "me@laptop"),
        ]

    def do(self, block: Block) -> list[tuple[str, str, int]] | None:
        """Returns (command, output, exit code) of each command; None if the block is not to be run."""
        needed = block.words.get("needs")
        if "manual" in block.words or (needed is not None and shutil.which(needed) is None):
            return None
        if block.kind == "yaml":
            if "file" in block.words:
                (self.folder / block.words["file"]).write_text(self._inward(block.text), encoding="utf-8")
            return None
        if "in" in block.words:
            source = _REPOSITORY / block.words["in"]
            self.folder = shutil.copytree(source, self.folder / source.name)
        # The terminal has the usual width, or more where a table contains the machine's name.
        self.environment["COLUMNS"] = block.words.get("columns", _COLUMNS)
        name = block.words.get("on")
        if name is None:
            return [(command, *self._run(command)) for command, _ in block.commands]
        (command, _), *others = block.commands
        assert not others, "one command a terminal"
        if command:
            self.terminals[name] = Terminal(self._start(command))
        terminal, until = self.terminals[name], block.words.get("until")
        if "signal" in block.words:
            os.kill(terminal.process.pid, signal.Signals[f"SIG{block.words['signal']}"])
        printed = self._outward(terminal.more(until))
        return [(command, printed, 0 if until else terminal.process.wait(_SECONDS))]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the commands that still run."""
        for terminal in self.terminals.values():
            if terminal.process.poll() is None:
                terminal.process.send_signal(signal.SIGINT)
        for terminal in self.terminals.values():
            try:
                terminal.process.wait(20)
            except subprocess.TimeoutExpired:
                terminal.process.kill()

    def _run(self, command: str) -> tuple[str, int]:
        text = self._inward(command)
        # `exec` would replace this process by another program.
        if re.match(r"eeon (?!fabric exec )[^|<>;&$(]*$", text):
            words = shlex.split(text.replace("\\\n", " "))[1:]
            with chdir(self.folder), patch.dict(os.environ, self.environment, clear=True):
                done = CliRunner().invoke(eeon_main, words, prog_name="eeon")
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                raise done.exception
            return self._outward(done.output), done.exit_code
        process = self._start(command)
        output, _ = process.communicate(timeout=_SECONDS)
        return self._outward(output), process.returncode

    def _start(self, command: str) -> subprocess.Popen[str]:
        text = self._inward(command)
        simple = text.startswith("eeon ") and not re.search(r"[|<>;&$(]", text)
        words = [*_EEON, *shlex.split(text.replace("\\\n", " "))[1:]] if simple else [*_BASH, text]
        return subprocess.Popen(
            words,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _inward(self, text: str) -> str:
        for ours, theirs in self._ports.items():
            text = re.sub(rf"(?<!\d){ours}(?!\d)", str(theirs), text)
        return text

    def _outward(self, text: str) -> str:
        for ours, theirs in self._ports.items():
            text = re.sub(rf"(?<!\d){theirs}(?!\d)", str(ours), text)
        for found, word in self._tidy:
            text = text.replace(found, word)
        return "".join(f"{line.rstrip()}\n" for line in text.splitlines()).lstrip("\n")


def _free_ports() -> dict[int, int]:
    """Returns free TCP ports for the guide's; consecutive ones stay consecutive, for `--first-port`."""
    for _ in range(100):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            first = int(taken.getsockname()[1])
        ports = range(first, first + len(_PORTS))
        if ports.stop <= 65536 and all(_is_free(port) for port in ports):
            return dict(zip(_PORTS, ports, strict=True))
    raise AssertionError("no free TCP ports")


def _is_free(port: int) -> bool:
    with socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
