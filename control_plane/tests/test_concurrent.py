"""The same work on many switches: how many at a time, and the report of failures."""

import asyncio

import pytest
from eeon_control.errors import FabricError
from eeon_control.fabric import concurrent


def test_a_large_fabric_is_worked_on_a_few_switches_at_a_time() -> None:
    """160 switches on one machine with two cores did not answer in time when all were asked at once."""
    busy, most = 0, 0

    async def work(session: str) -> str:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0)
        busy -= 1
        return session.upper()

    names = {f"s{number}": f"s{number}" for number in range(160)}
    done = asyncio.run(concurrent.each(names, work))  # type: ignore[arg-type]
    assert done == {name: name.upper() for name in names}
    assert most == concurrent.AT_ONCE


def test_every_switch_that_fails_is_named_though_others_wait_for_their_turn() -> None:
    async def work(session: str) -> None:
        await asyncio.sleep(0)
        raise FabricError(session)

    names = {f"s{number}": f"s{number}" for number in range(2 * concurrent.AT_ONCE)}
    with pytest.raises(FabricError) as caught:
        asyncio.run(concurrent.each(names, work))  # type: ignore[arg-type]
    assert str(caught.value).splitlines() == list(names)
    failed = asyncio.run(concurrent.failures_of(names, work))  # type: ignore[arg-type]
    assert failed == {name: name for name in names}
