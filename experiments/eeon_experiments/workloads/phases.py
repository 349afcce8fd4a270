"""Ranks that compute, send to each other and wait for each other, like the NAS kernels."""

from collections.abc import Iterator
from itertools import pairwise
from math import prod
from typing import Annotated, Literal, Self

from eeon_control.model_base import Strict
from eeon_control.topology import Topology
from eeon_control.units import Duration
from pydantic import Field, model_validator

from eeon_experiments.engine_form import Form
from eeon_experiments.quantities import DurationText, SizeText
from eeon_experiments.workloads.base import Application, Broken, Count, unknown_hosts

_MOST_MESSAGES = 1 << 20  # workload's MAX_MESSAGES
_FEWEST_RANKS = 2
Message = tuple[int, int]
Extent = Annotated[int, Field(strict=True, ge=1, le=65_536)]


class Step(Strict):
    """All ranks compute, then send. The step ends when everything has arrived."""

    compute: DurationText = Duration(0)
    """Time for which each rank computes first."""
    pattern: Literal["all_to_all", "exchange", "shift", "torus"]
    """Destinations of the messages. `all_to_all`: every rank sends to every other. `exchange`: rank i
    exchanges with rank i xor `distance`. `shift`: rank i sends to rank i + `distance`, modulo the number of
    ranks. `torus`: every rank sends to both neighbours in each dimension of `grid`."""
    size: SizeText
    """Payload of each message."""
    distance: Extent | None = None
    """Distance of `exchange` and `shift`."""
    grid: Annotated[list[Extent], Field(min_length=1, max_length=3)] | None = None
    """For `torus`: number of ranks in each dimension; the last dimension varies fastest."""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        for key, patterns in (("distance", ("exchange", "shift")), ("grid", ("torus",))):
            given, needed = getattr(self, key) is not None, self.pattern in patterns
            if given != needed:
                raise ValueError(f"{self.pattern} {'needs' if needed else 'has no'} {key}")
        return self

    def broken(self, ranks: int) -> str | None:
        """Returns the first mismatch with that number of ranks, or None."""
        if self.grid is not None and prod(self.grid) != ranks:
            shape = " x ".join(map(str, self.grid))
            return f"a grid of {shape} does not have one place for each of {ranks} ranks"
        if self.distance is not None and self.pattern == "shift" and self.distance >= ranks:
            return f"a distance of {self.distance} is not below the number of ranks, {ranks}"
        if self.distance is not None and self.pattern == "exchange":
            unpaired = next((rank for rank in range(ranks) if rank ^ self.distance >= ranks), None)
            if unpaired is not None:
                return f"rank {unpaired} of {ranks} has no partner at distance {self.distance}"
        return None

    def count(self, ranks: int) -> int:
        """Returns an upper limit of the number of messages in the step."""
        each = {"all_to_all": ranks - 1, "torus": 2 * len(self.grid or ())}
        return ranks * each.get(self.pattern, 1)

    def messages(self, ranks: int) -> Iterator[Message]:
        """Yields sending and receiving ranks, in the order of sending."""
        for rank in range(ranks):
            for other in self._receivers(rank, ranks):
                yield rank, other

    def _receivers(self, rank: int, ranks: int) -> Iterator[int]:
        distance = self.distance or 0
        match self.pattern:
            case "all_to_all":
                # Each rank starts with the next one, so that not all begin with the same receiver.
                yield from ((rank + ahead) % ranks for ahead in range(1, ranks))
            case "exchange":
                yield rank ^ distance
            case "shift":
                yield (rank + distance) % ranks
            case "torus":
                yield from _neighbours(rank, self.grid or [])


def _neighbours(rank: int, grid: list[int]) -> Iterator[int]:
    """Yields each neighbour once, also where both directions lead to the same one."""
    found: dict[int, None] = {}
    stride = 1
    for extent in reversed(grid):
        place = rank // stride % extent
        for moved in ((place + 1) % extent, (place - 1) % extent):
            found[rank + (moved - place) * stride] = None
        stride *= extent
    yield from (other for other in found if other != rank)


class Phases(Application):
    """Phases of computation and communication: all ranks compute, send, and wait until everything has
    arrived, repeatedly."""

    kind: Literal["phases"]
    """`phases`."""
    ranks: Annotated[list[str], Field(min_length=_FEWEST_RANKS)] | None = None
    """The host of each rank; each host appears once. The default is all hosts."""
    iterations: Count
    """Number of times that all steps run."""
    steps: Annotated[list[Step], Field(min_length=1)]
    """The steps, which run one after the other."""
    noise_sigma: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 0.0
    """Sigma of the log-normal factor of a rank's computing time."""
    connection: Literal["persistent", "new"] = "persistent"
    """One connection per pair of ranks, or a new one per message."""

    def broken(self, topology: Topology) -> Iterator[Broken]:
        """Yields hosts that do not exist or are named twice, too few ranks, and unsuitable patterns."""
        names = self.ranks or list(topology.hosts)
        yield from unknown_hosts(((("ranks", index), name) for index, name in enumerate(names)), topology)
        for before, name in pairwise(sorted(names)):
            if before == name:
                yield ("ranks",), f"{name} is listed twice; a host is one rank"
        if len(names) < _FEWEST_RANKS:
            yield ("kind",), f"needs two hosts; topology {topology.name} has {len(names)}"
        for index, step in enumerate(self.steps):
            rule = step.broken(len(names))
            if rule is not None:
                yield ("steps", index), rule
        total = sum(step.count(len(names)) for step in self.steps)
        if total > _MOST_MESSAGES:
            yield ("steps",), f"{total} messages are more than {_MOST_MESSAGES}; take fewer ranks or steps"

    def _own(self, topology: Topology, seed: int) -> Form:
        names = self.ranks or list(topology.hosts)
        steps = [
            {
                "compute_ps": int(step.compute),
                "messages": [[one, other, int(step.size)] for one, other in step.messages(len(names))],
            }
            for step in self.steps
        ]
        return {**super()._own(topology, seed), "ranks": names, "steps": steps}
