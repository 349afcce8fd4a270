"""The same work on many switches: how many at a time, and the report of failures."""

import asyncio

import pytest
from eeon_control.doctor import switches
from eeon_control.doctor.finding import ok
from eeon_control.errors import FabricError
from eeon_control.fabric import concurrent
from eeon_control.targets import Target


class Busy:
    """Counts the works in progress, and the most of them at a time."""

    now = most = 0

    async def work(self, result: object) -> object:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        return result


def test_a_large_fabric_is_worked_on_a_few_switches_at_a_time() -> None:
    """160 switches on one machine with two cores did not answer in time when all were asked at once."""
    busy = Busy()
    names = {f"s{number}": f"s{number}" for number in range(160)}
    done = asyncio.run(concurrent.each(names, busy.work))  # type: ignore[arg-type]
    assert done == names
    assert busy.most == concurrent.AT_ONCE


def test_the_doctor_visits_a_large_fabric_a_few_switches_at_a_time(monkeypatch) -> None:
    busy = Busy()
    monkeypatch.setattr(switches, "one", lambda name, *_: busy.work([ok(name, "")]))
    names = [f"s{number}" for number in range(160)]
    found = switches.reach({name: Target("127.0.0.1:1", 1) for name in names})
    assert [one.check for one in found] == names
    assert busy.most == concurrent.AT_ONCE


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
