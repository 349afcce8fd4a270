"""Rolls back to an earlier revision, as a new revision: the history only grows."""

from dataclasses import replace

from eeon_control import topology as topologies
from eeon_control.errors import StateError
from eeon_control.operations.apply import Outcome, apply, difference
from eeon_control.operations.work import Work
from eeon_control.state import Intended, Intent, StateStore


def meant_by(work: Work, number: int) -> Intended:
    """Returns a revision's intended configuration, with the present addresses of its switches: those given,
    else those of the current one.

    Raises StateError if it was made for a fabric other than that of these switches.
    """
    store = work.store
    current, then = store.current(), store.revision(number).intended()
    if current is None or current.number == number:
        return work.located(then)
    here = now = current.intended()
    if work.fabric is not None:
        given = work.fabric.topology
        links = then.topology if given is None else topologies.load(given)
        here = replace(then, topology=links, targets=work.fabric)
    if why := difference(then, here):
        raise StateError(
            f"revision {number} {why}; nothing was written. `eeon config history` shows the fabric of each "
            "revision; to change another fabric, give its targets file with -T"
        )
    return work.located(then, now.targets)


def before(store: StateStore, number: int) -> int:
    """Returns the last revision in force before `number` that intended something else for the same fabric; 0
    without any.

    Revisions that were replaced before their confirmation are skipped.
    """
    if not number:
        return 0
    held = store.revision(number).intent
    earlier = number
    while earlier:
        earlier = (store.revision(earlier).instead_of or earlier) - 1
        if not earlier:
            break
        found = store.revision(earlier).intent
        if found != held and found.kind == held.kind:
            break
    return earlier


def goes_back_to(store: StateStore) -> int:
    """Returns the target of a rollback without a number. Raises StateError without any."""
    pending = store.pending()
    number = pending.back_to if pending is not None else before(store, store.current_number())
    if number < 1:
        last = store.current_number()
        raise StateError(
            "no revision " + (f"before the current one, {last}, to roll back to" if last else "yet")
        )
    return number


async def rollback(work: Work, number: int | None = None, *, comment: str = "", reason: str = "") -> Outcome:
    """Brings the fabric back to revision `number`; None: the one to which a pending confirmation goes back,
    or the last one in force before the current one (`before`). Call `settle` first, which handles pending
    confirmations.
    """
    number = number or goes_back_to(work.store)
    meant = meant_by(work, number)
    then, now = work.store.revision(number), Intent.of(meant)
    if now.program != then.intent.program:
        work.say(f"revision {number} had another P4 program; this version of eeon keeps its own")
    elif told := then.made_otherwise(now.entries):
        work.say(told)
    action = f"rollback to {number}" + (f": {reason}" if reason else "")
    return await apply(work, meant, action=action, comment=comment)
