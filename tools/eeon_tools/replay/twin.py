"""A running twin: the engine's fabric, a P4Runtime server on loopback for each of its switches, and the
controller.

The only module of `replay` that calls the engine's twin. All writes to switches and all reads from them go
through P4Runtime, as with real switches; only frames, the clock and the measurements of hosts and PHYs do
not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from eeon_control import fabric
from eeon_control.config import FabricConfig
from eeon_control.errors import FabricError
from eeon_control.fabric import FabricCounters
from eeon_control.fabric.read import Wanted, observe
from eeon_control.fabric.sync import run
from eeon_control.plan import pfc
from eeon_control.program import Program
from eeon_control.targets import Target
from eeon_control.topology import Topology

from eeon_tools.engine import load_engine, load_program
from eeon_tools.errors import ReplayError
from eeon_tools.replay.feed import Offer, flat
from eeon_tools.replay.spec import TICK_PS

if TYPE_CHECKING:
    from eeon_engine.hops import HopFilter, Hops
    from eeon_engine.json_types import FabricSpec, Report, WorkloadSpec


class RunningTwin:
    """A twin, as a context manager; virtual time stays at zero until `run_until`. The servers take free TCP
    ports, or `first_port` and the ports after it."""

    def __init__(
        self, topology: Topology, program: Program, spec: FabricSpec, first_port: int | None = None
    ) -> None:
        self._topology = topology
        self._program = program
        self._spec = spec
        self._first_port = first_port
        self._stack = ExitStack()
        self.targets: dict[str, str] = {}
        """The address of each switch's P4Runtime server."""
        self._switches: dict[str, Target] = {}

    def __enter__(self) -> RunningTwin:
        engine = load_engine()
        from eeon_engine.json_documents import make_twin
        from eeon_engine.p4runtime import serve

        with ExitStack() as stack:
            try:
                self._twin = make_twin(load_program(self._program.json), self._spec)
            except engine.EngineError as error:
                raise ReplayError(f"the engine cannot run this fabric: {error}") from error
            for index, name in enumerate(self._topology.switches):
                port = 0 if self._first_port is None else self._first_port + index
                try:
                    server = stack.enter_context(serve(self._twin.switch(name), address=f"127.0.0.1:{port}"))
                except engine.EngineError as error:
                    raise ReplayError(f"{name} cannot be served: {error}") from error
                self.targets[name] = server.address
                self._switches[name] = Target(server.address, in_process=True)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def apply(self, config: FabricConfig) -> None:
        """Writes the program and the configuration into every switch, or into none, by the controller."""
        fabric.apply_sync(self._topology, config, self._switches, TICK_PS)

    def send(self, batch: Sequence[Offer]) -> None:
        """Passes frames to hosts, in order of time within a batch, and not before the last `run_until`."""
        taken = self._twin.feed(*flat(batch))
        if taken != len(batch):
            raise ReplayError(
                f"the twin accepted {taken} of {len(batch)} frames; too many are waiting to be sent"
            )

    def run_until(self, at_ps: int) -> None:
        """Processes all events before `at_ps`."""
        self._twin.run_until(at_ps)

    def run_to_idle(self, limit_ps: int) -> bool:
        """Processes all events until `limit_ps`; returns whether no event is left then."""
        return self._twin.run_to_idle(limit_ps)

    def start_workload(self, workload: WorkloadSpec) -> None:
        """Starts the applications of hosts. Raises ReplayError for a workload that the engine refuses."""
        from eeon_engine.json_documents import start_workload

        try:
            start_workload(self._twin, workload)
        except load_engine().EngineError as error:
            raise ReplayError(f"the engine cannot run this workload: {error}") from error

    def run_workload(self, limit_ps: int) -> bool:
        """Runs until every application in the foreground has finished; virtual time is then that instant.
        Returns False if `limit_ps` came first, or if no event is left."""
        return self._twin.run_workload(limit_ps)

    def record(self, filter: HopFilter) -> None:
        """Records the packets' events at each hop from now on."""
        from eeon_engine import hops

        hops.record(self._twin, filter)

    def recorded(self) -> Hops | None:
        """Returns the recorded events and ends the recording."""
        from eeon_engine import hops

        return hops.take(self._twin)

    def report(self) -> Report:
        from eeon_engine.json_documents import twin_report

        return twin_report(self._twin)

    def counters(self) -> FabricCounters:
        """Returns the P4 program's counters of every linked port, over P4Runtime."""
        return fabric.read_counters_sync(self._topology, self._switches)

    def lossless_dropped(self) -> int:
        """Returns the tail drops of lossless classes, over P4Runtime. Raises FabricError on a failed read."""
        found = run(observe(self._topology, self._switches, Wanted(entries=True, queues=(pfc.GROUPS,))))
        if found.failures:
            raise FabricError("; ".join(found.failures.values()))
        return sum(
            count
            for switch in found.switches.values()
            for (name, _), count in switch.cells.items()
            if name == "lossless_dropped"
        )

    def registers(self, names: Iterable[str]) -> dict[tuple[str, int], dict[str, int]]:
        """Returns the P4 program's registers of every linked port, over P4Runtime."""
        read: dict[tuple[str, int], dict[str, int]] = fabric.read_registers_sync(
            self._topology, self._switches, names
        )
        return read
