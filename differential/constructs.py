"""Run the constructs' scripts on BMv2's simple_switch, to see that it does what they expect of the engine.

    python3 -m differential.constructs              every script, and that of the probe program
    python3 -m differential.constructs a b          a.script and b.script

The scripts are in engine/simple_switch/tests/constructs; README.md there describes their language. They
contain the results of BMv2 1.15.5. Lines after `# engine only` are skipped here, as is a script that begins
with this line. Needs `simple_switch` on PATH, and `simple_switch_CLI` beside this Python or on PATH.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .bmv2 import Bmv2, Ended

FOLDER = Path(__file__).resolve().parents[1] / "engine/simple_switch/tests/constructs"
ENGINE_ONLY = "# engine only"
OWN_CLI = shutil.which("simple_switch_CLI", path=str(Path(sys.executable).parent))
CLI = [sys.executable, OWN_CLI] if OWN_CLI else ["simple_switch_CLI"]


class Mismatch(Exception):
    """The switch's behaviour differs from the script's expectation."""


class Run:
    """One script on the first `simple_switch` on PATH: its log, and the frames that left by port."""

    def __init__(self, script: Path) -> None:
        """Runs the whole script. Raises a Mismatch, or Ended if the switch stops."""
        text = script.read_text(encoding="utf-8").split(ENGINE_ONLY)[0]
        lines = [line for line in (line.split("#")[0].strip() for line in text.splitlines()) if line]
        self.sent: dict[int, list[str]] = {}
        self.expected: dict[int, list[str]] = {}
        self._told: list[str] = []
        with tempfile.TemporaryDirectory() as folder:
            options = ["--log-file", f"{folder}/switch.log", "--log-flush"]
            self._switch = Bmv2(script.with_suffix(".json"), options=options)
            try:
                for line in lines:
                    self._do(line)
            finally:
                self._switch.close()
            self.log = (Path(folder) / "switch.log.txt").read_text(errors="replace")

    def _do(self, line: str) -> None:
        keyword, _, rest = line.partition(" ")
        place, _, data = rest.partition(" ")
        if keyword == "packet":
            self.expected.setdefault(int(place), [])
            self._switch.send(int(place), bytes.fromhex(data))
            for port, frame in self._switch.surplus():
                self.sent.setdefault(port, []).append(frame.hex())
        elif keyword == "expect":
            self.expected.setdefault(int(place), []).append(data.replace(" ", ""))
        elif keyword == "check":
            self._check(place, data)
        else:
            self._command(line)

    def _command(self, line: str) -> str:
        """Returns the CLI's answer; raises a Mismatch if it prints an error."""
        command = [*CLI, "--thrift-port", str(self._switch.thrift_port)]
        run = subprocess.run(command, input=line + "\n", capture_output=True, text=True, timeout=60)
        if run.returncode != 0:
            raise Mismatch(f"simple_switch_CLI fails: {run.stderr.strip()[-300:]}")
        answer = run.stdout.split("RuntimeCmd:", 1)[-1]
        if re.search(r"\b(Error|Invalid|Unknown)\b", answer):
            raise Mismatch(f"{line}: {answer.strip()}")
        return answer

    def _check(self, what: str, rest: str) -> None:
        if what == "log":
            # A line may come after the packet.
            self._told.append(rest)
            return
        name, index, *expected = rest.split()
        answer = self._command(f"{what}_read {name} {index}").split("]=", 1)[-1].split("RuntimeCmd")[0]
        numbers = re.findall(r"\d+", answer)
        if numbers != expected:
            raise Mismatch(f"{what} {name}[{index}] is {numbers}, expected {expected}")

    def compare(self) -> None:
        """Raises a Mismatch if a port has sent other frames than it should, or the log lacks a line."""
        for port, patterns in self.expected.items():
            frames = self.sent.get(port, [])
            if len(frames) != len(patterns) or not all(map(is_like, frames, patterns)):
                raise Mismatch(f"port {port} sent {frames}, expected {patterns}")
        for text in self._told:
            if not any(line.endswith(text) for line in self.log.splitlines()):
                raise Mismatch(f"log: no line ends with {text!r}")


def is_like(frame: str, pattern: str) -> bool:
    """Returns whether a frame matches: `*` is any digit, `$` ends the pattern."""
    whole = pattern.endswith("$")
    digits = pattern.rstrip("$").lower()
    fits = len(frame) == len(digits) if whole else len(frame) >= len(digits)
    return fits and all(want in ("*", got) for want, got in zip(digits, frame, strict=False))


def main() -> int:
    """Runs the scripts. Returns the exit status: 1 if some script differs."""
    scripts = [*FOLDER.glob("*.script"), FOLDER.parent / "p4/probe.script"]
    known = {script.stem: script for script in sorted(scripts, key=lambda script: script.stem)}
    parser = argparse.ArgumentParser(description="Run the constructs' scripts on simple_switch.")
    parser.add_argument("construct", nargs="*", metavar="CONSTRUCT", help="all of them by default")
    names = parser.parse_args().construct or list(known)
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"no script of {', '.join(unknown)} here; there are {', '.join(known)}")
    failed = False
    for name in names:
        if known[name].read_text(encoding="utf-8").startswith(ENGINE_ONLY):
            print(f"skipped: {name}: for the engine only")
            continue
        try:
            Run(known[name]).compare()
            print(f"as expected: {name}")
        except (Mismatch, Ended) as mismatch:
            failed = True
            print(f"DIFFERS: {name}: {mismatch}")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
