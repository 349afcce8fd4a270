"""Finishes an incomplete apply: one that was killed, or lost a switch while it was being undone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from finsy import P4Schema

from eeon_control import program as programs
from eeon_control.errors import FabricError
from eeon_control.fabric.bmv2_queues import of_fabric, set_all
from eeon_control.fabric.concurrent import sessions_of
from eeon_control.fabric.planning import plan_entries
from eeon_control.fabric.undo import undo
from eeon_control.operations.apply import queues_in_force
from eeon_control.operations.work import Work, owned
from eeon_control.plan import Owned, intended
from eeon_control.state import Intended
from eeon_control.targets import Target, resolve


@dataclass(frozen=True)
class Recovered:
    """The result of a recovery.

    `direction`: the apply was already committed (done), every switch held the new configuration, so it was
    committed (forward), or every switch was restored (back). `revision`: the one in force now, 0 without any.
    """

    direction: Literal["done", "forward", "back"]
    revision: int
    killed: str
    switches: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        now = f"revision {self.revision} is in force" if self.revision else "no revision is in force yet"
        match self.direction:
            case "done":
                what = "it had committed its revision"
            case "forward":
                what = "it had written everything; every switch holds its new configuration"
            case "back":
                what = f"it is undone on {', '.join(self.switches)}; every switch is as it was before"
        return "\n".join((f"{self.killed} was interrupted: {what}; {now}", *self.notes))


async def recover(work: Work) -> Recovered | None:
    """Brings the fabric of a killed apply to the old or the new configuration. Returns None without a
    journal.

    To the new one, if every switch in the journal already holds it and neither a confirmation nor a gate was
    requested; else to the old one, on all reachable switches. Both are read back. Raises FabricError if a
    switch cannot be reached or restored, and StateError; the journal then stays.
    """
    journal = work.store.journal()
    if journal is None:
        return None
    touched = tuple(journal.before)
    killed = ", ".join(part for part in (str(journal.holder), journal.progress) if part)
    if journal.revision <= work.store.current_number():
        work.store.end(work.lock)
        return Recovered("done", work.store.current_number(), killed, touched)
    journal.check_program()
    schema = programs.load().schema()
    meant = work.located(journal.draft.intent.revive("the journal"))
    resolved = resolve(meant.topology, meant.targets.switches)
    targets = {name: resolved[name] for name in touched}
    new_queues = of_fabric(meant.topology, meant.config, resolved)
    ours = owned(meant, work.store.intended())
    forward = (
        journal.confirm_seconds is None
        and not journal.gated
        and await _all_hold(meant, targets, schema, ours)
    )
    if forward and not await set_all(new_queues, resolved):
        revision = work.store.commit(work.lock, journal.draft)
        return Recovered("forward", revision.number, killed, touched)
    sessions = sessions_of(targets, schema, election_id=work.bid(), fresh=True, owned=ours)
    back = await undo(journal.before, sessions, work.observer)
    set_before = queues_in_force(work, meant)
    left = await set_all({name: set_before[name] for name in new_queues if name in set_before}, resolved)
    if back.not_undone or left:
        lines = [
            f"{killed} was interrupted, and is not undone on:",
            *(f"  {why}" for why in {**left, **back.not_undone}.values()),
            f"as before, read back: {', '.join(back.undone) or 'none'}",
            f"the journal in {work.store.folder} is kept; run `eeon config recover` when these switches can "
            "be reached (-T gives their current addresses)",
        ]
        raise FabricError("\n".join(lines))
    work.store.end(work.lock, undone="it was interrupted")
    notes = tuple(back.notes.values())
    return Recovered("back", work.store.current_number(), killed, touched, notes)


async def _all_hold(
    meant: Intended, targets: Mapping[str, Target], schema: P4Schema, ours: Owned | None
) -> bool:
    """Returns whether all of these switches can be read and hold exactly the intended entries."""
    wanted = intended(meant.topology, meant.config, meant.targets.tick)
    try:
        return (await plan_entries(wanted, targets, schema, ours)).is_empty
    except FabricError:
        return False
