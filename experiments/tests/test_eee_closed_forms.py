"""Closed forms of an EEE link's power, compared with a simulation of random arrivals."""

import random

import pytest
from eeon_experiments import folder, shipped

theory = folder.module(shipped.folder() / "eee", "closed_forms")
assert theory is not None

FRAME_BYTES = 1500


def walked(load: float, timer: float = 0.0, count: int = 1, frames: int = 200_000) -> float:
    """Returns the share of full power over random arrivals; by default of Standard EEE."""
    draw = random.Random(7)
    serve = 8 * FRAME_BYTES / theory.RATE_BPS
    arrivals, now = [], 0.0
    for _ in range(frames):
        now += draw.expovariate(load / serve)
        arrivals.append(now)
    full = asleep = clock = 0.0
    index = 0
    while index < frames:
        sleeps = clock + theory.SLEEP_SECONDS
        first = arrivals[index]
        filled = arrivals[index + count - 1] if index + count <= frames else first + timer
        wakes = max(sleeps, min(first + timer, filled))
        asleep += wakes - sleeps
        busy = wakes + theory.WAKE_SECONDS
        while index < frames and arrivals[index] <= busy:
            busy += serve
            index += 1
        full += busy - clock - (wakes - sleeps)
        clock = busy
    return (full + theory.LPI_POWER * asleep) / clock


@pytest.mark.parametrize("load", [0.01, 0.1, 0.2, 0.5, 0.9])
@pytest.mark.parametrize(
    ("form", "held"),
    [(theory.standard, ()), (theory.coalescing, (12e-6, 10)), (theory.coalescing, (120e-6, 100))],
)
def test_a_closed_form_is_what_a_walk_through_arrivals_finds(load, form, held):
    assert form(load, FRAME_BYTES, *held) == pytest.approx(walked(load, *held), rel=0.01)
