"""The targets in real time, BMv2's simple_switch_grpc and the command eeon-switch: separate processes, with a
P4Runtime server and a Thrift server for simple_switch_CLI.

  * The clock is the machine's: cases that compare exact times are skipped (SwitchTest).
  * A port whose queue a test fills is first slowed down, to a packet rate, with the Thrift CLI.
  * One process serves the whole run: each test sets the pipeline again, which clears tables and registers.

Its file in ptf_tests/run/ starts the process: BMv2 connected over nanomsg (no root), eeon-switch with its
gate on veth pairs. While the module is used, no other program may use the switch.
"""

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from ptf.testutils import test_param_get

from ptf_tests.lib.p4rt import P4RuntimeClient
from ptf_tests.lib.ports import DATA_PORTS
from ptf_tests.lib.targets.base import SwitchOptions, Target

_PROMPT = b"RuntimeCmd: "
_SLOW_PPS = 5
"""Rate of a plugged port in packets per second: a burst must be sent within one interval, 200 ms."""
_FAST_PPS = 100_000
_QUIET_SECS = 0.1
"""Time from an empty queue to the packet's arrival at PTF: the switch's output buffer, the wire, PTF's
thread."""
_DRAIN_TIMEOUT_SECS = 60.0


def cli_command(cli: str, thrift_port: int) -> list[str]:
    """Returns the command of simple_switch_CLI. One in this environment runs in its Python: a script's first
    line cannot name a folder with a space."""
    python = [sys.executable] if Path(cli).parent == Path(sys.executable).parent else []
    return [*python, cli, "--thrift-port", str(thrift_port)]


class RealTimeTarget(Target):
    """See the module."""

    virtual_time = False
    plugged_packet_ns = 1_000_000_000 // _SLOW_PPS

    def __init__(self, name: str, tick_ns: int) -> None:
        """Creates the target with the values of the test parameters."""
        self.name, self.tick_ns = name, tick_ns
        # eeon-switch has a socket for each port, and each of its turns empties one after the other.
        self.keeps_order_between_ports = name == "bmv2"
        self._address = test_param_get("grpc_address")
        self._cli_command = cli_command(test_param_get("cli"), int(test_param_get("thrift_port")))
        self._cli: subprocess.Popen[bytes] | None = None
        self._plugged: set[int] = set()

    def start(self, options: SwitchOptions) -> str:
        """Returns the address of the one switch. It ignores gate, rate and clock."""
        return self._address

    def stop(self) -> None:
        """Restores the rate of plugged ports, and ends the CLI."""
        for port in self._plugged:
            self._command(f"set_queue_rate {_FAST_PPS} {port}")
        self._plugged.clear()
        if self._cli is not None:
            self._cli.kill()
            self._cli.wait()
            self._cli = None

    def advance(self, *, ns: int = 0, us: int = 0, ms: int = 0) -> None:
        """Sleeps for at least that time."""
        time.sleep(ns / 1e9 + us / 1e6 + ms / 1e3)

    def drain(self) -> None:
        """Waits until all queues are empty by the program's own account."""
        deadline = time.monotonic() + _DRAIN_TIMEOUT_SECS
        time.sleep(_QUIET_SECS)
        while any(self.register_over_thrift("occupancy_packets", port) for port in DATA_PORTS):
            if time.monotonic() > deadline:
                return  # the test's own check of the registers says which queue is stuck
            time.sleep(_QUIET_SECS)
        time.sleep(_QUIET_SECS)

    @property
    def now_ns(self) -> int:
        """The machine's clock, which PTF uses to timestamp received frames."""
        return time.time_ns()

    def before_plug(self, port: int) -> None:
        """Slows the port down, so that a burst is queued."""
        self._plugged.add(port)
        self._command(f"set_queue_rate {_SLOW_PPS} {port}")

    def registers_read(
        self, client: P4RuntimeClient, cells: Iterable[tuple[str, int]]
    ) -> dict[tuple[str, int], int]:
        """Reads over Thrift from BMv2, which answers register reads over P4Runtime with UNIMPLEMENTED."""
        if self.name == "bmv2":
            return {cell: self.register_over_thrift(*cell) for cell in cells}
        return super().registers_read(client, cells)

    def register_over_thrift(self, name: str, index: int) -> int:
        """Returns one cell of a register, read by simple_switch_CLI."""
        answer = self._command(f"register_read {name} {index}")
        if "=" not in answer:
            raise AssertionError(f"simple_switch_CLI: register {name}[{index}]: {answer.strip()}")
        return int(answer.rpartition("=")[2])

    def _command(self, line: str) -> str:
        """Sends one command to simple_switch_CLI, and returns its answer. The CLI reads the program when it
        starts, so it is started after the pipeline has been pushed."""
        if self._cli is None:
            pipe = subprocess.PIPE
            self._cli = subprocess.Popen(self._cli_command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT)
            self._until_prompt()
        assert self._cli.stdin is not None
        self._cli.stdin.write(line.encode() + b"\n")
        self._cli.stdin.flush()
        return self._until_prompt()

    def _until_prompt(self) -> str:
        assert self._cli is not None and self._cli.stdout is not None
        answer = b""
        while not answer.endswith(_PROMPT):
            byte = self._cli.stdout.read(1)
            if not byte:
                raise AssertionError(f"simple_switch_CLI ended: {answer.decode(errors='replace')}")
            answer += byte
        return answer.removesuffix(_PROMPT).decode(errors="replace")
