"""A view as `eeon show` and `eeon top` declare it: what it reads, how it is made, what can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from eeon_control.fabric.read import FabricObservation, Wanted
from eeon_control.targets import Targets
from eeon_control.topology import Topology
from eeon_control.views.filters import Filter
from eeon_control.views.table import View

COUNTERS = Wanted(counters=True, clock=True)


@dataclass(frozen=True)
class ViewData:
    """What a view is made of: `before` is an earlier observation, where an interval was asked for."""

    topology: Topology
    targets: Targets
    observed: FabricObservation
    before: FabricObservation | None = None


@dataclass(frozen=True)
class Kind:
    """One kind of view. `about` is the help of its command. `examples`: what may follow the fabric there.

    `counts`: its counts become rates, and `eeon clear counters` sets their zero. `has_own_interval`: it makes
    sense of `before` itself. `default_interval_s`: it always looks twice. `finish`: what is worked out of
    counts, or of rates (then True), once they are known. `hides_zeros`: a table has only rows in which
    something was counted, unless all are asked for. `filters`: what `--only` takes. `nonzero`: the rows of
    `--nonzero`; where True, and where it `counts`, those in which something was counted.
    """

    name: str
    about: str
    wanted: Wanted
    make: Callable[[ViewData], View]
    examples: tuple[str, ...] = ()
    counts: bool = False
    has_own_interval: bool = False
    default_interval_s: float | None = None
    finish: Callable[[Topology, View, bool], View] | None = None
    hides_zeros: bool = False
    filters: Mapping[str, Filter] = field(default_factory=dict)
    nonzero: Filter | bool = False
