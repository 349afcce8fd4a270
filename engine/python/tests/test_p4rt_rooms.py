"""The grace of a room; `test_p4rt_hostile.py` shows its number of places and its time."""

import time

from eeon_engine.p4runtime.server.rooms import Room


def test_a_call_makes_way_only_when_it_has_waited_for_its_grace() -> None:
    room = Room(1, seconds=60, grace_s=0.1)
    ended: list[str] = []
    room.enter(lambda: ended.append("first"))
    room.enter(lambda: ended.append("second"))
    assert ended == []
    time.sleep(0.1)
    room.sweep()
    assert ended == ["first"]
