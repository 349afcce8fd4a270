"""Confirms applies; finishes the work of earlier commands: killed applies, missing confirmations."""

from __future__ import annotations

from dataclasses import dataclass

from eeon_control.errors import StateError
from eeon_control.operations.apply import Outcome
from eeon_control.operations.recover import Recovered, recover
from eeon_control.operations.rollback import rollback
from eeon_control.operations.work import Work


def confirm(work: Work) -> int:
    """Confirms the current revision. Returns its number. Raises StateError if no confirmation is pending."""
    pending = work.store.pending()
    if pending is None:
        number = work.store.current_number()
        state = f"revision {number} is in force for good" if number else "no revision yet"
        raise StateError(f"nothing waits to be confirmed: {state}")
    work.store.confirm(work.lock)
    return pending.revision


async def roll_back_overdue(work: Work) -> Outcome | None:
    """Rolls back if the time to confirm is over. Returns None if nothing is pending or time is left."""
    pending = work.store.pending()
    if pending is None or not pending.is_overdue(work.clock()):
        return None
    reason = f"revision {pending.revision} was not confirmed within {pending.seconds:g} s"
    return await rollback(work, pending.back_to, reason=reason)


@dataclass(frozen=True)
class Settled:
    """The work that was done; None for parts without any."""

    recovered: Recovered | None
    rolled_back: Outcome | None


async def settle(work: Work) -> Settled:
    """Finishes and reports pending work. Raises as `recover` and `apply` do; then change nothing else."""
    recovered = await recover(work)
    if recovered is not None:
        work.say(str(recovered))
    rolled_back = await roll_back_overdue(work)
    if rolled_back is not None:
        work.say(f"revision {rolled_back.revision.number}: {rolled_back.revision.action}")
    return Settled(recovered, rolled_back)
