"""Rooms: the calls that are ended for others, and when."""

import time

from eeon_engine.p4runtime.server.rooms import Room


def test_in_a_full_room_the_call_that_has_waited_longest_makes_way() -> None:
    room = Room(2, seconds=60)
    ended: list[str] = []
    for name in ("first", "second", "third"):
        room.enter(lambda name=name: ended.append(name))  # type: ignore[misc]  # mypy infers no lambda's default
    assert ended == ["first"]


def test_a_call_makes_way_only_when_it_has_waited_for_its_grace() -> None:
    room = Room(1, seconds=60, grace_s=0.1)
    ended: list[str] = []
    room.enter(lambda: ended.append("first"))
    room.enter(lambda: ended.append("second"))
    assert ended == []
    time.sleep(0.1)
    room.sweep()
    assert ended == ["first"]


def test_nobody_makes_way_for_a_call_that_has_gone() -> None:
    room = Room(1, seconds=60, grace_s=0.001)
    ended: list[str] = []
    room.leave(room.enter(lambda: ended.append("first")))
    room.enter(lambda: ended.append("second"))
    time.sleep(0.001)
    room.sweep()
    assert ended == []


def test_a_wait_that_is_over_its_time_ends() -> None:
    room = Room(1, seconds=0)
    ended: list[str] = []
    room.enter(lambda: ended.append("first"))
    time.sleep(0.001)
    room.sweep()
    assert ended == ["first"]
