"""A running lab: the engine's fabric, its hosts' stacks, and the loop that gives each its turn.

The engine moves frames and the clock; it stops at the instant at which a host has received a frame, so that
an answer leaves at that instant. The only module of the lab that runs the engine.
"""

from __future__ import annotations

import heapq
import itertools
from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from ipaddress import AddressValueError, IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from eeon_control.constants import DROP_PORT

from eeon_tools.engine import load_engine, read_program
from eeon_tools.errors import InputError, ReplayError, UnavailableError
from eeon_tools.json_files import content_of, parse_json
from eeon_tools.lab.host import Host
from eeon_tools.lab.tasks import PS_PER_S, SendFrames, Task
from eeon_tools.lab.topology import LabSwitch, LabTopology, beside, read_topology
from eeon_tools.replay.spec import LONGEST_RUN_PS
from eeon_tools.trace.capture_writer import CaptureWriter

if TYPE_CHECKING:
    from eeon_engine import SwitchHandle
    from eeon_engine.json_types import FabricSpec, FlowReport, Report
    from finsy.proto import p4i, p4r

TICK_PS = 1_000_000
"""Picoseconds; timestamps count microseconds, as on BMv2."""
QUEUE_LIMIT_PACKETS = 64
"""Limit of a port's queue in BMv2's `simple_switch`."""
_MAX_ARRIVALS = 65_536
_MAX_ENTRIES_BYTES = 16 << 20


class Arrival(NamedTuple):
    """A frame that a host has received."""

    at_ps: int
    host: str
    frame: bytes


class Lab:
    """Switches that run any v1model program, and hosts, under one virtual clock.

    `topology` is a `LabTopology`, or an argument of `read_topology`. Each switch runs the `bmv2_json` that
    its runtime file names, or the program that the topology names for it, or `program`; entries are those of
    its runtime file. `pcap`: a folder for a capture of each host, with the frames that it sends and receives.
    The same files, calls and seed give the same frames at the same times.

        with Lab("topology.json", program="build/basic.json", p4info="build/basic.p4.p4info.txtpb") as lab:
            print(lab.run(Ping("h1", "h2"))[0].text())

    Raises InputError with the file and the place of an error, and UnavailableError without an engine.
    """

    def __init__(
        self,
        topology: LabTopology | str,
        program: Path | str | None = None,
        p4info: Path | str | None = None,
        *,
        seed: int = 1,
        queue_limit_packets: int = QUEUE_LIMIT_PACKETS,
        pcap: Path | None = None,
    ) -> None:
        self.topology = read_topology(topology) if isinstance(topology, str) else topology
        self._default = (Path(program) if program else None, Path(p4info) if p4info else None)
        self._spec = _fabric_spec(self.topology, seed, queue_limit_packets)
        self._pcap = pcap
        self._hosts = {name: Host(host) for name, host in self.topology.hosts.items()}
        self._agenda: list[tuple[int, int, Callable[[], None]]] = []
        self._sequence = itertools.count()
        self._numbers = itertools.count(1)
        self._tasks: list[Task] = []
        self._arrivals: deque[Arrival] = deque(maxlen=_MAX_ARRIVALS)
        self._captures: dict[str, CaptureWriter] = {}
        self._stack = ExitStack()
        self.targets: dict[str, str] = {}
        """The address of each switch's P4Runtime server, after `serve`."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._build()
            if self._pcap is not None:
                self._pcap.mkdir(parents=True, exist_ok=True)
                for name in self._hosts:
                    writer = CaptureWriter(self._pcap / f"{name}.pcap")
                    self._captures[name] = stack.enter_context(writer)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    # ---- for users of a lab

    def run(self, *tasks: Task) -> Sequence[Task]:
        """Runs the tasks concurrently until all are done; returns them, with results."""
        for task in tasks:
            task.number = next(self._numbers)
        self._tasks = list(tasks)
        try:
            for task in tasks:
                task.start(self)
            while not all(task.is_done for task in tasks):
                self._step(None)
        finally:
            self._tasks = []
            self._agenda.clear()
        return tasks

    def wait(self, duration_ps: int) -> None:
        """Advances virtual time. Raises InputError if a lab cannot run for so long."""
        self.check_time(duration_ps)
        end = self.now_ps + duration_ps
        while self.now_ps < end:
            self._step(end)

    def send(self, host: str, *frames: bytes) -> list[Arrival]:
        """Sends frames from a host, now. Returns the frames that hosts have received when no event is left or
        0.1 s has passed.

        A frame is bytes, or an object that `bytes()` converts, such as a scapy packet.
        """
        self._arrivals.clear()
        self.run(SendFrames(host, [(0, bytes(frame)) for frame in frames]))
        return list(self._arrivals)

    def received(self, host: str) -> list[Arrival]:
        """Returns the frames that a host has received since the last `send`; only the newest 65,536 of all
        hosts are kept."""
        self._known(host)
        return [arrival for arrival in self._arrivals if arrival.host == host]

    def serve(self, first_port: int | None = None) -> Mapping[str, str]:
        """Serves P4Runtime on loopback for each switch, from `first_port` on or on free ports, until the lab
        ends."""
        from eeon_engine.p4runtime import serve

        for index, name in enumerate(self.topology.switches):
            port = 0 if first_port is None else first_port + index
            info = self._p4infos[name]
            try:
                server = serve(self._switches[name], p4info=info, address=f"127.0.0.1:{port}")
            except self._engine.EngineError as error:
                raise UnavailableError(f"{name} cannot be served: {error}") from error
            self._stack.enter_context(server)
            self.targets[name] = server.address
        return self.targets

    def report(self) -> Report:
        """Returns the report so far, in the form of a replay's."""
        from eeon_engine.json_documents import twin_report

        return twin_report(self._twin)

    # ---- for tasks

    @property
    def now_ps(self) -> int:
        return self._twin.now_ps

    def check_time(self, duration_ps: int) -> None:
        """Raises InputError if a lab cannot run for this much longer."""
        if self.now_ps + duration_ps > LONGEST_RUN_PS:
            over = f", and {_seconds(self.now_ps)} are over" if self.now_ps else ""
            longest = _seconds(LONGEST_RUN_PS)
            rule = f"a lab runs for {longest} at most{over}; take fewer packets or a shorter time"
            raise InputError("time", _seconds(duration_ps), rule)

    def address_of(self, name: str) -> IPv4Address:
        """Returns the address of a host, or the address in the text. Raises InputError."""
        if name in self._hosts:
            return self._hosts[name].address
        try:
            return IPv4Address(name)
        except AddressValueError as error:
            raise InputError(
                "host", name, f"is neither an address nor one of {', '.join(self._hosts)}"
            ) from error

    def send_ip(self, host: str, destination: IPv4Address, packet: bytes) -> None:
        """Sends an IPv4 packet from a host, now. Raises InputError if no route leads there."""
        for frame in self._known(host).send(destination, packet):
            self.send_frame(host, frame)

    def send_frame(self, host: str, frame: bytes) -> None:
        """Sends a frame from a host, now."""
        self._known(host)
        now = self.now_ps
        try:
            self._twin.feed(host, array("Q", [now]), array("Q", [0, len(frame)]), frame)
        except self._engine.EngineError as error:
            raise InputError(host, f"frame of {len(frame)} bytes", str(error)) from error
        self._capture(host, now, frame)

    def call_at(self, at_ps: int, call: Callable[[], None]) -> None:
        """Schedules a call at `at_ps`. Calls run in order of time, and then in the order of scheduling."""
        heapq.heappush(self._agenda, (at_ps, next(self._sequence), call))

    def start_flow(self, source: str, destination: str, size: int, settings: str) -> int:
        """Starts a TCP flow between two hosts and returns its number."""
        for name in (source, destination):
            self._known(name)
        try:
            return self._twin.start_flow(source, destination, size, tcp=settings)
        except self._engine.EngineError as error:
            raise InputError("tcp", f"{source} to {destination}", str(error)) from error

    def flow(self, number: int) -> FlowReport:
        from eeon_engine.json_documents import flow_report

        return flow_report(self._twin, number)

    # ---- inside

    def _step(self, end_ps: int | None) -> None:
        """Advances time until a frame has been received, or the next call is due, or `end_ps`."""
        due = self._agenda[0][0] if self._agenda else None
        limits = [limit for limit in (due, end_ps) if limit is not None]
        if not limits:
            raise ReplayError("a task waits for an event that cannot happen; please report this")
        limit = min(limits)
        if self._twin.run_until_heard(limit):
            for at_ps, host, frame in self._twin.take_heard():
                self._handle(Arrival(at_ps, host, frame))
            return
        while self._agenda and self._agenda[0][0] <= limit:
            heapq.heappop(self._agenda)[2]()

    def _handle(self, arrival: Arrival) -> None:
        self._arrivals.append(arrival)
        self._capture(arrival.host, arrival.at_ps, arrival.frame)
        received = self._hosts[arrival.host].receive(arrival.frame)
        for answer in received.answers:
            self.send_frame(arrival.host, answer)
        if received.packet is not None:
            for task in self._tasks:
                task.heard(arrival.at_ps, arrival.host, received.packet)

    def _capture(self, host: str, at_ps: int, frame: bytes) -> None:
        if host in self._captures:
            self._captures[host].write(at_ps // 1000, frame, len(frame))

    def _known(self, host: str) -> Host:
        try:
            return self._hosts[host]
        except KeyError as error:
            raise InputError("host", host, f"is not one of {', '.join(self._hosts)}") from error

    def _build(self) -> None:
        self._engine = load_engine()
        from eeon_engine.json_documents import make_twin

        files = {name: self._files(switch) for name, switch in self.topology.switches.items()}
        programs = {path: read_program(path)[1] for path in dict.fromkeys(path for path, _ in files.values())}
        first = next(iter(programs.values()))
        try:
            self._twin = make_twin(first, self._spec)
        except self._engine.EngineError as error:
            raise InputError(self.topology.name, "", str(error)) from error
        self._switches: dict[str, SwitchHandle] = {}
        self._p4infos: dict[str, p4i.P4Info | None] = {}
        for name, (program, p4info) in files.items():
            switch = self._switches[name] = self._twin.switch(name)
            if programs[program] is not first:
                switch.load_program(programs[program])
            self._p4infos[name] = self._write_entries(name, p4info)
        for name in self._hosts:
            self._twin.listen(name)

    def _write_entries(self, name: str, p4info: Path | None) -> p4i.P4Info | None:
        from eeon_engine import p4runtime

        from eeon_tools.explain.runtime_file import read_entries, read_p4info

        info = None if p4info is None else read_p4info(p4info)
        entries = self.topology.switches[name].entries
        if entries is not None:
            if info is None:
                raise InputError(entries, "p4info", "is missing; give --p4info")
            request: p4r.WriteRequest = read_entries(entries, info, may_be_empty=True)
            try:
                p4runtime.write(self._switches[name], info, request)
            except self._engine.EngineError as error:
                raise InputError(entries, name, str(error)) from error
        return info

    def _files(self, switch: LabSwitch) -> tuple[Path, Path | None]:
        """Returns the program of a switch, and its P4Info."""
        program, p4info = self._default
        program = switch.program or program
        if switch.entries is not None:
            program = _named_in(switch.entries, "bmv2_json", program)
            p4info = _named_in(switch.entries, "p4info", p4info)
        if program is None:
            raise InputError(
                self.topology.name,
                switch.name,
                "the topology has no program for this switch; give one with --program FILE.json, which "
                "p4c-bm2-ss -o writes, and its P4Info with --p4info",
            )
        return program, p4info


def _seconds(ps: int) -> str:
    return f"{ps // PS_PER_S:,} s"


def _named_in(entries: Path, key: str, otherwise: Path | None) -> Path | None:
    """Returns the program or the P4Info that a runtime file of the tutorials names, or else `otherwise`.
    Raises InputError if the named file does not exist and `otherwise` is None."""
    if entries.suffix != ".json":
        return otherwise
    document = parse_json(entries, content_of(entries, _MAX_ENTRIES_BYTES))
    named = document.get(key) if isinstance(document, dict) else None
    if not isinstance(named, str):
        return otherwise
    option = {"bmv2_json": "--program", "p4info": "--p4info"}[key]
    return beside(entries, key, named, otherwise, f"; compile the program, or give {option}")


def _fabric_spec(topology: LabTopology, seed: int, queue_limit_packets: int) -> FabricSpec:
    """Describes switches like BMv2's: timestamps of 1 us, a limit in packets at each port, no gate."""
    return {
        "seed": seed,
        "tick_ps": TICK_PS,
        "cpu_port": topology.cpu_port,
        "drop_port": DROP_PORT,
        "queue_limit_packets": queue_limit_packets,
        "switches": [
            {"name": switch.name, "device_id": switch.device_id} for switch in topology.switches.values()
        ],
        "hosts": [
            {"name": host.name, "mac": host.mac, "ipv4": str(host.ipv4.ip)}
            for host in topology.hosts.values()
        ],
        "links": list(topology.links),
    }
