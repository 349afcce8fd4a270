"""Batches of updates and their atomicity (P4Runtime 1.5 §12.2)."""

from collections.abc import Sequence
from typing import Any

from finsy.proto import p4r

from ..control import SwitchControl
from .errors import StatusError, invalid
from .forwarding import Forwarding, rolled_back
from .journal import Journal


def write(
    control: SwitchControl, forwarding: Forwarding, updates: Sequence[Any], atomicity: int
) -> list[StatusError | None]:
    """Applies the updates in order and returns the error of each, None where it worked.

    CONTINUE_ON_ERROR attempts them all. ROLLBACK_ON_ERROR and DATAPLANE_ATOMIC stop at the first error and
    take back what was done. No packet is processed meanwhile, whatever the mode: that costs a run loop one
    wait instead of one for every update, and makes every batch atomic for packets.
    """
    if atomicity not in p4r.WriteRequest.Atomicity.values():
        raise invalid(
            f"atomicity {atomicity} is none of CONTINUE_ON_ERROR, ROLLBACK_ON_ERROR, DATAPLANE_ATOMIC"
        )
    control.pause()
    try:
        if atomicity == p4r.WriteRequest.CONTINUE_ON_ERROR:
            return [_one(forwarding, update, Journal()) for update in updates]
        return _all_or_none(forwarding, updates)
    finally:
        control.resume()


def _all_or_none(forwarding: Forwarding, updates: Sequence[Any]) -> list[StatusError | None]:
    journal = Journal()
    for index, update in enumerate(updates):
        error = _one(forwarding, update, journal)
        if error is not None:
            journal.rollback()
            return [error if position == index else rolled_back() for position in range(len(updates))]
    return [None] * len(updates)


def _one(forwarding: Forwarding, update: Any, journal: Journal) -> StatusError | None:
    try:
        forwarding.write(update, journal)
    except StatusError as error:
        return error
    return None
