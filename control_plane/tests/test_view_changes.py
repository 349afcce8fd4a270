"""Restarts, differences and rates of views: pure, on constructed observations."""

from dataclasses import replace

import pytest
from eeon_control.fabric import VerdictCount
from eeon_control.fabric.read import FabricCounters, FabricObservation, Observation
from eeon_control.views.change import nonzero, rates, read_once, restarted, since, spans_ps
from eeon_control.views.ecn import ecn
from eeon_control.views.table import View

SECOND_US = 1_000_000


def observed(packets: int, *, elapsed_us: int | None = None, at_ps: int = 0) -> FabricObservation:
    count = VerdictCount("leaf1", 3, "data", "forwarded", packets, packets * 1500)
    one = Observation(at_ps, counters=FabricCounters((), (count,)), elapsed_us=elapsed_us)
    return FabricObservation({"leaf1": one}, {})


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


def test_a_switch_that_was_not_seen_before_has_not_restarted():
    assert restarted(FabricObservation({}, {}), observed(3)) == []


def test_a_rate_is_the_difference_by_the_second_and_unknown_without_time():
    before, after = (ecn(observed(packets).counters) for packets in (10, 40))
    row = rates(after, before, {"leaf1": 2 * 10**12}).rows[0]
    assert row["forwarded_per_s"] == 15 and "forwarded" not in row
    assert rates(after, before, {"leaf1": 0}).rows[0]["forwarded_per_s"] is None
    assert rates(after, before, {"leaf1": 10**12}, ignored=["leaf1"]).rows[0]["forwarded_per_s"] is None


def together(*readings: FabricObservation) -> FabricObservation:
    """Returns readings of leaf1 as one observation of leaf1, leaf2 and so on."""
    switches = {
        name: replace(
            reading.switches["leaf1"],
            counters=FabricCounters(
                (), tuple(replace(one, switch=name) for one in reading.counters.verdicts)
            ),
        )
        for name, reading in zip(("leaf1", "leaf2"), readings, strict=False)
    }
    return FabricObservation(switches, {})


def rate_of_leaf2(before: FabricObservation, after: FabricObservation) -> object:
    changed = rates(ecn(after.counters), ecn(before.counters), spans_ps(before, after))
    return next(row["forwarded_per_s"] for row in changed.rows if row["port"] == "leaf2:3")


def test_a_switch_that_was_slow_to_answer_changes_no_rate_of_others():
    before = together(observed(0), observed(0))
    after = together(observed(90, at_ps=9 * 10**12), observed(40, at_ps=10**12))
    assert rate_of_leaf2(before, after) == 40


def test_a_switch_that_was_not_read_at_first_has_no_rate_and_a_note():
    before, after = together(observed(0)), together(*[observed(5000, at_ps=10**12)] * 2)
    assert rate_of_leaf2(before, after) is None
    assert read_once(before, after) == [
        "leaf2 could not be read at the start of the interval; what it did since then is unknown"
    ]


def test_what_a_baseline_does_not_have_is_shown_whole():
    now = ecn(observed(40).counters)
    assert since(now, ecn(FabricCounters((), ()))).rows == now.rows


def test_views_without_counts_have_nothing_to_leave_out():
    view = View("queues", "queues", [], [{"port": "leaf1:3"}])
    assert nonzero(view) is view
