"""The apply transaction: all switches or none.

P4Runtime has no transactions across switches, and BMv2 has none within a switch. So the controller connects
to every switch and reads all of them before the first write; then it writes. After any failure, or if the
entries read back differ from the intended ones, it restores every touched switch, and reports that.

Batches are sent with CONTINUE_ON_ERROR: undo starts from the switch's state at that time, whatever it is, and
a switch that tries all updates reports every one that it refuses.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field

from finsy import P4Schema

from eeon_control import election
from eeon_control import program as programs
from eeon_control.config import FabricConfig
from eeon_control.errors import ApplyError, EeonError, FabricError, NothingWritten
from eeon_control.fabric import bmv2_queues
from eeon_control.fabric.bmv2_queues import Queues
from eeon_control.fabric.concurrent import each, failures_of, sessions_of
from eeon_control.fabric.diff import Change, difference
from eeon_control.fabric.planning import FabricPlan, plan_from, with_defaults
from eeon_control.fabric.progress import Observer, Rollout, Step, nobody
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.undo import Snapshot, Undone, take_snapshot, undo, verify
from eeon_control.plan import TABLES, Entry, Owned, intended
from eeon_control.targets import Target, resolve
from eeon_control.topology import Topology
from eeon_control.units import Duration


class ApplyCancelled(asyncio.CancelledError):
    """An apply was cancelled. Like ApplyError's, its text says what was undone and what was not."""


@dataclass(frozen=True)
class ApplyReport:
    """The result of an apply: the plan that was carried out, and the number of entries read back afterwards.

    It exists only if every switch holds exactly the intended entries; otherwise ApplyError is raised.
    """

    plan: FabricPlan
    entries_verified: dict[str, int]


class Ledger:
    """Records the progress of an apply, so that another process can finish it. This base records nothing.

    `begin` is called after all switches are read and before the first write; an error in it stops the apply.
    `wave` is called before the first write of each of several waves, and `commit` after the last switch is
    read back; an error in them undoes the apply. `undone` is called if all switches are as before; otherwise,
    some are not, and `advice` says what to do.
    """

    @property
    def advice(self) -> str:
        """Advice to the user about switches that could not be restored."""
        return "run `eeon config plan` to see what they hold, then apply again"

    def begin(self, plan: FabricPlan, before: Mapping[str, Snapshot], waves: Sequence[Sequence[str]]) -> None:
        """Records the planned writes, the present state of the switches to write to, and the waves."""

    def wave(self, number: int) -> None:
        """Records that the next write goes to a switch of this wave, counted from 1."""

    def commit(self, plan: FabricPlan) -> None:
        """Records that all switches hold the intended entries."""

    def undone(self, why: str) -> None:
        """Records that all switches are as before."""


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
    """Brings every switch to the intended entries, or leaves all of them as they were.

    `queues_before`: the last settings of BMv2's own queues, for undo; they cannot be read. `rollout`: the
    waves; without it, all switches at once. `owned`: by switch, the controller's entries in this
    configuration and earlier ones; other entries are not touched. None: all entries of its tables.

    Raises ApplyError if a switch fails; it reports what was undone. Raises InputError, PlanError,
    DataNotFound, NothingWritten or another FabricError before anything is written. When cancelled, it undoes
    its writes and raises ApplyCancelled.
    Without a `ledger`, an apply whose process is killed cannot be finished.
    """
    schema = programs.load().schema()
    wanted = with_defaults(intended(topology, config, Duration(tick_ps)), schema)
    resolved = resolve(topology, targets)
    async with AsyncExitStack() as stack:
        with _nothing_written():
            sessions = sessions_of(resolved, schema, election_id=election_id, owned=owned)
            await each(sessions, stack.enter_async_context)
        queues, before = bmv2_queues.of_fabric(topology, config, resolved), queues_before or {}
        ledger, rollout = ledger or Ledger(), rollout or Rollout((tuple(resolved),))
        transaction = _Transaction(
            wanted, resolved, schema, sessions, ledger, observer, queues, before, rollout
        )
        return await transaction.run()


@dataclass(frozen=True)
class _Transaction:
    wanted: Mapping[str, tuple[Entry, ...]]
    targets: Mapping[str, Target]
    schema: P4Schema
    sessions: Mapping[str, P4RuntimeSession]
    ledger: Ledger
    observer: Observer
    queues: Queues
    queues_before: Queues
    rollout: Rollout
    last_step: dict[str, Step] = field(default_factory=dict)
    queues_set: set[str] = field(default_factory=set)

    def _at(self, step: Step, switch: str) -> None:
        self.last_step[switch] = step
        self.observer(step, switch)

    async def run(self) -> ApplyReport:
        with _nothing_written():
            taken = await each(self.sessions, self._read)
            todo = plan_from(self.wanted, taken, self.schema)
            before = {name: taken[name] for name, one in todo.switches.items() if not one.is_empty}
            waves = self._waves(before)
            _check_others(before, waves)
            for gate in self.rollout.gates:
                await gate.before()
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
        except BaseException as error:  # cancelled, or a bug: restore the switches first
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
        """Returns the waves with writes; at least one wave, possibly empty, so that all is read back."""
        changing = [tuple(name for name in wave if name in before) for wave in self.rollout.waves]
        return [wave for wave in changing if wave] or [()]

    async def _wave(
        self, todo: FabricPlan, waves: Sequence[tuple[str, ...]], number: int, begun: list[str]
    ) -> dict[str, str]:
        """Changes the switches of one wave and checks its gates. Returns failed switch -> reason."""
        wave, is_last = waves[number - 1], number == len(waves)
        label = f"wave {number} of {len(waves)}"
        if len(waves) > 1:
            failures = self._ledger_says(lambda: self.ledger.wave(number))
            if failures:
                return failures
            self.observer(Step.WAVE, f"{label} ({', '.join(wave)})")
        failures = await failures_of(self._of(wave), lambda one: self._write(one, todo))
        # The last wave reads all switches again, including those of earlier waves.
        checked = self.sessions if is_last else self._of(wave)
        if not failures:
            failures = await failures_of(checked, self._verify)
        if not failures:
            queues = {name: of for name, of in self.queues.items() if name in checked}
            self.queues_set.update(queues)
            failures = await bmv2_queues.set_all(queues, self.targets)
        gates = self.rollout.gates
        if failures or (is_last and not gates):
            return failures
        await asyncio.sleep(self.rollout.pause_seconds)
        try:
            for gate in gates:
                await gate.after(number, len(waves), begun)
        except FabricError as error:
            return {"": str(error)}
        if gates:
            self.observer(Step.PASSED, label)
        return {}

    def _of(self, names: Sequence[str]) -> dict[str, P4RuntimeSession]:
        return {name: self.sessions[name] for name in names}

    async def _read(self, session: P4RuntimeSession) -> Snapshot:
        found = await take_snapshot(session)
        self._at(Step.READ, session.name)
        return found

    async def _write(self, session: P4RuntimeSession, todo: FabricPlan) -> None:
        self._at(Step.WRITING, session.name)
        one = todo.switches[session.name]
        changes: list[Change] | tuple[Change, ...] = one.changes
        if one.push_pipeline:
            await session.push_pipeline(keep_entries=one.keep_entries)
            self._at(Step.LOADED, session.name)
            # A new program has its own default entries, and after RECONCILE_AND_COMMIT also earlier ones.
            changes = difference(await session.read_entries(TABLES), self.wanted[session.name])
        await session.write_changes(changes)
        self._at(Step.WRITTEN, session.name)

    async def _verify(self, session: P4RuntimeSession) -> None:
        await verify(session, self.wanted[session.name])
        self._at(Step.VERIFIED, session.name)

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
                return "at last contact it held the new configuration"
            case Step.LOADED:
                return "at last contact it had just loaded the program"
            case _:
                return "it may hold part of the new configuration"

    async def _undo(self, before: Mapping[str, Snapshot], begun: Sequence[str], why: str) -> Undone:
        back = await undo({name: before[name] for name in begun}, self.sessions, self.observer)
        if self.queues_set:
            back = await self._undo_queues(back)
        if not back.not_undone:
            self.ledger.undone(why)
        return back

    async def _undo_queues(self, back: Undone) -> Undone:
        known = {name: of for name, of in self.queues_before.items() if name in self.queues_set}
        left = await bmv2_queues.set_all(known, self.targets)
        unknown = {
            name: f"{name}: BMv2's queues may keep their new settings; no revision records the earlier ones"
            for name in self.queues
            if name in self.queues_set and name not in known
        }
        undone = tuple(name for name in back.undone if name not in left)
        return Undone(undone, {**left, **back.not_undone}, {**back.notes, **unknown})


def _check_others(before: Mapping[str, Snapshot], waves: Sequence[Sequence[str]]) -> None:
    """Raises FabricError if a switch needs writes but is in no wave."""
    others = [name for name in before if not any(name in wave for wave in waves)]
    if others:
        raise FabricError(
            f"{', '.join(others)}: not as in the revision in force, and not part of this apply; `eeon "
            "config drift` shows the differences, `eeon config rollback` with its number removes them"
        )


@contextmanager
def _nothing_written() -> Iterator[None]:
    """Converts a failure or cancellation in its context to an error that says that nothing was written."""
    try:
        yield
    except asyncio.CancelledError:
        raise ApplyCancelled("stopped\nnothing was written to any switch") from None
    except FabricError as error:
        raise NothingWritten(str(error)) from None
