"""The work of hosts in a run: applications in users' units, as models that convert to the engine's JSON.

A new kind is a model with its own `kind` (see `base.Application`), added to `AnyApplication`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Annotated

from eeon_control.model_base import Strict
from eeon_control.sources import KeyPath
from eeon_control.topology import Topology
from eeon_control.units import Duration
from pydantic import BeforeValidator, Field

from eeon_experiments.workloads.base import Broken
from eeon_experiments.workloads.flows import Flows
from eeon_experiments.workloads.job_mix import JobMix
from eeon_experiments.workloads.mapreduce import MapReduce
from eeon_experiments.workloads.phases import Phases
from eeon_experiments.workloads.queries import ScatterGather
from eeon_experiments.workloads.transfers import Coflows, Incast, Poisson, Rpc

if TYPE_CHECKING:
    from eeon_engine.json_types import ApplicationSpec

AnyApplication = Annotated[
    MapReduce | JobMix | Coflows | Flows | Incast | Rpc | ScatterGather | Phases | Poisson,
    Field(discriminator="kind"),
]


def _some(value: object) -> object:
    if isinstance(value, dict) and not value:
        raise ValueError("a workload needs at least one application")
    return value


class Workload(Strict):
    """The applications of a run."""

    applications: Annotated[dict[str, AnyApplication], BeforeValidator(_some)]
    """Applications by name; also a list, each with a `name`, which is its `kind` unless given."""

    def broken(self, topology: Topology) -> list[Broken]:
        """Returns mismatches with this fabric: (place, rule)."""
        found: list[Broken] = []
        path: KeyPath = ("workload", "applications")
        loads: defaultdict[str, float] = defaultdict(float)
        for name, application in self.applications.items():
            broken = [*application.broken(topology)]
            if isinstance(application, Poisson):
                broken += application.beyond_links(loads)
            found += [((*path, name, *place), rule) for place, rule in broken]
        if all(application.background for application in self.applications.values()):
            found.append((path, "every application is in the background, so the run would never end"))
        return found

    def engine(self, topology: Topology, seed: int, start_jitter: Duration) -> list[ApplicationSpec]:
        """Returns the applications in the engine's form; `start_jitter` is that of the run's settings."""
        return [one.engine(name, topology, seed, start_jitter) for name, one in self.applications.items()]
