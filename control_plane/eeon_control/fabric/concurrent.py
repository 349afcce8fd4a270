"""The same work on all switches concurrently: all results, or one error naming every switch that failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import TypeVar

from finsy import P4Schema

from eeon_control.errors import FabricError
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.targets import Target

T = TypeVar("T")


async def open_all(
    stack: AsyncExitStack,
    targets: Mapping[str, Target],
    schema: P4Schema,
    *,
    election_id: int | None,
) -> dict[str, P4RuntimeSession]:
    """Open a session with every switch, or raise one FabricError naming every switch that failed."""
    sessions = {
        name: P4RuntimeSession(name, target, schema, election_id=election_id)
        for name, target in targets.items()
    }
    await each(sessions, stack.enter_async_context)
    return sessions


async def each(
    sessions: Mapping[str, P4RuntimeSession], work: Callable[[P4RuntimeSession], Awaitable[T]]
) -> dict[str, T]:
    """Do the same on all switches at once. Raises one error naming every switch that failed.

    It is a FabricError, or the subclass of it that all failures are of.
    """
    results = await asyncio.gather(*(work(session) for session in sessions.values()), return_exceptions=True)
    _raise_bugs(results)
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
    """Do the same on all switches at once. Returns switch -> why, for those that failed."""
    results = await asyncio.gather(*(work(session) for session in sessions.values()), return_exceptions=True)
    _raise_bugs(results)
    return {
        name: str(result)
        for name, result in zip(sessions, results, strict=True)
        if isinstance(result, BaseException)
    }


def _raise_bugs(results: list[T | BaseException]) -> None:
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, FabricError):
            raise result
