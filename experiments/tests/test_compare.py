"""Comparison of two values of an axis: the pairs of runs, refusals, and the interval."""

import json
import re
from pathlib import Path

import pytest
from eeon_experiments.report.comparison import Compared, compare
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Row

from control_plane.tests.eeon_command import eeon

DATA = Path(__file__).resolve().parents[2] / "docs" / "results" / "data"
QUEUE = Compared.parse("queue=slow,fast")


def runs(*found: tuple[str, str, int, float | None]) -> Runs:
    return Runs(
        Row({"axis_load": load, "axis_queue": queue, "seed": seed, "runtime_seconds": value})
        for load, queue, seed, value in found
    )


def test_pairs_are_of_one_seed_and_of_one_point_of_the_other_axes():
    found = compare(
        runs(
            *(("l30", "slow", seed, 10.0 * seed) for seed in (1, 2, 3)),
            *(("l30", "fast", seed, 9.0 * seed) for seed in (3, 2, 4)),
            ("l70", "slow", 1, 4.0),
            ("l70", "fast", 1, 5.0),
            ("l90", "slow", 1, 4.0),
            ("l90", "fast", 1, None),
        ),
        QUEUE,
        "runtime_seconds",
    )
    assert [(one.axes, one.pairs, one.first, one.second) for one in found] == [
        ({"load": "l30"}, 2, 25.0, 22.5),
        ({"load": "l70"}, 1, 4.0, 5.0),
        (None, 3, 18.0, pytest.approx(50 / 3)),
    ]
    [l30, l70, _] = [one.change for one in found]
    assert l30 is not None and (l30.mean, l30.low, l30.high) == pytest.approx((-0.1, -0.1, -0.1))
    assert l70 is not None and (l70.mean, l70.low) == (0.25, None)


def test_a_change_of_nothing_has_no_per_cent_and_a_difference():
    [one] = compare(
        runs(
            ("l30", "slow", 1, 0.0), ("l30", "fast", 1, 3.0), ("l30", "slow", 2, 1.0), ("l30", "fast", 2, 2.0)
        ),
        QUEUE,
        "runtime_seconds",
    )
    assert one.change is None and one.difference.mean == 2.0


@pytest.mark.slow
def test_the_command_compares_what_was_published():
    words = ("experiment", "show", "workloads", "-o", str(DATA / "workloads"))
    words += ("--compare", "queue=drop_tail,mark_1", "--column", "slowdown_100kb_mean")
    shown = eeon(*words, code=0).output
    assert "slowdown 100kb mean:" in shown
    assert re.search(r"^all .*-\d\d\.\d% \(-\d\d\.\d% to -\d\d\.\d%\) ", shown, re.M)
    value = json.loads(eeon(*words, "--json").stdout)
    assert value["compared"][-1]["axes"] is None
    change = value["compared"][-1]["change"]
    assert change["low"] < change["mean"] < change["high"] < 0
