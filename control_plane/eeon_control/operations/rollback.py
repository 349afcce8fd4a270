"""Go back to an earlier revision. That is a new revision: history only grows."""

from __future__ import annotations

from eeon_control.errors import StateError
from eeon_control.operations.apply import Outcome, apply
from eeon_control.operations.work import Work
from eeon_control.state import Intended, Intent


def meant_by(work: Work, number: int) -> Intended:
    """What a revision means, with its switches where they are now: as given, else as in the current one."""
    store = work.store
    current = store.current()
    newer = [current.intended().targets] if current is not None and current.number != number else []
    return work.located(store.revision(number).intended(), *newer)


async def rollback(work: Work, number: int | None = None, *, comment: str = "", reason: str = "") -> Outcome:
    """Make the fabric hold revision `number` again; None: the one before the current one, or the one that a
    pending confirmation goes back to. Call `settle` first, or nothing that is pending is looked at.
    """
    if number is None:
        pending = work.store.pending()
        number = pending.back_to if pending is not None else work.store.current_number() - 1
        if number < 1:
            last = work.store.current_number()
            raise StateError("there is no revision " + ("before the current one, 1" if last else "yet"))
    meant = meant_by(work, number)
    if Intent.of(meant).entries != work.store.revision(number).intent.entries:
        work.say(f"this version of eeon makes other entries of revision {number} than the one that made it")
    action = f"rollback to {number}" + (f": {reason}" if reason else "")
    return await apply(work, meant, action=action, comment=comment)
