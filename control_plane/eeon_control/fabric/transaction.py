"""Plan and apply: all switches, or none.

P4Runtime has no transaction over switches, and BMv2 none within one, so the controller makes it: connect to
every switch and read all of them before the first write; then write; on any failure, or when what is read
back is not what was intended, bring every switch that was touched back to what it held, and say so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

from finsy import P4Schema

from eeon_control import program as programs
from eeon_control.config import FabricConfig
from eeon_control.errors import ApplyError, FabricError
from eeon_control.fabric import snapshot as snapshots
from eeon_control.fabric.codec import program_defaults
from eeon_control.fabric.diff import Change, difference
from eeon_control.fabric.session import DEFAULT_ELECTION_ID, Session
from eeon_control.fabric.snapshot import Snapshot
from eeon_control.fabric.targets import Target, resolve
from eeon_control.fabric.together import each, failures_of, open_all
from eeon_control.plan import TABLES, Entry, intended
from eeon_control.topology import Topology
from eeon_control.units import Duration


@dataclass(frozen=True)
class SwitchPlan:
    """What one switch needs: the program (when it runs another, or none), and changes of entries."""

    push_pipeline: bool
    changes: tuple[Change, ...]

    @property
    def is_empty(self) -> bool:
        """Whether the switch is as intended already."""
        return not self.push_pipeline and not self.changes


@dataclass(frozen=True)
class FabricPlan:
    """What every switch needs, in topology order."""

    switches: dict[str, SwitchPlan]

    @property
    def is_empty(self) -> bool:
        """Whether the whole fabric is as intended already."""
        return all(plan.is_empty for plan in self.switches.values())


@dataclass(frozen=True)
class ApplyReport:
    """What an apply did: the plan that was carried out, and how many entries were read back afterwards.

    It exists only when every switch holds exactly what was intended; otherwise ApplyError is raised.
    """

    plan: FabricPlan
    entries_verified: dict[str, int]


async def plan(
    topology: Topology,
    config: FabricConfig,
    targets: Mapping[str, str | Target],
    tick_ps: int,
) -> FabricPlan:
    """Read every switch and compute the difference. Writes nothing and takes no part in arbitration.

    `tick_ps`: length of the targets' timestamp unit in picoseconds (BMv2: 1 000 000). Raises InputError,
    PlanError, DataNotFound or FabricError.
    """
    schema = programs.load().schema()
    wanted = _with_defaults(intended(topology, config, Duration(tick_ps)), schema)
    resolved = resolve(topology, targets)
    async with AsyncExitStack() as stack:
        sessions = await open_all(stack, resolved, schema, election_id=None)
        taken = await each(sessions, snapshots.take)
    return _plan_from(wanted, taken, schema)


async def apply(
    topology: Topology,
    config: FabricConfig,
    targets: Mapping[str, str | Target],
    tick_ps: int,
    *,
    election_id: int = DEFAULT_ELECTION_ID,
) -> ApplyReport:
    """Make every switch hold what is intended, or leave all of them as they were.

    Raises ApplyError when a switch fails; it says what was undone. Raises InputError, PlanError, DataNotFound
    or FabricError before anything is written. When cancelled, it undoes and then ends.
    """
    schema = programs.load().schema()
    wanted = _with_defaults(intended(topology, config, Duration(tick_ps)), schema)
    resolved = resolve(topology, targets)
    async with AsyncExitStack() as stack:
        sessions = await open_all(stack, resolved, schema, election_id=election_id)
        taken = await each(sessions, snapshots.take)
        fabric_plan = _plan_from(wanted, taken, schema)
        touched = {
            name: session for name, session in sessions.items() if not fabric_plan.switches[name].is_empty
        }
        try:
            failures = await failures_of(touched, lambda one: _carry_out(one, fabric_plan, wanted))
            if not failures:
                failures = await failures_of(sessions, lambda one: _verify(one, wanted[one.name]))
        except BaseException:  # cancelled, or a bug here: whatever it was, the switches come first
            await asyncio.shield(_undo(touched, taken, resolved, schema, election_id))
            raise
        if failures:
            undone, not_undone = await _undo(touched, taken, resolved, schema, election_id)
            raise ApplyError(failures, undone, not_undone)
    return ApplyReport(fabric_plan, {name: len(entries) for name, entries in wanted.items()})


def _with_defaults(wanted: Mapping[str, tuple[Entry, ...]], schema: P4Schema) -> dict[str, tuple[Entry, ...]]:
    """The intended entries, and the program's own default action for every table that gives none."""
    own = {entry.key: entry for entry in program_defaults(schema, TABLES)}
    return {
        name: (*(entry for key, entry in own.items() if key not in {one.key for one in entries}), *entries)
        for name, entries in wanted.items()
    }


def _plan_from(
    wanted: Mapping[str, tuple[Entry, ...]], taken: Mapping[str, Snapshot], schema: P4Schema
) -> FabricPlan:
    fresh = program_defaults(schema, TABLES)  # all that a switch holds right after the program is loaded
    return FabricPlan(
        {
            name: SwitchPlan(
                not taken[name].same_program,
                tuple(difference(taken[name].entries if taken[name].same_program else fresh, entries)),
            )
            for name, entries in wanted.items()
        }
    )


async def _carry_out(
    session: Session, fabric_plan: FabricPlan, wanted: Mapping[str, tuple[Entry, ...]]
) -> None:
    todo = fabric_plan.switches[session.name]
    changes: list[Change] | tuple[Change, ...] = todo.changes
    if todo.push_pipeline:
        await session.push_pipeline()
        # A fresh program has default entries of its own; the difference is taken against those.
        changes = difference(await session.read_entries(TABLES), wanted[session.name])
    await session.write_changes(changes)


async def _verify(session: Session, wanted: tuple[Entry, ...]) -> None:
    left = difference(await session.read_entries(TABLES), wanted)
    if left:
        raise FabricError(
            f"{session.name}: accepted every write, but {len(left)} entries read back differ; the "
            f"first is {left[0].entry.table} {left[0].entry.match_text}"
        )


async def _undo(
    touched: Mapping[str, Session],
    taken: Mapping[str, Snapshot],
    targets: Mapping[str, Target],
    schema: P4Schema,
    election_id: int,
) -> tuple[list[str], dict[str, str]]:
    """Bring every touched switch back. Returns (switches that are as before, switch -> why it is not)."""

    async def bring_back(session: Session) -> None:
        try:
            await snapshots.restore(session, taken[session.name])
        except FabricError:
            # The old session may be what failed; a switch that is still there gets one more chance.
            await session.__aexit__(None, None, None)
            async with Session(session.name, targets[session.name], schema, election_id=election_id) as again:
                await snapshots.restore(again, taken[session.name])

    not_undone = await failures_of(touched, bring_back)
    return [name for name in touched if name not in not_undone], not_undone
