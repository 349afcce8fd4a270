"""Whether the switches still hold what they were made to hold."""

from __future__ import annotations

from dataclasses import dataclass

from eeon_control import fabric
from eeon_control.errors import StateError
from eeon_control.fabric import FabricPlan, Targets
from eeon_control.operations.work import Work
from eeon_control.state import Intended, Revision, StateStore


@dataclass(frozen=True)
class Drift:
    """`plan`: what would have to be written for the switches to hold the revision again.

    `not_read_back`: what was written by other means than table entries, and no switch can be asked for.
    """

    revision: Revision
    meant: Intended
    plan: FabricPlan
    not_read_back: tuple[str, ...] = ()


async def drift(store: StateStore, targets: Targets | None = None) -> Drift:
    """Read the live switches against the current revision. Writes nothing, needs no lock.

    Raises StateError when there is no revision, or while an apply is writing.
    """
    revision = store.current()
    if revision is None:
        raise StateError(f"{store.folder}: there is no revision yet, so nothing can have drifted from it")
    meant = Work(store, store.lock("drift"), targets=targets).located(revision.intended())
    plan = await fabric.plan(meant.topology, meant.config, meant.targets.switches, int(meant.targets.tick))
    return Drift(revision, meant, plan)
