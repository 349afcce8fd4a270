"""Finish what earlier commands left: an apply that was killed, a confirmation that never came."""

from __future__ import annotations

from dataclasses import dataclass

from eeon_control.operations.apply import Outcome
from eeon_control.operations.confirm import roll_back_overdue
from eeon_control.operations.recover import Recovered, recover
from eeon_control.operations.work import Work


@dataclass(frozen=True)
class Settled:
    """What there was to do; None where there was nothing."""

    recovered: Recovered | None
    rolled_back: Outcome | None


async def settle(work: Work) -> Settled:
    """Does it, and says what was done. Raises as `recover` and `apply` do; then change nothing else."""
    recovered = await recover(work)
    if recovered is not None:
        work.say(str(recovered))
    rolled_back = await roll_back_overdue(work)
    if rolled_back is not None:
        work.say(f"revision {rolled_back.revision.number}: {rolled_back.revision.action}")
    return Settled(recovered, rolled_back)
