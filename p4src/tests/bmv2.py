"""One BMv2 `simple_switch` with the compiled program, on pcap files: no root, no interfaces. No test itself.

Packets go in through a FIFO that the switch reads as a pcap file, on one port, and come out as one pcap file
a port. Tables and registers are reached as people reach them, with `simple_switch_CLI`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import pytest

COMPILED = Path(__file__).resolve().parents[1] / "compiled"
CONSTANTS = json.loads((COMPILED / "constants.json").read_text(encoding="utf-8"))
VERDICTS: dict[str, int] = CONSTANTS["verdict_t"]
CLASSES: dict[str, int] = CONSTANTS["packet_class_t"]
CPU_PORT: int = CONSTANTS["constants"]["CPU_PORT"]

START_TIMEOUT_SECONDS = 20.0
POLL_SECONDS = 0.02

CLI_SENTINEL = "end_of_commands"

# Deep enough never to overflow: the program's byte limit is the only one (control/occupancy.p4).
QUEUE_DEPTH_PACKETS = 100_000

# pcap: magic for microseconds, version 2.4, zone, accuracy, snap length, link type Ethernet.
PCAP_FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
PCAP_RECORD = struct.Struct("<IIII")


def why_not() -> str | None:
    """Why BMv2 cannot be used here, or None when it can."""
    for program in ("simple_switch", "simple_switch_CLI"):
        if shutil.which(program) is None:
            return f"{program} is not on PATH: install BMv2 (https://github.com/p4lang/behavioral-model)"
    run = subprocess.run(["simple_switch_CLI", "--help"], capture_output=True, text=True, timeout=30)
    if run.returncode != 0:
        return f"simple_switch_CLI does not start: {run.stderr.strip().splitlines()[-1:]}"
    return None


@dataclass(frozen=True)
class Received:
    """A frame that left the switch, and the wall-clock time at which BMv2 wrote it, in seconds."""

    at: float
    frame: bytes


class Bmv2:
    """A running switch. Use it as a context manager; it ends the process that it started."""

    def __init__(self, folder: Path, ports: tuple[int, ...], input_port: int) -> None:
        self.folder = folder
        self.ports = ports
        self.input_port = input_port
        self.cli_process: subprocess.Popen[str] | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.thrift_port = probe.getsockname()[1]

    def __enter__(self) -> Bmv2:
        for port in self.ports:
            path = self.folder / f"port{port}_in.pcap"
            if port == self.input_port:
                os.mkfifo(path)
            else:
                path.write_bytes(PCAP_FILE_HEADER)
        command = ["simple_switch", "--use-files", "0", "--thrift-port", str(self.thrift_port)]
        # Sockets of two switches on one machine must not meet.
        command += ["--notifications-addr", f"ipc://{self.folder}/notifications.ipc"]
        command += ["--device-id", str(self.thrift_port)]
        for port in self.ports:
            command += ["-i", f"{port}@{self.folder}/port{port}"]
        with (self.folder / "switch.log").open("wb") as log:
            self.process = subprocess.Popen([*command, str(COMPILED / "eeon.json")], stdout=log, stderr=log)
        self.input = open(self.folder / f"port{self.input_port}_in.pcap", "wb", buffering=0)
        self.input.write(PCAP_FILE_HEADER)
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.thrift_port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    self.__exit__(None, None, None)
                    log_text = (self.folder / "switch.log").read_text(errors="replace")
                    raise RuntimeError(f"simple_switch did not open its Thrift port: {log_text}") from None
                time.sleep(POLL_SECONDS)
        self.cli_process = subprocess.Popen(
            ["simple_switch_CLI", "--thrift-port", str(self.thrift_port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.cli(f"set_queue_depth {QUEUE_DEPTH_PACKETS}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in (self.cli_process, self.process):
            if process is None:
                continue
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if not self.input.closed:
            self.input.close()

    def cli(self, *commands: str) -> str:
        """What simple_switch_CLI prints. Fails on the words with which it reports an error."""
        assert self.cli_process is not None and self.cli_process.stdin and self.cli_process.stdout
        # One CLI serves all calls: to start one takes longer than a hold. It complains about the last line.
        self.cli_process.stdin.write("\n".join((*commands, CLI_SENTINEL)) + "\n")
        self.cli_process.stdin.flush()
        lines: list[str] = []
        while not (lines and CLI_SENTINEL in lines[-1]):
            line = self.cli_process.stdout.readline()
            assert line, f"simple_switch_CLI ended: {''.join(lines)}"
            lines.append(line)
        output = "".join(lines[:-1])
        assert not re.search(r"Invalid|Error|Unknown", output), output
        return output

    def route(self, prefix: str, *next_hops: tuple[int, str, str]) -> None:
        """A route to a group of (port, src MAC, dst MAC); IPv6 when the prefix has a colon."""
        table = "ipv6_route" if ":" in prefix else "ipv4_route"
        members = self.cli(
            *(f"act_prof_create_member ecmp_selector forward {p} {s} {d}" for p, s, d in next_hops)
        )
        handles = re.findall(r"Member has been created with handle (\d+)", members)
        group = re.search(r"handle (\d+)", self.cli("act_prof_create_group ecmp_selector"))
        assert len(handles) == len(next_hops) and group is not None
        self.cli(*(f"act_prof_add_member_to_group ecmp_selector {handle} {group[1]}" for handle in handles))
        self.cli(f"table_indirect_add_with_group {table} {prefix} => {group[1]}")

    def send(self, *frames: bytes) -> None:
        """Hand over frames on the input port, as fast as the switch takes them."""
        self.input.write(b"".join(PCAP_RECORD.pack(0, 0, len(f), len(f)) + f for f in frames))

    def received(self, port: int) -> list[Received]:
        """All frames that left through a port so far."""
        data = (self.folder / f"port{port}_out.pcap").read_bytes()
        frames, at = [], len(PCAP_FILE_HEADER)
        while at + PCAP_RECORD.size <= len(data):
            seconds, micros, length, _ = PCAP_RECORD.unpack_from(data, at)
            at += PCAP_RECORD.size
            if at + length > len(data):
                break
            frames.append(Received(seconds + micros / 1e6, data[at : at + length]))
            at += length
        return frames

    def wait_for(self, port: int, count: int, timeout_seconds: float = 10.0) -> list[Received]:
        """At least `count` frames from a port; fails with what there is when they do not come in time."""
        return self.wait_for_all((port,), count, timeout_seconds)[port]

    def wait_for_all(
        self, ports: tuple[int, ...], count: int, timeout_seconds: float = 10.0
    ) -> dict[int, list[Received]]:
        """At least `count` frames from all of these ports together, by port."""
        deadline = time.monotonic() + timeout_seconds
        while sum(map(len, (frames := {port: self.received(port) for port in ports}).values())) < count:
            assert self.process.poll() is None, (self.folder / "switch.log").read_text(errors="replace")
            left = {port: len(received) for port, received in frames.items()}
            assert time.monotonic() < deadline, f"of {count} frames have left, by port: {left}"
            time.sleep(POLL_SECONDS)
        return frames

    def registers(self, port: int, *names: str) -> list[int]:
        """One cell of each register: the port's, or that of its queue of priority 0."""
        output = self.cli(*(f"register_read {name} {cell_of(name, port)}" for name in names))
        return [int(value) for value in re.findall(r"\[\d+\]= *(\d+)", output)]

    def wait_until(self, port: int, timeout_seconds: float = 10.0, **expected: int) -> None:
        """Wait until the named registers hold these values at the port."""
        deadline = time.monotonic() + timeout_seconds
        while (values := self.registers(port, *expected)) != list(expected.values()):
            assert time.monotonic() < deadline, (
                f"port {port}: {list(expected)} are {values}, expected {expected}"
            )
            time.sleep(POLL_SECONDS)

    def drained(self, port: int) -> None:
        """Wait until the port's account says that it is empty."""
        self.wait_until(port, occupancy_packets=0, occupancy_bytes=0)

    def verdict_counts(self, port: int) -> dict[tuple[str, str], int]:
        """Packets by (class, verdict) counted at a port, zeros left out."""
        keys = [(c, v) for c in CLASSES for v in VERDICTS]
        indices = [port << 7 | CLASSES[c] << 4 | VERDICTS[v] for c, v in keys]
        counts = self._packets("verdicts", indices)
        return {key: count for key, count in zip(keys, counts, strict=True) if count}

    def received_counts(self, port: int) -> dict[str, int]:
        """Packets by class received at a port, zeros left out."""
        counts = self._packets("received", [port << 3 | index for index in CLASSES.values()])
        return {name: count for name, count in zip(CLASSES, counts, strict=True) if count}

    def _packets(self, counter: str, indices: list[int]) -> list[int]:
        output = self.cli(*(f"counter_read {counter} {index}" for index in indices))
        return [int(packets) for packets in re.findall(r"(\d+) packets\)", output)]


def cell_of(register: str, port: int, priority: int = 0) -> int:
    """A port's cell of a register; of one that has a cell for each queue, the one of this priority."""
    return port << 3 | priority if register in ("ticket_next", "ticket_serving", "queue_bytes") else port


needs_bmv2 = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
