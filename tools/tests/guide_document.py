"""docs/guide.md as a program: files to write, commands to run in terminals, and what they print.

A fenced block says in its info string what it is:

    ```yaml file=fabric.yaml        a file in the reader's folder
    ```console                      commands after `$ `, each with its output
    ```console exit=2               its last command ends with this exit code
    ```console on=fabric until="ends"   in a terminal of that name; it goes on. The block ends at this text
    ```console on=fabric            without a `$ `: what that terminal printed since, up to `until` or its end
    ```console signal=INT on=fabric the same, after Ctrl-C in that terminal (or KILL, after `kill -9`)
    ```console loose                every line shown but `...` is printed, in any order, perhaps with others
    ```console needs=openssl        left out where a program is not on PATH
    ```console quiet                what is printed does not matter
    ```console manual               not run

Commands of `eeon` alone run in this process, because each would import for a second; all others run in bash.
`python tools/tests/guide_document.py docs/guide.md` puts in what was printed (`make guide`).
"""

from __future__ import annotations

import getpass
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner
from eeon_control.cli import main as eeon_main

_FENCE = re.compile(r"^```(console|yaml)(?: ([^\n`]*))?\n(.*?)^```$", re.M | re.S)
_REPOSITORY = Path(__file__).resolve().parents[2]
_SECONDS = 60.0  # for anything to happen; the machine may be busy
_EEON = [sys.executable, "-m", "eeon_control"]
# Into a terminal programs print line by line, into a pipe only with some help.
_BASH = [*(["stdbuf", "-oL"] if shutil.which("stdbuf") else []), "bash", "-c"]
_PORTS = (*range(19559, 19563), 19464, 19570, 19090)  # of the guide; each run takes free ones instead

_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?"), "TIME"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "DIGEST"),
    (re.compile(r"\b\d+(?:\.\d+)?m?s\b(?= +(?:ready|\d+\.\d%))"), "SPAN"),
    (re.compile(r"\bpid \d+"), "pid N"),
    (re.compile(r"\bseconds=[\d.]+"), "seconds=N"),
    (re.compile(r"to be confirmed; .* left"), "to be confirmed; TIME left"),
    (re.compile(r"(disconnected switch=\w+) reason=.*"), r"\1 reason"),
    (re.compile(r"\b\d+\.\d+(?:\.\d+)+(?:\.\d+)?\b(?!:)"), "VERSION"),
)
_ANY_ORDER = re.compile(r"\w+: (?:program loaded|written|read back as intended|undone)")


@dataclass
class Block:
    """A fenced block of the document; `start` and `end` are of what is between the fences."""

    kind: str
    words: dict[str, str]
    text: str
    start: int
    end: int

    @property
    def commands(self) -> list[tuple[str, str]]:
        """(command, output below it); a block without `$ ` is one output of no command."""
        parts: list[tuple[str, str]] = []
        lines = iter(self.text.splitlines())
        for line in lines:
            if line.startswith("$ "):
                while line.endswith("\\"):
                    line = f"{line}\n{next(lines)}"
                parts.append((line[2:], ""))
            else:
                command, output = parts.pop() if parts else ("", "")
                parts.append((command, f"{output}{line}\n"))
        return parts or [("", "")]

    def agrees(self, shown: str, printed: str) -> bool:
        """Whether what a command of this block printed is what is shown below it."""
        return "quiet" in self.words or alike(shown, printed, loose="loose" in self.words)


def blocks(document: str) -> list[Block]:
    """All fenced blocks of consoles and files, in order."""
    found = []
    for match in _FENCE.finditer(document):
        words = {
            word.partition("=")[0]: word.partition("=")[2] or "yes" for word in shlex.split(match[2] or "")
        }
        found.append(Block(match[1], words, match[3], match.start(3), match.end(3)))
    return found


def alike(shown: str, printed: str, *, loose: bool) -> bool:
    """Whether two outputs differ only in what differs from run to run."""
    ours, theirs = _settled(shown), _settled(printed)
    if loose:
        return bool(shown.strip()) and set(ours) <= {*theirs, "..."}
    return ours == theirs


def _settled(output: str) -> list[str]:
    lines = []
    for line in output.rstrip().splitlines():
        for pattern, word in _VOLATILE:
            line = pattern.sub(word, line)
        lines.append(re.sub(r"\s+", " ", line).rstrip())  # columns move with what is in them
    settled: list[str] = []
    unordered: list[str] = []
    for line in [*lines, ""]:
        if _ANY_ORDER.fullmatch(line):
            unordered.append(line)
            continue
        settled += [*sorted(unordered), line]
        unordered = []
    return settled[:-1]


@dataclass
class Terminal:
    """A command that goes on while others run, and what it prints."""

    process: subprocess.Popen[str]
    printed: list[str] = field(default_factory=list)
    shown: int = 0

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        self._ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.printed.append(line)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def more(self, until: str | None) -> str:
        """What it printed since the last call, up to a line with `until` and what came at once after it."""

        def is_there() -> bool:
            seen = "".join(self.printed[self.shown :])
            return self._ended or (until is not None and all(text in seen for text in until.split("|")))

        with self._changed:
            if not self._changed.wait_for(is_there, _SECONDS):
                raise AssertionError(f"{until!r} did not come in {_SECONDS:g} s:\n{''.join(self.printed)}")
        time.sleep(0.2)  # lines that belong to the same message
        with self._changed:
            text = "".join(self.printed[self.shown :])
            self.shown = len(self.printed)
        return text


class Reader:
    """Somebody who does what the guide says, in a folder of their own."""

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
        self._tidy = [(str(home), "/home/me"), (str(_REPOSITORY), "/home/me/e-eon"), (user, "me@laptop")]

    def do(self, block: Block) -> list[tuple[str, str, int]] | None:
        """(command, what it printed, exit code) of each command; None where the block is not to be run."""
        needed = block.words.get("needs")
        if "manual" in block.words or (needed is not None and shutil.which(needed) is None):
            return None
        if block.kind == "yaml":
            if "file" in block.words:
                (self.folder / block.words["file"]).write_text(self._inward(block.text), encoding="utf-8")
            return None
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

    def close(self) -> None:
        """End what still runs."""
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
        if text.startswith("eeon ") and not re.search(r"[|<>;&$(]", text):
            words = shlex.split(text.replace("\\\n", " "))[1:]
            with _inside(self.folder, self.environment):
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


@contextmanager
def _inside(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    before, where = dict(os.environ), Path.cwd()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(where)
        os.environ.clear()
        os.environ.update(before)


def _free_ports() -> dict[int, int]:
    """Free TCP ports for those of the guide; neighbours stay neighbours, since `--first-port` counts up."""
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


def refresh(path: Path) -> int:
    """Follow the document and put in what was printed where it differs. How many blocks changed."""
    document = path.read_text(encoding="utf-8")
    pieces, done_to, changed = [], 0, 0
    with tempfile.TemporaryDirectory() as home:
        reader = Reader(Path(home))
        try:
            for block in blocks(document):
                outputs = reader.do(block)
                if outputs is None:
                    continue
                pieces.append(document[done_to : block.start])
                done_to = block.end
                new = "".join(f"$ {command}\n{text}" if command else text for command, text, _ in outputs)
                same = all(
                    block.agrees(shown, printed)
                    for (_, shown), (_, printed, _) in zip(block.commands, outputs, strict=True)
                )
                expected = int(block.words.get("exit", "0"))
                if outputs[-1][2] != expected:
                    print(f"{outputs[-1][0]}: exit code {outputs[-1][2]}, not {expected}:\n{new}")
                pieces.append(block.text if same else new)
                changed += not same
        except AssertionError as error:
            print(f"stopped at line {document.count(chr(10), 0, block.start)}: {error}")
        finally:
            reader.close()
    path.write_text("".join([*pieces, document[done_to:]]), encoding="utf-8")
    return changed


if __name__ == "__main__":
    print(f"{refresh(Path(sys.argv[1]))} blocks changed")
