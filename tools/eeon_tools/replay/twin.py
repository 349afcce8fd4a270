"""A running twin: the engine's fabric, a P4Runtime server on loopback for each of its switches, and the
controller.

All writes to switches and all reads from them go through P4Runtime, as with real switches; only frames, the
clock and the measurements of hosts and PHYs do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
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
    from eeon_engine import Twin
    from eeon_engine.hops import HopFilter, Hops
    from eeon_engine.json_types import FabricSpec, Report, WorkloadSpec


@contextmanager
def running_twin(
    topology: Topology, program: Program, spec: FabricSpec, first_port: int | None = None
) -> Iterator[RunningTwin]:
    """Runs a twin during a `with` block; virtual time stays at zero until its engine runs. The servers take
    free TCP ports, or `first_port` and the ports after it."""
    engine = load_engine()
    from eeon_engine.json_documents import make_twin
    from eeon_engine.p4runtime import serve

    with ExitStack() as stack:
        try:
            twin = make_twin(load_program(program.json), spec)
        except engine.EngineError as error:
            raise ReplayError(f"the engine cannot run this fabric: {error}") from error
        targets: dict[str, Target] = {}
        for index, name in enumerate(topology.switches):
            port = 0 if first_port is None else first_port + index
            try:
                server = stack.enter_context(serve(twin.switch(name), address=f"127.0.0.1:{port}"))
            except engine.EngineError as error:
                raise ReplayError(f"{name} cannot be served: {error}") from error
            targets[name] = Target(server.address, in_process=True)
        yield RunningTwin(topology, twin, targets)


@dataclass(frozen=True)
class RunningTwin:
    """A twin of a topology: `engine` has its clock and its frames, `targets` the P4Runtime server of each
    switch."""

    topology: Topology
    engine: Twin
    targets: Mapping[str, Target]

    def apply(self, config: FabricConfig) -> None:
        """Writes the program and the configuration into every switch, or into none, by the controller."""
        fabric.apply_sync(self.topology, config, self.targets, TICK_PS)

    def send(self, batch: Sequence[Offer]) -> None:
        """Passes frames to hosts, in order of time within a batch, and not before the engine's time."""
        taken = self.engine.feed(*flat(batch))
        if taken != len(batch):
            raise ReplayError(
                f"the twin accepted {taken} of {len(batch)} frames; too many are waiting to be sent"
            )

    def start_workload(self, workload: WorkloadSpec) -> None:
        """Starts the applications of hosts. Raises ReplayError for a workload that the engine refuses."""
        from eeon_engine.json_documents import start_workload

        try:
            start_workload(self.engine, workload)
        except load_engine().EngineError as error:
            raise ReplayError(f"the engine cannot run this workload: {error}") from error

    def record(self, filter: HopFilter) -> None:
        """Records the packets' events at each hop from now on."""
        from eeon_engine import hops

        hops.record(self.engine, filter)

    def recorded(self) -> Hops | None:
        """Returns the recorded events and ends the recording."""
        from eeon_engine import hops

        return hops.take(self.engine)

    def report(self) -> Report:
        from eeon_engine.json_documents import twin_report

        return twin_report(self.engine)

    def counters(self) -> FabricCounters:
        """Returns the P4 program's counters of every linked port, over P4Runtime."""
        return fabric.read_counters_sync(self.topology, self.targets)

    def lossless_dropped(self) -> int:
        """Returns the tail drops of lossless classes, over P4Runtime. Raises FabricError on a failed read."""
        found = run(observe(self.topology, self.targets, Wanted(entries=True, queues=(pfc.GROUPS,))))
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
        return fabric.read_registers_sync(self.topology, self.targets, names)
