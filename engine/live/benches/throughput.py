#!/usr/bin/env python3
"""Frames per second of eeon-switch and of BMv2's simple_switch with the same program, entries and frames.

`files`: frames are written into a FIFO as fast as the switch takes them; the time is from the first byte
written to the last frame in the output file. `veth`: a generator (port_io/examples/load.rs) sends at rising
rates on a veth pair and counts the frames that return on another; the result is the highest rate with a loss
below one frame in a thousand. veth needs root, ip and ethtool. BMv2's simple_switch is measured if it
is on PATH.
"""

import argparse
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from scapy.layers.inet import IP, UDP

from ptf_tests.run import switch_process, veth

ENGINE = Path(__file__).resolve().parents[2]
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
MACS = bytes.fromhex("020000000001020000000002")
LOSS_LIMIT = 0.001
_SETTLE_S = 0.5
_PATIENCE_S = 1.5
# A test tool of this environment, which may be in a folder that the first line of a script cannot name.
_CLI = [sys.executable, str(Path(sys.executable).with_name("simple_switch_CLI")), "--thrift-port"]


@dataclass(frozen=True)
class Program:
    """A program, its table entries, and the frame that is sent."""

    name: str
    json: Path
    commands: str
    frame: bytes


def programs(length: int) -> list[Program]:
    """Returns a patch panel that parses nothing, and the E-EON program."""
    route = "eeon_ingress.route"
    commands = f"""
table_set_default eeon_ingress.admit.l3_admit eeon_ingress.admit.admit_to_l3
act_prof_create_member {route}.ecmp_selector {route}.forward 1 02:00:00:00:00:03 02:00:00:00:00:04
table_indirect_add {route}.ipv4_route 10.0.0.0/8 => 0
"""
    eeon = ENGINE.parent / "p4src" / "compiled" / "eeon.json"
    patch = ENGINE / "live" / "tests" / "p4" / "patch.json"
    udp = IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1000, dport=2000) / bytes(max(0, length - 42))
    return [
        Program("patch", patch, "", (MACS + b"\x88\xb5").ljust(length, b"\0")),
        Program("eeon", eeon, commands, MACS + b"\x08\x00" + bytes(udp)),
    ]


@contextmanager
def switch(command: list[str], program: Program, interfaces: list[str], cwd: Path) -> Iterator[None]:
    """Runs a switch with its entries."""
    [port] = switch_process.free_ports(1)
    arguments = [*command, *interfaces, "--thrift-port", str(port), str(program.json)]
    with switch_process.running(arguments, port, cwd / "output.txt", cwd):
        if program.commands:
            cli = [*_CLI, str(port)]
            subprocess.run(cli, input=program.commands, text=True, check=True, stdout=subprocess.DEVNULL)
        time.sleep(_SETTLE_S)
        yield


def through_files(command: list[str], program: Program, frames: int) -> tuple[float, float]:
    """Returns the frames per second through a FIFO and a file, and the share that is lost."""
    record = struct.pack("<IIII", 0, 0, len(program.frame), len(program.frame)) + program.frame
    expected = len(PCAP_HEADER) + frames * len(record)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("a", "b"):
            os.mkfifo(folder / f"{name}_in.pcap")
        interfaces = ["--use-files", "0", "-i", "0@a", "-i", "1@b"]
        writers = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(frames), record.hex()],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writers.stdin is not None
        assert writers.stdout is not None
        with switch(command, program, interfaces, folder):
            writers.stdin.write("go\n")
            writers.stdin.flush()
            start = float(writers.stdout.readline())
            output = folder / "b_out.pcap"
            size, last = 0, start
            while size < expected and time.time() - last < _PATIENCE_S:
                time.sleep(0.005)
                grown = output.stat().st_size
                if grown > size:
                    size, last = grown, time.time()
            seconds = last - start
        writers.kill()
        writers.wait()
    arrived = (size - len(PCAP_HEADER)) // len(record)
    return arrived / seconds, 1 - arrived / frames


_WRITER = f"""
import sys, time
files = []
for name in "ab":
    # BMv2 opens its inputs one after the other and waits for the header of each.
    files.append(open(name + "_in.pcap", "wb", buffering=0))
    files[-1].write({PCAP_HEADER!r})
a, b = files
b.close()
count, record = int(sys.argv[1]), bytes.fromhex(sys.argv[2])
sys.stdin.readline()
print(time.time(), flush=True)
chunk = record * 1000
for _ in range(count // 1000):
    rest = memoryview(chunk)
    while rest:
        rest = rest[a.write(rest):]
a.close()
"""


def through_veth(command: list[str], program: Program, load: Path, seconds: float) -> tuple[float, float]:
    """Returns the highest tested rate with a loss below the limit, and this loss."""
    best, best_loss = 0.0, 0.0
    with veth.pairs((0, 1)) as pairs, tempfile.TemporaryDirectory() as scratch:
        interfaces = [flag for port, (ours, _) in pairs.items() for flag in ("-i", f"{port}@{ours}")]
        with switch(command, program, interfaces, Path(scratch)):
            rate = 1_000.0
            while True:
                count = max(1, int(rate * seconds))
                ends = [pairs[0][1], pairs[1][1]]
                shape = [str(count), str(int(rate)), str(len(program.frame)), program.frame.hex()]
                found = subprocess.run([load, *ends, *shape], check=True, capture_output=True, text=True)
                sent, received, took = (float(word) for word in found.stdout.split())
                loss = 1 - received / sent
                # A generator that falls behind its own rate is the bottleneck.
                if loss >= LOSS_LIMIT or received / took < 0.9 * rate:
                    return best, best_loss
                best, best_loss = received / took, loss
                rate *= 1.25


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frame-bytes", type=int, default=64)
    parser.add_argument("--frames", type=int, default=200_000, help="through files, a multiple of 1000")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each rate on veth")
    parser.add_argument(
        "--bmv2",
        metavar="FILE",
        help="BMv2's simple_switch, where it is not that of PATH; one built with "
        "-DENABLE_LOGGING_MACROS=OFF is faster",
    )
    options = parser.parse_args()
    ours = [sys.executable, "-m", "eeon_engine.switch_command", "--as", "simple_switch"]
    commands = {"eeon-switch": ours}
    if options.bmv2 or shutil.which("simple_switch"):
        commands["simple_switch"] = [options.bmv2 or "simple_switch"]
    manifest = ["--manifest-path", str(ENGINE / "Cargo.toml")]
    build = ["cargo", "build", "--release", "--quiet", *manifest, "-p", "port_io", "--example", "load"]
    subprocess.run(build, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ENGINE / "target"))
    load = target / "release" / "examples" / "load"
    impossible = veth.why_impossible()
    if impossible is not None:
        print(f"veth is left out: {impossible}")
    load_average = os.getloadavg()[0]
    print(f"{options.frame_bytes}-byte frames; frames per second; load average {load_average:.1f} before")
    print(f"{'switch':14} {'program':8} {'files':>10} {'loss':>8} {'veth':>10} {'loss':>8}")
    for program in programs(options.frame_bytes):
        for name, command in commands.items():
            files, missing = through_files(command, program, options.frames)
            live, loss = "-", ""
            if impossible is None:
                rate, lost = through_veth(command, program, load, options.seconds)
                live, loss = f"{rate:,.0f}", f"{lost:.3%}"
            row = f"{name:14} {program.name:8} {files:10,.0f} {missing:8.3%} {live:>10} {loss:>8}"
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
