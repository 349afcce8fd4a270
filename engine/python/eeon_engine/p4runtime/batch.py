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

    CONTINUE_ON_ERROR attempts them all. ROLLBACK_ON_ERROR stops at the first error and takes back what was
    done. DATAPLANE_ATOMIC does the same while no packet is processed.
    """
    if atomicity == p4r.WriteRequest.CONTINUE_ON_ERROR:
        return [_one(forwarding, update, Journal()) for update in updates]
    if atomicity == p4r.WriteRequest.ROLLBACK_ON_ERROR:
        return _all_or_none(forwarding, updates)
    if atomicity == p4r.WriteRequest.DATAPLANE_ATOMIC:
        control.pause()
        try:
            return _all_or_none(forwarding, updates)
        finally:
            control.resume()
    raise invalid(f"atomicity {atomicity} is none of CONTINUE_ON_ERROR, ROLLBACK_ON_ERROR, DATAPLANE_ATOMIC")


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
