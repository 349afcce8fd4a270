"""Runs the same work on many switches at once: all results, or one error naming every failed switch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import TypeVar

from finsy import P4Schema

from eeon_control.errors import FabricError
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.plan import Owned
from eeon_control.targets import Target

T = TypeVar("T")

AT_ONCE = 32
"""Maximum number of switches in progress. Switches on one machine share its cores, and each has a deadline
for its answer."""


async def open_all(
    stack: AsyncExitStack,
    targets: Mapping[str, Target],
    schema: P4Schema,
    *,
    election_id: int | None,
    owned: Owned | None = None,
) -> dict[str, P4RuntimeSession]:
    """Opens a session with every switch, or raises one FabricError naming every failed switch."""
    sessions = {
        name: P4RuntimeSession(
            name, target, schema, election_id=election_id, owned=None if owned is None else owned[name]
        )
        for name, target in targets.items()
    }
    await each(sessions, stack.enter_async_context)
    return sessions


async def each(
    sessions: Mapping[str, P4RuntimeSession], work: Callable[[P4RuntimeSession], Awaitable[T]]
) -> dict[str, T]:
    """Runs `work` on all switches, `AT_ONCE` at a time. Raises one error naming every failed switch.

    It is a FabricError, or the subclass that all failures have in common.
    """
    results = await _results(sessions, work)
    failed = [result for result in results if isinstance(result, FabricError)]
    if failed:
        kinds = {type(error) for error in failed}
        raise (kinds.pop() if len(kinds) == 1 else FabricError)("\n".join(str(error) for error in failed))
    return {
        name: result
        for name, result in zip(sessions, results, strict=True)
        if not isinstance(result, BaseException)
    }


async def failures_of(
    sessions: Mapping[str, P4RuntimeSession], work: Callable[[P4RuntimeSession], Awaitable[None]]
) -> dict[str, str]:
    """Runs `work` on all switches, `AT_ONCE` at a time. Returns switch -> reason, for those that failed."""
    results = await _results(sessions, work)
    return {
        name: str(result)
        for name, result in zip(sessions, results, strict=True)
        if isinstance(result, BaseException)
    }


async def _results(
    sessions: Mapping[str, P4RuntimeSession], work: Callable[[P4RuntimeSession], Awaitable[T]]
) -> list[T | BaseException]:
    """Returns the results in the order of switches. Raises any error that is not a FabricError."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def in_turn(session: P4RuntimeSession) -> T:
        async with turns:
            return await work(session)

    results = await asyncio.gather(*map(in_turn, sessions.values()), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, FabricError):
            raise result
    return results
