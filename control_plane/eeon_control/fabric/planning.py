"""Plans the changes of every switch by reading all of them. Writes nothing."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Annotated

from finsy import P4Schema
from pydantic import ConfigDict, Field

from eeon_control import program as programs
from eeon_control.config import FabricConfig
from eeon_control.fabric.concurrent import each, sessions_of
from eeon_control.fabric.diff import Change, difference
from eeon_control.fabric.table_entries import program_defaults
from eeon_control.fabric.undo import Snapshot, take_snapshot
from eeon_control.plan import TABLES, Entry, Owned, around, intended
from eeon_control.targets import Target, resolve
from eeon_control.topology import Topology
from eeon_control.units import Duration


@dataclass(frozen=True)
class SwitchPlan:
    """The changes of one switch: the program (if it runs another one or none), and changes of entries.

    `held`: digest of the state that was read. `keep_entries`: the program has all objects of the running one,
    so that loading it can keep the entries; `changes` are then those that remain.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # of saved plans

    push_pipeline: bool
    changes: tuple[Change, ...]
    held: str = ""
    keep_entries: Annotated[bool, Field(exclude=True)] = False

    @property
    def is_empty(self) -> bool:
        return not self.push_pipeline and not self.changes


@dataclass(frozen=True)
class FabricPlan:
    """The changes of every switch, in topology order."""

    switches: dict[str, SwitchPlan]

    @property
    def is_empty(self) -> bool:
        return all(plan.is_empty for plan in self.switches.values())


async def plan(
    topology: Topology,
    config: FabricConfig,
    targets: Mapping[str, str | Target],
    tick_ps: int,
    dead: frozenset[str] = frozenset(),
    owned: Owned | None = None,
) -> FabricPlan:
    """Reads every switch and computes the difference. Writes nothing and takes no part in arbitration.

    `tick_ps`: length of the targets' timestamp unit in picoseconds (BMv2: 1 000 000). `dead`: links that
    routes must not use, named by the ports at their ends (`plan.dead_ends`). `owned`: the controller's
    entries; None for all entries of its tables. Raises InputError, PlanError, DataNotFound or FabricError.
    """
    schema = programs.load().schema()
    meant = around(topology, config.routing, intended(topology, config, Duration(tick_ps)), dead)
    return await plan_entries(meant, resolve(topology, targets), schema, owned)


async def plan_entries(
    meant: Mapping[str, tuple[Entry, ...]],
    targets: Mapping[str, Target],
    schema: P4Schema,
    owned: Owned | None,
) -> FabricPlan:
    """Does the same for the intended entries, for the switches of `targets`. Raises FabricError."""
    async with AsyncExitStack() as stack:
        sessions = sessions_of(targets, schema, election_id=None, owned=owned)
        await each(sessions, stack.enter_async_context)
        taken = await each(sessions, take_snapshot)
    return plan_from(with_defaults({name: meant[name] for name in targets}, schema), taken, schema)


def with_defaults(wanted: Mapping[str, tuple[Entry, ...]], schema: P4Schema) -> dict[str, tuple[Entry, ...]]:
    """Returns the intended entries, and the program's default action for every table without one."""
    own = {entry.key: entry for entry in program_defaults(schema, TABLES)}
    return {
        name: (*(entry for key, entry in own.items() if key not in {one.key for one in entries}), *entries)
        for name, entries in wanted.items()
    }


def plan_from(
    wanted: Mapping[str, tuple[Entry, ...]], taken: Mapping[str, Snapshot], schema: P4Schema
) -> FabricPlan:
    """Returns the difference between the read and the intended state."""
    fresh = program_defaults(schema, TABLES)  # the entries of a switch right after the program is loaded
    switches = {}
    for name, entries in wanted.items():
        held = taken[name]
        changes = tuple(difference(_after_loading(held, fresh), entries))
        switches[name] = SwitchPlan(not held.same_program, changes, held.digest(), held.may_keep)
    return FabricPlan(switches)


def _after_loading(taken: Snapshot, fresh: list[Entry]) -> list[Entry]:
    if taken.same_program:
        return taken.entries
    if not taken.may_keep:
        return fresh
    kept = {entry.key for entry in taken.entries}
    return [*taken.entries, *(entry for entry in fresh if entry.key not in kept)]
