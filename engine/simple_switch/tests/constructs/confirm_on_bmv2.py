#!/usr/bin/env python3
"""Run the constructs' scripts on BMv2's simple_switch, to see that it does what they expect of the engine.

    confirm_on_bmv2.py              every script here, and that of the probe program
    confirm_on_bmv2.py a b          a.script and b.script

Needs `simple_switch` on PATH, and `simple_switch_CLI` beside this Python or on PATH. Not part of the tests:
the scripts contain the results of BMv2 1.15.5. README.md describes the language of scripts. Lines after `#
engine only` are skipped here, as is a script that begins with this line.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

# The repository's root.
sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from control_plane.tests.bmv2_process import free_port, wait_for
from differential.nanomsg import Pair

HERE = Path(__file__).resolve().parent
ENGINE_ONLY = "# engine only"
OWN_CLI = shutil.which("simple_switch_CLI", path=str(Path(sys.executable).parent))
CLI = [sys.executable, OWN_CLI] if OWN_CLI else ["simple_switch_CLI"]
SETTLE_SECONDS = 0.3
"""Delay after a packet or a command, until BMv2's threads are idle."""


class Mismatch(Exception):
    """BMv2's behaviour differs from the script's expectation."""


def statements(script: Path) -> list[str]:
    """Returns the lines without comments, up to `# engine only`."""
    text = script.read_text(encoding="utf-8").split(ENGINE_ONLY)[0]
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


class Bench:
    """One switch, its CLI, and the frames that its ports have sent, in hexadecimal."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.folder, self.thrift_port = folder, free_port()
        self.sent = defaultdict[int, list[str]](list)
        # A separate address, because another simple_switch on this machine may use the default one.
        sockets = ["--packet-in", f"ipc://{folder}/packets", "--notifications-addr", f"ipc://{folder}/events"]
        log = ["--log-file", "switch.log", "--log-flush"]
        self.switch = subprocess.Popen(
            ["simple_switch", *log, *sockets, "--thrift-port", str(self.thrift_port), str(program)],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(self.switch, f"127.0.0.1:{self.thrift_port}")
        except TimeoutError as error:
            self.switch.kill()
            raise Mismatch("simple_switch does not start") from error
        self.packets = Pair(folder / "packets")

    def do(self, line: str) -> None:
        """Executes a statement, except `expect`."""
        keyword, _, rest = line.partition(" ")
        if keyword == "packet":
            port, _, data = rest.partition(" ")
            self.packet(int(port), bytes.fromhex(data))
        elif keyword == "check":
            self.check(*rest.split(maxsplit=1))
        else:
            self.command(line)
        if self.switch.poll() is not None:
            raise Mismatch(f"{line}: simple_switch has stopped")

    def packet(self, port: int, frame: bytes) -> None:
        """Sends a frame to the switch."""
        try:
            self.packets.send(port, frame)
            time.sleep(SETTLE_SECONDS)
            for out, left in self.packets.receive(0, 0):
                self.sent[out].append(left.hex())
        except OSError as error:
            raise Mismatch("simple_switch has stopped") from error

    def command(self, line: str) -> str:
        """Returns the CLI's answer; raises a Mismatch if it prints an error."""
        run = subprocess.run(
            [*CLI, "--thrift-port", str(self.thrift_port)],
            input=line + "\n",
            capture_output=True,
            text=True,
            timeout=60,
        )
        if run.returncode != 0:
            raise Mismatch(f"simple_switch_CLI fails: {run.stderr.strip()[-300:]}")
        answer = run.stdout.split("RuntimeCmd:", 1)[-1]
        if re.search(r"\b(Error|Invalid|Unknown)\b", answer):
            raise Mismatch(f"{line}: {answer.strip()}")
        return answer

    def check(self, what: str, rest: str) -> None:
        """Executes a `check` statement."""
        if what == "log":
            time.sleep(SETTLE_SECONDS)
            log = (self.folder / "switch.log.txt").read_text(errors="replace")
            if not any(line.endswith(rest) for line in log.splitlines()):
                raise Mismatch(f"log: no line ends with {rest!r}")
            return
        name, index, *expected = rest.split()
        answer = self.command(f"{what}_read {name} {index}").split("]=", 1)[-1].split("RuntimeCmd")[0]
        numbers = re.findall(r"\d+", answer)
        if numbers != expected:
            raise Mismatch(f"{what} {name}[{index}] is {numbers}, expected {expected}")

    def close(self) -> None:
        """Ends the switch."""
        self.packets.close()
        self.switch.terminate()
        self.switch.wait()


def is_like(frame: str, pattern: str) -> bool:
    """Returns whether a frame matches: `*` is any digit, `$` ends the pattern."""
    whole = pattern.endswith("$")
    digits = pattern.rstrip("$").lower()
    fits = len(frame) == len(digits) if whole else len(frame) >= len(digits)
    return fits and all(want in ("*", got) for want, got in zip(digits, frame, strict=False))


def run(script: Path) -> None:
    """Runs one script."""
    expected = defaultdict[int, list[str]](list)
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(script.with_suffix(".json"), Path(scratch))
        try:
            for line in statements(script):
                keyword, *words = line.split()
                if keyword == "expect":
                    expected[int(words[0])].append("".join(words[1:]))
                    continue
                if keyword == "packet":
                    expected.setdefault(int(words[0]), [])
                bench.do(line)
        finally:
            bench.close()
    # Only ports that the script names: the others have no interface on the engine.
    for port, patterns in expected.items():
        frames = bench.sent[port]
        if len(frames) != len(patterns) or not all(map(is_like, frames, patterns)):
            raise Mismatch(f"port {port} sent {frames}, expected {patterns}")


def main() -> int:
    """Runs the scripts. Returns the exit status: 1 if some script differs."""
    scripts = [*HERE.glob("*.script"), HERE.parent / "p4/probe.script"]
    known = {script.stem: script for script in sorted(scripts, key=lambda script: script.stem)}
    parser = argparse.ArgumentParser(description="Run the constructs' scripts on simple_switch.")
    parser.add_argument("construct", nargs="*", metavar="CONSTRUCT", help="all of them by default")
    names = parser.parse_args().construct or list(known)
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"no script of {', '.join(unknown)} here; there are {', '.join(known)}")
    failed = False
    for name in names:
        script = known[name]
        if script.read_text(encoding="utf-8").startswith(ENGINE_ONLY):
            print(f"skipped: {name}: for the engine only")
            continue
        try:
            run(script)
            print(f"as expected: {name}")
        except Mismatch as mismatch:
            failed = True
            print(f"DIFFERS: {name}: {mismatch}")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
