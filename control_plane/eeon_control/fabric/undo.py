"""Bringing switches back to what they held, after an apply that failed or was killed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

from finsy import P4Schema

from eeon_control.errors import FabricError
from eeon_control.fabric import snapshot as snapshots
from eeon_control.fabric.progress import Observer, Step
from eeon_control.fabric.session import Session
from eeon_control.fabric.snapshot import Snapshot
from eeon_control.fabric.targets import Target
from eeon_control.fabric.together import failures_of


@dataclass(frozen=True)
class Undone:
    """`undone`: switches that are as before, read back. `not_undone`: switch -> why it is not.

    `notes`: switch -> in what the state before could not be had exactly.
    """

    undone: tuple[str, ...]
    not_undone: dict[str, str]
    notes: dict[str, str]


async def undo(
    before: Mapping[str, Snapshot],
    targets: Mapping[str, Target],
    schema: P4Schema,
    election_id: int,
    observer: Observer,
    sessions: Mapping[str, Session] | None = None,
) -> Undone:
    """Bring every switch of `before` back to its snapshot and verify it by reading.

    `sessions`: those that are open already. One that fails may be what broke; its switch gets one more chance
    over a new session, whose election id no write that is still on its way can have.
    """
    notes: dict[str, str] = {}

    async def back(session: Session) -> None:
        note = await snapshots.restore(session, before[session.name])
        if note:
            notes[session.name] = note

    async def bring_back(session: Session) -> None:
        observer(Step.UNDOING, session.name)
        old = (sessions or {}).get(session.name)
        try:
            if old is None:
                raise FabricError("no session is open")
            await back(old)
        except FabricError:
            if old is not None:
                await old.__aexit__(None, None, None)
            async with AsyncExitStack() as stack:
                await back(await stack.enter_async_context(session))
        observer(Step.UNDONE, session.name)

    fresh = {
        name: Session(name, targets[name], schema, election_id=election_id, fresh=True) for name in before
    }
    not_undone = await failures_of(fresh, bring_back)
    return Undone(tuple(name for name in before if name not in not_undone), not_undone, notes)
