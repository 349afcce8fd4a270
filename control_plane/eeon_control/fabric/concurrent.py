"""Runs the same work on many switches at once: all results, or one error naming every failed switch."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
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


async def in_turn(works: Iterable[Awaitable[T]]) -> list[T | FabricError]:
    """Does `AT_ONCE` works at a time. Returns the results in order; of a failed one, its FabricError. Raises
    any other error when all have ended."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(work: Awaitable[T]) -> T:
        async with turns:
            return await work

    found: list[T | FabricError] = []
    for result in await asyncio.gather(*map(one, works), return_exceptions=True):
        if isinstance(result, BaseException) and not isinstance(result, FabricError):
            raise result
        found.append(result)
    return found


def sessions_of(
    targets: Mapping[str, Target],
    schema: P4Schema,
    *,
    election_id: int | None,
    fresh: bool = False,
    owned: Owned | None = None,
) -> dict[str, P4RuntimeSession]:
    """Returns a session with every switch, not yet open."""
    return {
        name: P4RuntimeSession(
            name,
            target,
            schema,
            election_id=election_id,
            fresh=fresh,
            owned=None if owned is None else owned[name],
        )
        for name, target in targets.items()
    }


async def each(
    sessions: Mapping[str, P4RuntimeSession], work: Callable[[P4RuntimeSession], Awaitable[T]]
) -> dict[str, T]:
    """Runs `work` on all switches. Raises one error naming every failed switch.

    It is a FabricError, or the subclass that all failures have in common.
    """
    results = await in_turn(map(work, sessions.values()))
    failed = [result for result in results if isinstance(result, FabricError)]
    if failed:
        kinds = {type(error) for error in failed}
        raise (kinds.pop() if len(kinds) == 1 else FabricError)("\n".join(str(error) for error in failed))
    return {
        name: result
        for name, result in zip(sessions, results, strict=True)
        if not isinstance(result, FabricError)
    }


async def failures_of(
    sessions: Mapping[str, P4RuntimeSession], work: Callable[[P4RuntimeSession], Awaitable[None]]
) -> dict[str, str]:
    """Runs `work` on all switches. Returns switch -> reason, for those that failed."""
    results = await in_turn(map(work, sessions.values()))
    return {name: str(error) for name, error in zip(sessions, results, strict=True) if error is not None}
