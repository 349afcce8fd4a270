"""The declaration of a view for `eeon show` and `eeon top`: the data that it reads, its function, options."""

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
    """The data of a view: `before` is an earlier observation, if an interval was requested."""

    topology: Topology
    targets: Targets
    observed: FabricObservation
    before: FabricObservation | None = None


@dataclass(frozen=True)
class Kind:
    """One kind of view. `about` is the help of its command. `examples`: further arguments in its examples.

    `counts`: its counts become rates, and `eeon clear counters` sets their zero point. `has_own_interval`: it
    uses `before` itself. `default_interval_s`: it always reads twice. `finish`: adds values derived from
    counts, or from rates (if its last argument is True). `hides_zeros`: by default, a table has only rows
    with counts above zero. `filters`: the values of `--only`. `nonzero`: the filter of `--nonzero`; if True,
    and for a view with `counts`, rows with counts above zero.
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
