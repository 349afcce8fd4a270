"""Compares the switches with the current revision."""

from collections.abc import Iterator
from dataclasses import dataclass

from eeon_control import fabric
from eeon_control.errors import StateError
from eeon_control.fabric import FabricPlan
from eeon_control.fabric.bmv2_queues import of_switch
from eeon_control.fabric.read import Wanted, observe
from eeon_control.operations.work import Work, owned
from eeon_control.plan import dead_ends
from eeon_control.state import Intended, Intent, Revision, StateStore
from eeon_control.targets import Targets


@dataclass(frozen=True)
class Drift:
    """`plan`: the writes that would restore the revision on the switches.

    `not_read_back`: settings other than table entries, which cannot be read from a switch. `withdrawn`:
    switches whose routes avoid links that are down, as `eeon controller run` does; these do not count as
    drift. `made_otherwise`: a sentence if this version of eeon makes other entries from the revision.
    """

    revision: Revision
    meant: Intended
    plan: FabricPlan
    not_read_back: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    made_otherwise: str = ""


async def drift(store: StateStore, targets: Targets | None = None) -> Drift:
    """Compares the live switches with the current revision. Writes nothing, needs no lock.

    Raises StateError without a revision, and ProgramPinned for a revision of another program.
    """
    revision = store.current()
    if revision is None:
        raise StateError(f"{store.folder}: no revision yet, so nothing can have drifted")
    revision.intent.check_program(f"revision {revision.number}")
    recorded = revision.intended()
    meant = Work(store, store.lock("drift"), targets=targets).located(recorded)
    plan = await fabric.plan(
        meant.topology, meant.config, meant.targets.switches, int(meant.targets.tick), owned=owned(meant)
    )
    withdrawn: tuple[str, ...] = ()
    if not plan.is_empty:
        plan, withdrawn = await _without_links_down(meant, plan)
    made_otherwise = revision.made_otherwise(Intent.of(recorded).entries)
    return Drift(revision, meant, plan, tuple(_not_read_back(meant)), withdrawn, made_otherwise)


async def _without_links_down(meant: Intended, plan: FabricPlan) -> tuple[FabricPlan, tuple[str, ...]]:
    """Returns the plan without routes withdrawn over links that are down, and the switches that withdrew
    theirs: those that differ less from the routes that remain."""
    seen = await observe(meant.topology, meant.targets.switches, Wanted(ports=True))
    dead = dead_ends(meant.topology, seen.down)
    if not dead:
        return plan, ()
    left = await fabric.plan(
        meant.topology, meant.config, meant.targets.switches, int(meant.targets.tick), dead, owned(meant)
    )
    withdrawn = tuple(
        name
        for name, one in plan.switches.items()
        if not one.push_pipeline and len(left.switches[name].changes) < len(one.changes)
    )
    return FabricPlan(
        {name: (left if name in withdrawn else plan).switches[name] for name in plan.switches}
    ), withdrawn


def _not_read_back(meant: Intended) -> Iterator[str]:
    said = [name for name, switch in meant.topology.switches.items() if of_switch(meant.config, switch)]
    unknown = [name for name in said if meant.targets.switches[name].thrift is None]
    if said:
        yield f"BMv2's queue depths and packet rates, set over Thrift, of {', '.join(said)}"
    if unknown:
        yield f"(they were not set on {', '.join(unknown)}: their targets have no `thrift`)"
