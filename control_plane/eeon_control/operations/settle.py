"""Confirms applies; finishes the work of earlier commands: killed applies, missing confirmations."""

from eeon_control.errors import StateError
from eeon_control.operations.apply import Outcome
from eeon_control.operations.recover import Recovered, recover
from eeon_control.operations.rollback import rollback
from eeon_control.operations.work import Work
from eeon_control.state import clock


def confirm(work: Work) -> int:
    """Confirms the current revision. Returns its number. Raises StateError if no confirmation is pending."""
    pending = work.store.pending()
    if pending is None:
        number = work.store.current_number()
        state = f"revision {number} is in force for good" if number else "no revision yet"
        raise StateError(f"nothing waits to be confirmed: {state}")
    work.store.confirm(work.lock)
    return pending.revision


async def settle(work: Work) -> tuple[Recovered | None, Outcome | None]:
    """Finishes and reports pending work, and returns what was done: a killed apply, and one whose time to
    confirm is over. Raises as `recover` and `apply` do; then change nothing else."""
    recovered = await recover(work)
    if recovered is not None:
        work.say(str(recovered))
    pending = work.store.pending()
    if pending is None or pending.seconds_left(clock.now()) > 0:
        return recovered, None
    reason = f"revision {pending.revision} was not confirmed within {pending.seconds:g} s"
    rolled_back = await rollback(work, pending.back_to, reason=reason)
    work.say(f"revision {rolled_back.revision.number}: {rolled_back.revision.action}")
    return recovered, rolled_back
