"""A run is longer than ten of its longest timer, or the page of its experiment says so.

A shorter run has only a timer's first cycles, or none, so that its numbers may show only its start.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from eeon_control.units import Duration
from eeon_experiments import setup, shipped, store

pytestmark = pytest.mark.slow

DATA = Path(__file__).resolve().parents[2] / "docs" / "results" / "data"
TIMERS_OF_A_RUN = 10

TIMERS = {"timer", "alpha_timer", "min_rto", "eee"}
"""Settings that a run must outlast: cycles of reaction points, delayed ACKs, the minimum timeout. Holds of
coalescing are in the names of EEE's settings."""
NO_TIMERS = {
    *("delay", "tx_delay", "rx_delay", "link_delay", "target", "target_delay", "interval", "stall"),
    *("initial_rto", "syn_lost_rto", "report_delay", "decide_delay", "enforce_delay", "think", "at"),
    *("mean_interval", "heartbeat", "compute", "arrivals", "duration", "warm_up", "cool_down", "time_limit"),
    "start_jitter",
}
"""Times that do not recur, or that belong to the workload or to a handshake."""
_HOLD = re.compile(r"(\d+[um]s)\d+(?:\+|_10g)?")
_TIME = re.compile(r"\d+(?:\.\d+)?(?:ns|us|ms|s)")


def times(settings: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yields key and time of every setting that is a time; a hold has the key `eee`."""
    if isinstance(settings, dict):
        for name, value in settings.items():
            yield from times(value, name)
    elif isinstance(settings, list):
        for value in settings:
            yield from times(value, key)
    elif isinstance(settings, str):
        hold = _HOLD.fullmatch(settings) if key == "eee" else None
        if hold or _TIME.fullmatch(settings):
            yield key, hold[1] if hold else settings


@pytest.mark.parametrize("name", shipped.names())
def test_a_run_is_longer_than_ten_of_its_longest_timer_or_its_page_says_so(name):
    short: set[str] = set()
    for row in store.load(DATA / name).finished:
        found = list(times(json.loads(row.text("settings_json"))))
        assert {key for key, _ in found} <= TIMERS | NO_TIMERS, "is it a timer?"
        # The minimum timeout counts if there were timeouts.
        counts = TIMERS if row.number("timeouts") else TIMERS - {"min_rto"}
        timer = max((time for key, time in found if key in counts), key=Duration.parse, default=None)
        seconds = row.number("virtual_seconds")
        assert seconds is not None
        if timer is not None and seconds * 1e12 <= TIMERS_OF_A_RUN * Duration.parse(timer):
            short.add(timer)
    said = setup.load(shipped.folder() / name).short
    assert bool(said) == bool(short), f"runs that are not longer than ten of {short}, and the page: {said!r}"
    words = {re.sub(r"([um]?s)$", r" \1", timer) for timer in short}
    assert all(word in said for word in words), f"{words} are not all in {said!r}"
