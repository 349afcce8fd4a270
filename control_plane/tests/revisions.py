"""Operations on a state folder, like those of the commands."""

from collections.abc import Callable, Mapping
from dataclasses import fields

from eeon_control import config, state
from eeon_control.fabric.sync import run
from eeon_control.fabric.undo import Snapshot
from eeon_control.operations import Work
from eeon_control.targets import Targets
from eeon_control.topology import Topology

_OF_WORK = {field.name for field in fields(Work)}


def meant(
    fabric: Topology,
    wanted: str | tuple[str, ...] | config.FabricConfig,
    switches: Mapping[str, object],
    tick: str = "1ns",
    **more: object,
) -> state.Intended:
    """Returns a configuration, or packaged examples, for switches as in a targets file; `more`: other keys."""
    if not isinstance(wanted, config.FabricConfig):
        wanted = config.load(*((wanted,) if isinstance(wanted, str) else wanted))
    return state.Intended(
        fabric, wanted, Targets.from_value({"tick": tick, "switches": switches, **more}, "test")
    )


def done(store: state.StateStore, operation: Callable, *arguments, **options):
    """Does one of `operations` with the store's lock. `options`: those of the operation and of `Work`."""
    of_work = {key: options.pop(key) for key in _OF_WORK & options.keys()}
    with store.lock("a test") as lock:
        return run(operation(Work(store, lock, **of_work), *arguments, **options))


def draft(intent: state.Intent, comment: str = "") -> state.Draft:
    made = "2026-01-02T03:04:05+00:00"
    return state.Draft(made=made, by="me@here", action="apply", comment=comment, intent=intent)


def commit(
    store: state.StateStore, intent: state.Intent, pending: state.Pending | None = None, comment: str = ""
) -> None:
    """Puts a revision in force that is not on any switch."""
    with store.lock("a test") as lock:
        store.commit(lock, draft(intent, comment), pending)


def begin(
    store: state.StateStore,
    lock: state.Lock,
    new: state.Draft,
    before: Mapping[str, Snapshot],
    **more: object,
) -> None:
    """Writes the journal of an apply, as if it was then killed. `more`: further keys of the journal."""
    number = store.current_number() + 1
    store.begin(
        lock, state.Journal(revision=number, draft=new, holder=lock.holder, before=dict(before), **more)
    )
