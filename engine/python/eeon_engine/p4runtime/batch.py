"""Batches: of updates, with their atomicity (P4Runtime 1.5 §12.2), and of things to read (§13.3)."""

from collections.abc import Sequence
from typing import Any

from finsy.proto import p4r

from ..control import SwitchControl
from ..exceptions import EngineError
from . import roles
from .errors import StatusError, from_engine, invalid
from .forwarding import Forwarding, rolled_back
from .journal import Journal
from .roles import Role


def write(
    control: SwitchControl, forwarding: Forwarding, role: Role, updates: Sequence[Any], atomicity: int
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
            return [_one(forwarding, role, update, Journal()) for update in updates]
        return _all_or_none(forwarding, role, updates)
    finally:
        control.resume()


def _all_or_none(forwarding: Forwarding, role: Role, updates: Sequence[Any]) -> list[StatusError | None]:
    journal = Journal()
    for index, update in enumerate(updates):
        error = _one(forwarding, role, update, journal)
        if error is not None:
            journal.rollback()
            return [error if position == index else rolled_back() for position in range(len(updates))]
    return [None] * len(updates)


def _one(forwarding: Forwarding, role: Role, update: Any, journal: Journal) -> StatusError | None:
    try:
        roles.check_write(forwarding.schema, role, update.entity)
        forwarding.write(update, journal)
    except StatusError as error:
        return error
    return None


def read(
    forwarding: Forwarding, role: Role, requests: Sequence[Any]
) -> tuple[list[Any], list[StatusError | None]]:
    """What every request that is valid asks for and the role may see, and the error of each, None if it
    was."""
    entities: list[Any] = []
    errors: list[StatusError | None] = []
    for request in requests:
        try:
            found = list(forwarding.read(request))
        except StatusError as error:
            errors.append(error)
        except EngineError as error:
            errors.append(from_engine(error))
        else:
            errors.append(None)
            entities += [entity for entity in found if roles.is_visible(forwarding.schema, role, entity)]
    return entities, errors
