"""Restarts, differences and rates of views: pure, on constructed observations."""

import pytest
from eeon_control.fabric import VerdictCount
from eeon_control.fabric.read import FabricCounters, FabricObservation, Observation
from eeon_control.views.change import rates, restarted, since, spans_ps
from eeon_control.views.ecn import ecn

SECOND_US = 1_000_000


def observed(
    packets: int, *, elapsed_us: int | None = None, at_ps: int = 0, name: str = "leaf1"
) -> FabricObservation:
    count = VerdictCount(name, 3, "data", "forwarded", packets, packets * 1500)
    one = Observation(at_ps, counters=FabricCounters((), (count,)), elapsed_us=elapsed_us)
    return FabricObservation({name: one}, {})


@pytest.mark.parametrize(
    ("before", "after", "passed_us", "gone"),
    [
        (observed(10), observed(10), None, []),
        (observed(10), observed(9), None, ["leaf1"]),
        # More than before, but its clock is younger: it has restarted and caught up.
        (observed(10, elapsed_us=9 * SECOND_US), observed(50, elapsed_us=2 * SECOND_US), None, ["leaf1"]),
        # Its clock is larger than before, but it has not run for the elapsed time.
        (
            observed(10, elapsed_us=SECOND_US),
            observed(50, elapsed_us=60 * SECOND_US),
            3600 * SECOND_US,
            ["leaf1"],
        ),
        (observed(10, elapsed_us=SECOND_US), observed(50, elapsed_us=61 * SECOND_US), 60 * SECOND_US, []),
        # The computer's clock was adjusted by some seconds.
        (observed(10, elapsed_us=SECOND_US), observed(50, elapsed_us=61 * SECOND_US), 64 * SECOND_US, []),
        # Its clock was not read then.
        (observed(10), observed(50, elapsed_us=SECOND_US), 3600 * SECOND_US, []),
    ],
)
def test_a_restart_shows_in_counters_or_in_the_switchs_clock(before, after, passed_us, gone):
    assert restarted(before, after, passed_us=passed_us) == gone


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
