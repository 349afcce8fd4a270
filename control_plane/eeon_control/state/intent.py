"""The intended configuration of a fabric, as a value that can be stored and restored."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Self

from eeon_control import config as configs
from eeon_control import program as programs
from eeon_control import topology as topologies
from eeon_control.config import FabricConfig
from eeon_control.errors import ProgramPinned
from eeon_control.model_base import Frozen
from eeon_control.plan import Entry, entries_digest, intended
from eeon_control.targets import Targets
from eeon_control.topology import Topology


@dataclass(frozen=True)
class FabricKind:
    """A twin, a live fabric and real switches may share a topology's name and a state folder. Their ticks,
    and in a live fabric rates, differ, and with them thresholds, times and routes' ports.

    Fabrics of the same kind and tick are not distinguished, because a restarted twin has other addresses.
    """

    name: Literal["twin", "live fabric", "switches"]
    tick: str

    @classmethod
    def of(cls, targets: Targets) -> Self:
        if targets.clock == "virtual":
            return cls("twin", str(targets.tick))
        return cls("switches" if targets.topology is None else "live fabric", str(targets.tick))

    def __str__(self) -> str:
        return f"{self.name}, tick {self.tick}"


APPLY_LOADS_IT = "`eeon config plan` shows what the new program changes, `eeon config apply` loads it"


@dataclass(frozen=True)
class Intended:
    """The complete intended configuration of a fabric. `targets.tick` is the tick."""

    topology: Topology
    config: FabricConfig
    targets: Targets


class Intent(Frozen):
    """An `Intended` as plain values: the documents themselves, not paths to files that may change.

    `entries`: switch -> digest of the entries computed from these documents when it was made. `program`:
    identity of the program for which they were computed; only an apply may replace it. Targets contain
    addresses and names of key files, never keys.
    """

    fabric: str
    configuration: dict[str, object]
    topology: dict[str, object]
    targets: dict[str, object]
    program: str
    entries: dict[str, str]

    @classmethod
    def of(cls, meant: Intended) -> Self:
        """Returns `meant` as plain values. Raises InputError or PlanError if its documents do not fit."""
        wanted = intended(meant.topology, meant.config, meant.targets.tick)
        return cls(
            fabric=meant.topology.name,
            configuration=meant.config.document.value,
            topology=dict(meant.topology.document),
            targets=meant.targets.as_value(),
            program=programs.load().identity,
            entries=digests(wanted),
        )

    @property
    def kind(self) -> FabricKind:
        """The kind of the fabric. Raises InputError if the targets are damaged."""
        return FabricKind.of(Targets.from_value(self.targets, "targets"))

    def check_program(self, source: str, way_out: str = APPLY_LOADS_IT) -> None:
        """Raises ProgramPinned if this version of the controller has another program; `source` as below."""
        own = programs.load().identity
        if own != self.program:
            raise ProgramPinned(
                f"{source} pins the P4 program {self.program[:12]}, but this version of eeon has "
                f"{own[:12]}: nothing is written to any switch; {way_out}"
            )

    def revive(self, source: str) -> Intended:
        """Returns the intended configuration; errors call the file `source` (such as `revision 3`).

        Raises InputError if this version of the controller no longer accepts the documents.
        """
        return Intended(
            topologies.from_value(self.topology, source),
            configs.from_value(self.configuration, source),
            Targets.from_value(self.targets, source),
        )


def digests(entries: Mapping[str, Iterable[Entry]]) -> dict[str, str]:
    """Returns switch -> digest of its entries."""
    return {name: entries_digest(of) for name, of in entries.items()}
