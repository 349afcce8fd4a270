"""Links and switches that fail in a replay's twin: refusals, losses, and the count of every packet."""

from collections import Counter

import pytest
from eeon_control.units import Duration
from eeon_tools.replay.faults import Fault
from test_pfc_reasons import recorded_run, small_groups
from test_replay_twin import comparable

MS = 10**9


def test_a_fault_names_a_link_or_a_node_and_when():
    assert Fault.parse("leaf1:3@5ms-20ms") == Fault("leaf1", 3, Duration(5 * MS), Duration(20 * MS))
    assert Fault.parse("spine1@0s") == Fault("spine1", None, Duration(0), None)
    for text in ("leaf1:3@5ms-20ms", "spine1@1.5us"):
        assert str(Fault.parse(text)) == text


@pytest.mark.system
def test_what_a_link_that_is_down_loses_is_counted_by_class_and_told_packet_by_packet(incast):
    (recording, result), (_, again) = (
        recorded_run(incast, "mark_threshold", "h1@2ms-3ms", "spine1@1ms") for _ in range(2)
    )
    assert comparable(result) == comparable(again)
    total = result.total()
    assert total.sent == total.delivered + total.dropped + total.lost and total.lost > 0
    by_class: Counter[str] = Counter()
    for link in result.faults:
        by_class.update(link.lost)
    assert by_class == {name: one.lost for name, one in result.packets.items() if one.lost}
    down_ms = {link.name: link.down_ms for link in result.faults}
    assert down_ms["h1 to leaf1"] == down_ms["leaf1:1 to h1"] == 1
    assert down_ms["spine1:1 to leaf1"] == pytest.approx(1000 * result.virtual_seconds - 1)
    told = Counter(recording.reason(visit) for visit in recording.visits() if visit.lost)
    lost = {link.name: sum(link.lost.values()) for link in result.faults}
    assert told["lost: the link to h1 was down"] == lost["leaf1:1 to h1"]
    assert told["lost: the link to leaf1 was down"] == lost["h1 to leaf1"] + lost["spine1:1 to leaf1"]
    assert sum(told.values()) == total.lost


@pytest.mark.system
def test_pauses_that_a_link_loses_are_counted_apart_from_packets(tmp_path):
    _, result = recorded_run(*small_groups(tmp_path), "spine1@500us-1ms", "spine2@500us-1ms")
    assert sum(link.lost.get("control", 0) for link in result.faults) > 0
    total = result.total()
    assert total.sent == total.delivered + total.dropped + total.lost
