"""Differences and rates of views, on constructed observations; `expected/controller.yaml` has restarts."""

from eeon_control.fabric import VerdictCount
from eeon_control.fabric.read import FabricCounters, FabricObservation, Observation
from eeon_control.views.change import rates, since, spans_ps
from eeon_control.views.ecn import ecn


def observed(
    packets: int, *, elapsed_us: int | None = None, at_ps: int = 0, name: str = "leaf1"
) -> FabricObservation:
    count = VerdictCount(name, 3, "data", "forwarded", packets, packets * 1500)
    one = Observation(at_ps, counters=FabricCounters((), (count,)), elapsed_us=elapsed_us)
    return FabricObservation({name: one}, {})


def test_a_rate_is_the_difference_by_the_second_and_unknown_without_time():
    before, after = (ecn(observed(packets).counters) for packets in (10, 40))
    row = rates(after, before, {"leaf1": 2 * 10**12}).rows[0]
    assert row["forwarded_per_s"] == 15 and "forwarded" not in row
    assert rates(after, before, {"leaf1": 0}).rows[0]["forwarded_per_s"] is None
    assert rates(after, before, {"leaf1": 10**12}, ignored=["leaf1"]).rows[0]["forwarded_per_s"] is None


def test_a_switch_that_was_slow_to_answer_changes_no_rate_of_others():
    before = FabricObservation(observed(0).switches | observed(0, name="leaf2").switches, {})
    slow, quick = observed(90, at_ps=9 * 10**12), observed(40, at_ps=10**12, name="leaf2")
    after = FabricObservation(slow.switches | quick.switches, {})
    changed = rates(ecn(after.counters), ecn(before.counters), spans_ps(before, after))
    found = {row["port"]: row["forwarded_per_s"] for row in changed.rows}
    assert (found["leaf1:3"], found["leaf2:3"]) == (10, 40)


def test_what_a_baseline_does_not_have_is_shown_whole():
    now = ecn(observed(40).counters)
    assert since(now, ecn(FabricCounters((), ()))).rows == now.rows
