"""`eeon tune` on twins: optima known from theory or from a whole grid."""

import math
import os
from contextlib import closing
from pathlib import Path

import pytest
from eeon_control.port_settings.mark_threshold import default_threshold
from eeon_control.units import Bytes, DataRate, Duration
from eeon_experiments import workers
from eeon_experiments.run import run_one
from eeon_experiments.tune import knobs
from eeon_experiments.tune.tuning import Answer
from eeon_experiments.versions import versions
from made_experiments import TEXTS
from test_tune import searched

pytestmark = pytest.mark.system

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "tune"


def answered(folder: Path, text: str) -> Answer:
    with closing(workers.pool(run_one, os.cpu_count() or 1)) as pool:
        return searched(folder, text, pool.run, versions())


@pytest.mark.nightly
def test_the_least_threshold_that_keeps_long_flows_at_their_rate_is_where_theory_has_it(tmp_path):
    # The band, fixed before any run: from C x RTT / 7, the theoretical minimum (Alizadeh et al. 2010), to 15
    # frames more for bursts, as used in practice, with one step of the knob's values on either side.
    rate, rtt = DataRate.parse("10Gbps"), Duration.parse("400us")
    least = int(rate) * int(rtt) / 7 / 8 / 10**12
    step = (150 / 1.5) ** (1 / 13)
    low, high = least / step, int(default_threshold(rate, rtt)) * step
    answer = answered(tmp_path, TEXTS["long flows"])
    assert answer.recommended == answer.best.name
    found = int(Bytes.parse(answer.best.setting["threshold"]))
    assert low <= found <= high, f"{found} is not from {low:.0f} to {high:.0f}"
    # A single frame costs far more than the limit allows; the search must find this by itself.
    of_one_frame = next(one for one in answer.tried if one.setting["threshold"] == "1.5KB")
    assert of_one_frame.broken
    assert answer.scanned[0].losses[0] == math.inf


def held_latency_us(hold_seconds: float) -> float:
    """Returns the mean time from the NIC to the last bit of Poisson frames at a tenth of 10 Gbps, on a link
    that wakes `hold_seconds` after the first frame.

    On average, an M/D/1 queue whose server starts when Q = 1 + Poisson frames are present has E[Q(Q-1)] / (2
    E[Q]) more frames than M/D/1 (Fuhrmann and Cooper 1985). Each frame waits longer by that number times the
    time between frames.
    """
    service, wake = 1500 * 8 / 10e9, 4.48e-6
    rate, load = 0.1 / service, 0.1
    here = rate * (hold_seconds + wake)
    extra = (here**2 + 2 * here) / (2 * (1 + here)) / rate
    own = load * service / (2 * (1 - load)) + service
    over_the_first_link = 1500 * 8 / 100e9 + 2 * 500e-9
    return (own + extra + over_the_first_link) * 1e6


@pytest.mark.nightly
def test_the_longest_hold_that_a_limit_of_latency_allows_is_where_its_closed_form_has_it(tmp_path):
    # Fixed before any run: a longer hold always saves more, so that the limit decides. The limit is between
    # the seventh and the eighth of twelve values; one more on either side allows for frames that arrive while
    # the link goes to sleep, and for only 4,000 frames per seed.
    holds = [float(Duration.parse(one)) / 1e12 for one in knobs.values("10us", "1ms", 12, log=True)]
    limit = math.sqrt(held_latency_us(holds[6]) * held_latency_us(holds[7]))
    answer = answered(tmp_path, TEXTS["held frames"].replace("LIMIT", f"{limit:.1f}"))
    assert answer.recommended == answer.best.name
    found = float(Duration.parse(answer.best.setting["hold"])) / 1e12
    assert holds[5] <= found <= holds[7]
    # Every longer hold exceeds the limit.
    longest = max(answer.tried, key=lambda one: Duration.parse(one.setting["hold"]))
    assert longest.broken


@pytest.mark.nightly
def test_a_search_of_64_runs_comes_within_3_percent_of_the_best_of_the_whole_grid(tmp_path):
    text = (EXAMPLES / "shuffle.yaml").read_text(encoding="utf-8")
    text = text[: text.index("knobs:")] + TEXTS["a grid of 192 settings"]
    answer = answered(tmp_path, text)
    assert answer.search_runs == 64
    searched = min(math.fsum(one.losses) / 3 for one in answer.tried)
    # The grid has the same baseline and seed, so that its losses have the same scale.
    whole = answered(tmp_path, text.replace("runs: 64", "runs: 193"))
    assert whole.is_whole_grid and len(whole.tried) == 192
    best = min(math.fsum(one.losses) / 3 for one in whole.tried)
    assert searched <= 1.03 * best, knobs.words(answer.best.setting)
