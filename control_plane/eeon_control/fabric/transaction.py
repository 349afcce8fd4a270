"""Apply: all switches, or none.

P4Runtime has no transaction over switches, and BMv2 none within one, so the controller makes it: connect to
every switch and read all of them before the first write; then write; on any failure, or when what is read
back is not what was intended, bring every switch that was touched back to what it held, and say so.

Batches are sent with CONTINUE_ON_ERROR: the undoing starts from what a switch holds, whatever that is, and a
switch that tries all updates names all that it refuses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from finsy import P4Schema

from eeon_control import election
from eeon_control import program as programs
from eeon_control.config import FabricConfig
from eeon_control.errors import ApplyCancelled, ApplyError, EeonError, FabricError, NothingWritten
from eeon_control.fabric import bmv2_queues
from eeon_control.fabric.bmv2_queues import Queues
from eeon_control.fabric.concurrent import each, failures_of, open_all
from eeon_control.fabric.diff import Change, difference
from eeon_control.fabric.planning import FabricPlan, plan_from, with_defaults
from eeon_control.fabric.progress import Observer, Step, nobody
from eeon_control.fabric.rollout import Rollout
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.undo import Snapshot, Undone, take_snapshot, undo
from eeon_control.plan import TABLES, Entry, Owned, intended
from eeon_control.targets import Target, resolve
from eeon_control.topology import Topology
from eeon_control.units import Duration


@dataclass(frozen=True)
class ApplyReport:
    """What an apply did: the plan that was carried out, and how many entries were read back afterwards.

    It exists only when every switch holds exactly what was intended; otherwise ApplyError is raised.
    """

    plan: FabricPlan
    entries_verified: dict[str, int]


class Ledger(Protocol):
    """Who writes down what an apply does, so that another process can finish it.

    `begin` comes after all switches were read and before the first write; what it raises stops the apply.
    `wave` comes before the first write of each of several waves, `commit` after the last switch was read
    back; what they raise undoes the apply. `undone` comes when all switches are as before; when it does not
    come, some are not, and `advice` says what to do then.
    """

    @property
    def advice(self) -> str:
        """What a person can do about switches that could not be undone."""
        ...

    def begin(self, plan: FabricPlan, before: Mapping[str, Snapshot], waves: Sequence[Sequence[str]]) -> None:
        """Records what is to be written, what the switches that it is written to hold, and the waves."""
        ...

    def wave(self, number: int) -> None:
        """Records that the next write is to a switch of this wave, counted from 1."""
        ...

    def commit(self, plan: FabricPlan) -> None:
        """Records that all switches hold what is intended."""
        ...

    def undone(self, why: str) -> None:
        """Records that all switches hold what they held before."""
        ...


class _NoLedger:
    advice = "run `eeon config plan` to see what they hold, then apply again"

    def begin(self, plan: FabricPlan, before: Mapping[str, Snapshot], waves: Sequence[Sequence[str]]) -> None:
        pass

    def wave(self, number: int) -> None:
        pass

    def commit(self, plan: FabricPlan) -> None:
        pass

    def undone(self, why: str) -> None:
        pass


async def apply(
    topology: Topology,
    config: FabricConfig,
    targets: Mapping[str, str | Target],
    tick_ps: int,
    *,
    election_id: int = election.DEFAULT,
    ledger: Ledger | None = None,
    observer: Observer = nobody,
    queues_before: Queues | None = None,
    rollout: Rollout | None = None,
    owned: Owned | None = None,
) -> ApplyReport:
    """Makes every switch hold what is intended, or leave all of them as they were.

    `queues_before`: what BMv2's own queues were last set to, for undoing; it cannot be read. `rollout`: in
    which waves; without, all switches at once. `owned`: by switch, the entries that are the controller's, of
    this configuration and of those before; the others are left alone. None: all entries of its tables.

    Raises ApplyError when a switch fails; it says what was undone. Raises InputError, PlanError,
    DataNotFound, NothingWritten or another FabricError before anything is written. When cancelled, it undoes
    and then ends with ApplyCancelled.
    Without a `ledger`, nothing finishes it when the process is killed.
    """
    schema = programs.load().schema()
    wanted = with_defaults(intended(topology, config, Duration(tick_ps)), schema)
    resolved = resolve(topology, targets)
    async with AsyncExitStack() as stack:
        with _nothing_written():
            sessions = await open_all(stack, resolved, schema, election_id=election_id, owned=owned)
        steps: dict[str, Step] = {}

        def observe(step: Step, switch: str) -> None:
            if step not in (Step.UNDOING, Step.UNDONE):
                steps[switch] = step
            observer(step, switch)

        transaction = _Transaction(
            wanted,
            resolved,
            schema,
            election_id,
            sessions,
            ledger or _NoLedger(),
            observe,
            steps,
            bmv2_queues.of_fabric(topology, config, resolved),
            queues_before or {},
            rollout or Rollout((tuple(resolved),)),
            owned,
        )
        return await transaction.run()


@dataclass(frozen=True)
class _Transaction:
    wanted: Mapping[str, tuple[Entry, ...]]
    targets: Mapping[str, Target]
    schema: P4Schema
    election_id: int
    sessions: Mapping[str, P4RuntimeSession]
    ledger: Ledger
    observer: Observer
    last_step: Mapping[str, Step]
    queues: Queues
    queues_before: Queues
    rollout: Rollout
    owned: Owned | None
    queues_set: set[str] = field(default_factory=set)

    async def run(self) -> ApplyReport:
        with _nothing_written():
            taken = await each(self.sessions, self._read)
            todo = plan_from(self.wanted, taken, self.schema)
            before = {name: taken[name] for name, one in todo.switches.items() if not one.is_empty}
            waves = self._waves(before)
            _check_others(before, waves)
            if self.rollout.gate is not None:
                await self.rollout.gate.before()
        self.ledger.begin(todo, before, waves)
        self.observer(Step.JOURNALED, "")
        begun: list[str] = []  # switches of the waves that have begun
        try:
            failures: dict[str, str] = {}
            for number, wave in enumerate(waves, 1):
                begun += wave
                failures = await self._wave(todo, waves, number, begun)
                if failures:
                    break
            else:
                failures = self._ledger_says(lambda: self.ledger.commit(todo))
        except BaseException as error:  # cancelled, or a bug here: the switches come first
            back = await asyncio.shield(self._undo(before, begun, "stopped"))
            if isinstance(error, asyncio.CancelledError):
                raise ApplyCancelled(str(self._error({"": "stopped"}, back))) from None
            raise
        if failures:
            back = await self._undo(before, begun, next(iter(failures.values())))
            if len(waves) > 1:
                failures = {name: f"wave {number} of {len(waves)}: {why}" for name, why in failures.items()}
            raise self._error(failures, back)
        self.observer(Step.COMMITTED, "")
        return ApplyReport(todo, {name: len(entries) for name, entries in self.wanted.items()})

    def _waves(self, before: Mapping[str, Snapshot]) -> list[tuple[str, ...]]:
        """Returns the waves in which something is to be written; at least one, for what is only read back."""
        changing = [tuple(name for name in wave if name in before) for wave in self.rollout.waves]
        return [wave for wave in changing if wave] or [()]

    async def _wave(
        self, todo: FabricPlan, waves: Sequence[tuple[str, ...]], number: int, begun: list[str]
    ) -> dict[str, str]:
        """Changes the switches of one wave, and sees that it may go on. Returns who failed, and why."""
        wave, is_last = waves[number - 1], number == len(waves)
        label = f"wave {number} of {len(waves)}"
        if len(waves) > 1:
            failures = self._ledger_says(lambda: self.ledger.wave(number))
            if failures:
                return failures
            self.observer(Step.WAVE, f"{label} ({', '.join(wave)})")
        failures = await failures_of(self._of(wave), lambda one: self._write(one, todo))
        # What was written waves ago is read again at the end.
        checked = self.sessions if is_last else self._of(wave)
        if not failures:
            failures = await failures_of(checked, self._verify)
        if not failures:
            queues = {name: of for name, of in self.queues.items() if name in checked}
            self.queues_set.update(queues)
            failures = await bmv2_queues.set_all(queues, self.targets)
        gate = self.rollout.gate
        if failures or (is_last and gate is None):
            return failures
        await asyncio.sleep(self.rollout.pause_seconds)
        if gate is not None:
            try:
                await gate.after(number, len(waves), begun)
            except FabricError as error:
                return {"": str(error)}
            self.observer(Step.PASSED, label)
        return {}

    def _of(self, names: Sequence[str]) -> dict[str, P4RuntimeSession]:
        return {name: self.sessions[name] for name in names}

    async def _read(self, session: P4RuntimeSession) -> Snapshot:
        found = await take_snapshot(session)
        self.observer(Step.READ, session.name)
        return found

    async def _write(self, session: P4RuntimeSession, todo: FabricPlan) -> None:
        self.observer(Step.WRITING, session.name)
        one = todo.switches[session.name]
        changes: list[Change] | tuple[Change, ...] = one.changes
        if one.push_pipeline:
            await session.push_pipeline(keep_entries=one.keep_entries)
            self.observer(Step.LOADED, session.name)
            # A fresh program has default entries of its own, and one that was reconciled has more than those.
            changes = difference(await session.read_entries(TABLES), self.wanted[session.name])
        await session.write_changes(changes)
        self.observer(Step.WRITTEN, session.name)

    async def _verify(self, session: P4RuntimeSession) -> None:
        left = difference(await session.read_entries(TABLES), self.wanted[session.name])
        if left:
            raise FabricError(
                f"{session.name}: accepted every write, but {len(left)} entries read back differ; the "
                f"first is {left[0].entry.table} {left[0].entry.match_text}"
            )
        self.observer(Step.VERIFIED, session.name)

    def _ledger_says(self, work: Callable[[], None]) -> dict[str, str]:
        try:
            work()
        except EeonError as error:
            return {"": str(error)}
        return {}

    def _error(self, failures: dict[str, str], back: Undone) -> ApplyError:
        lost = {name: f"{why}; {self._last_known(name)}" for name, why in back.not_undone.items()}
        return ApplyError(failures, back.undone, lost, back.notes, self.ledger.advice)

    def _last_known(self, name: str) -> str:
        match self.last_step.get(name):
            case Step.WRITTEN | Step.VERIFIED:
                return "when last heard of it held the new configuration"
            case Step.LOADED:
                return "when last heard of it had just loaded the program"
            case _:
                return "it may hold a part of the new configuration"

    async def _undo(self, before: Mapping[str, Snapshot], begun: Sequence[str], why: str) -> Undone:
        touched = {name: before[name] for name in begun}
        back = await undo(
            touched,
            self.targets,
            self.schema,
            self.election_id,
            self.observer,
            self.sessions,
            self.owned,
        )
        if self.queues_set:
            back = await self._undo_queues(back)
        if not back.not_undone:
            self.ledger.undone(why)
        return back

    async def _undo_queues(self, back: Undone) -> Undone:
        known = {name: of for name, of in self.queues_before.items() if name in self.queues_set}
        left = await bmv2_queues.set_all(known, self.targets)
        unknown = {
            name: f"{name}: BMv2's queues may stay as they were set; no revision says what they were before"
            for name in self.queues
            if name in self.queues_set and name not in known
        }
        undone = tuple(name for name in back.undone if name not in left)
        return Undone(undone, {**left, **back.not_undone}, {**back.notes, **unknown})


def _check_others(before: Mapping[str, Snapshot], waves: Sequence[Sequence[str]]) -> None:
    """Raises FabricError where a switch would have to be written that is in no wave."""
    others = [name for name in before if not any(name in wave for wave in waves)]
    if others:
        raise FabricError(
            f"{', '.join(others)}: not as in the revision in force, and not to be written now; "
            "`eeon config drift` shows how, `eeon config rollback` with its number brings it back"
        )


@contextmanager
def _nothing_written() -> Iterator[None]:
    """Turns a failure or cancellation inside into an error that says that nothing was written."""
    try:
        yield
    except asyncio.CancelledError:
        raise ApplyCancelled("stopped\nnothing was written to any switch") from None
    except FabricError as error:
        raise NothingWritten(str(error)) from None
