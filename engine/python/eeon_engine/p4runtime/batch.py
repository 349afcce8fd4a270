"""Batches of updates, with their atomicity (P4Runtime 1.5 §12.2)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .._engine import SwitchHandle
from .clients import roles
from .clients.roles import Role
from .entities import chunks
from .entities.forwarding import Forwarding, rolled_back
from .errors import StatusError, exhausted, invalid
from .messages import p4r


@contextmanager
def undisturbed(control: SwitchHandle) -> Iterator[None]:
    """Blocks packets and other calls, also Thrift's, until the block ends. Its changes can be undone."""
    control.pause()
    try:
        control.begin_batch()
        try:
            yield
        finally:
            control.end_batch()
    finally:
        control.resume()


def write(
    control: SwitchHandle, forwarding: Forwarding, role: Role, updates: Sequence[p4r.Update], atomicity: int
) -> list[StatusError | None]:
    """Applies the updates in order, and returns the error of each; None for success.

    CONTINUE_ON_ERROR attempts them all. ROLLBACK_ON_ERROR and DATAPLANE_ATOMIC stop at the first error and
    undo the previous updates. No packet is processed meanwhile, in any mode: a run loop then waits once
    instead of once per update, and every batch is atomic for packets.
    """
    if atomicity not in p4r.WriteRequest.Atomicity.values():
        raise invalid(
            f"atomicity {atomicity} is unknown; use CONTINUE_ON_ERROR, ROLLBACK_ON_ERROR or DATAPLANE_ATOMIC"
        )
    _check_cost(forwarding, updates)
    with undisturbed(control):
        if atomicity == p4r.WriteRequest.CONTINUE_ON_ERROR:
            return [_one(forwarding, role, update) for update in updates]
        return _atomic(forwarding, role, updates)


def _check_cost(forwarding: Forwarding, updates: Sequence[p4r.Update]) -> None:
    cells = 0
    for update in updates:
        try:
            cells += forwarding.write_cost(update.entity)
        except StatusError:
            # The object does not exist; the update will report it.
            continue
    if cells > chunks.MAX_WRITE_CELLS:
        raise exhausted(
            f"the write changes {cells} cells, the limit is {chunks.MAX_WRITE_CELLS}; write fewer "
            "arrays at a time, or cells by index"
        )


def _atomic(forwarding: Forwarding, role: Role, updates: Sequence[p4r.Update]) -> list[StatusError | None]:
    before = forwarding.checkpoint()
    for index, update in enumerate(updates):
        error = _one(forwarding, role, update)
        if error is not None:
            forwarding.restore(before)
            return [error if position == index else rolled_back() for position in range(len(updates))]
    return [None] * len(updates)


def _one(forwarding: Forwarding, role: Role, update: p4r.Update) -> StatusError | None:
    try:
        roles.check_write(forwarding.schema, role, update.entity)
        forwarding.write(update)
    except StatusError as error:
        return error
    return None
