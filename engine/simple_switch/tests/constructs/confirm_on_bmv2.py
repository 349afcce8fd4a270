#!/usr/bin/env python3
"""Run the constructs' scripts on BMv2's simple_switch, to see that it does what they expect of the engine.

    confirm_on_bmv2.py              every script here, and that of the probe program
    confirm_on_bmv2.py a b          a.script and b.script

Needs `simple_switch` on PATH, and `simple_switch_CLI` beside this Python or on PATH. Not part of the tests:
the scripts contain the results of BMv2 1.15.5. README.md describes the language of scripts. Lines after `#
engine only` are skipped here, as is a script that begins with this line.
"""

import argparse
import contextlib
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENGINE_ONLY = "# engine only"
OWN_CLI = shutil.which("simple_switch_CLI", path=str(Path(sys.executable).parent))
CLI = [sys.executable, OWN_CLI] if OWN_CLI else ["simple_switch_CLI"]
START_TIMEOUT_SECONDS = 20
SETTLE_SECONDS = 0.3
"""Delay after a packet or a command, until BMv2's threads are idle."""

PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


class Mismatch(Exception):
    """BMv2's behaviour differs from the script's expectation."""


def statements(script: Path) -> list[str]:
    """Returns the lines without comments, up to `# engine only`."""
    text = script.read_text(encoding="utf-8").split(ENGINE_ONLY)[0]
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def ports_of(lines: list[str]) -> list[int]:
    """Returns the ports on which packets are sent or expected."""
    return sorted({int(line.split()[1]) for line in lines if line.split()[0] in ("packet", "expect")})


class Bench:
    """One switch, its CLI and a pair of capture files for each port."""

    def __init__(self, program: Path, ports: list[int], sources: set[int], folder: Path) -> None:
        self.folder = folder
        # A free port, because another run on this machine may use any fixed one.
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.thrift_port = free.getsockname()[1]
        for port in ports:
            os.mkfifo(folder / f"p{port}_in.pcap")
        interfaces = [word for port in ports for word in ("-i", f"{port}@p{port}")]
        log = ["--log-file", "switch.log", "--log-flush"]
        # A separate address, because another simple_switch on this machine may use the default one.
        notifications = ["--notifications-addr", f"ipc://{folder}/notifications.ipc"]
        options = ["--use-files", "0", "--thrift-port", str(self.thrift_port)]
        command = ["simple_switch", *log, *notifications, *options]
        self.switch = subprocess.Popen(
            [*command, *interfaces, str(program)],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # BMv2 opens the files in this order, and waits for the header of each.
        self.deadline = time.monotonic() + START_TIMEOUT_SECONDS
        self.inputs: dict[int, int] = {}
        for port in ports:
            while port not in self.inputs:
                with contextlib.suppress(OSError):  # no reader yet
                    path = folder / f"p{port}_in.pcap"
                    self.inputs[port] = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
                self.wait()
            os.write(self.inputs[port], PCAP_HEADER)
            if port not in sources:
                # BMv2 forwards nothing before it has a packet, or the end, of every file.
                os.close(self.inputs.pop(port))
                self.inputs[port] = -1
        while socket.socket().connect_ex(("127.0.0.1", self.thrift_port)) != 0:
            self.wait()

    def wait(self) -> None:
        """Waits a moment during the start; raises a Mismatch if the switch has ended or takes too long."""
        if self.switch.poll() is not None or time.monotonic() > self.deadline:
            self.switch.kill()
            raise Mismatch("simple_switch does not start")
        time.sleep(0.02)

    def packet(self, port: int, frame: bytes) -> None:
        """Sends a frame to the switch."""
        try:
            os.write(self.inputs[port], struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
        except BrokenPipeError as error:
            raise Mismatch("simple_switch has stopped") from error
        time.sleep(SETTLE_SECONDS)

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
        """Ends the input, then the switch."""
        for stream in self.inputs.values():
            if stream >= 0:
                os.close(stream)
        time.sleep(1)
        self.switch.terminate()
        self.switch.wait()


def sent(path: Path) -> list[str]:
    """Returns the frames of a capture file in hexadecimal."""
    data, at, frames = path.read_bytes(), 24, []
    while at + 16 <= len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16 : at + 16 + length].hex())
        at += 16 + length
    return frames


def is_like(frame: str, pattern: str) -> bool:
    """Returns whether a frame matches: `*` is any digit, `$` ends the pattern."""
    whole = pattern.endswith("$")
    digits = pattern.rstrip("$").lower()
    fits = len(frame) == len(digits) if whole else len(frame) >= len(digits)
    return fits and all(want in ("*", got) for want, got in zip(digits, frame, strict=False))


def run(script: Path) -> None:
    """Runs one script."""
    lines = statements(script)
    expected: dict[int, list[str]] = {port: [] for port in ports_of(lines)}
    with tempfile.TemporaryDirectory() as scratch:
        sources = {int(line.split()[1]) for line in lines if line.startswith("packet")}
        bench = Bench(script.with_suffix(".json"), list(expected), sources, Path(scratch))
        try:
            for line in lines:
                keyword, _, rest = line.partition(" ")
                if keyword == "packet":
                    place, _, data = rest.partition(" ")
                    bench.packet(int(place), bytes.fromhex(data))
                elif keyword == "expect":
                    place, _, data = rest.partition(" ")
                    expected[int(place)].append(data.replace(" ", ""))
                elif keyword == "check":
                    bench.check(*rest.split(maxsplit=1))
                else:
                    bench.command(line)
                if bench.switch.poll() is not None:
                    raise Mismatch(f"{line}: simple_switch has stopped")
        finally:
            bench.close()
        for port, patterns in expected.items():
            frames = sent(Path(scratch) / f"p{port}_out.pcap")
            wrong = len(frames) != len(patterns) or not all(map(is_like, frames, patterns))
            if wrong:
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
