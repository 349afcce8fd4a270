"""Closed forms of an EEE link's power, compared with a simulation of random arrivals."""

import random

import pytest
from eeon_experiments import folder, shipped

theory = folder.module(shipped.folder() / "eee", "closed_forms")

FRAME = 1500


def walked(phy: theory.Phy, load: float, timer: float, count: int, frames: int = 200_000) -> float:
    """Returns the share of full power over random arrivals; timer 0 with count 1 is Standard EEE."""
    draw = random.Random(7)
    serve = 8 * FRAME / phy.rate_bps
    arrivals, now = [], 0.0
    for _ in range(frames):
        now += draw.expovariate(load / serve)
        arrivals.append(now)
    full = asleep = clock = 0.0
    index = 0
    while index < frames:
        sleeps = clock + phy.sleep_seconds
        first = arrivals[index]
        filled = arrivals[index + count - 1] if index + count <= frames else first + timer
        wakes = max(sleeps, min(first + timer, filled))
        asleep += wakes - sleeps
        busy = wakes + phy.wake_seconds
        while index < frames and arrivals[index] <= busy:
            busy += serve
            index += 1
        full += busy - clock - (wakes - sleeps)
        clock = busy
    return (full + theory.LPI_POWER * asleep) / clock


@pytest.mark.parametrize("load", [0.01, 0.1, 0.2, 0.5, 0.9])
def test_standard_eee_is_what_a_walk_through_arrivals_finds(load: float) -> None:
    expected = walked(theory.TEN_GIGABIT, load, 0.0, 1)
    assert theory.standard(theory.TEN_GIGABIT, load, FRAME) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("load", [0.01, 0.1, 0.2, 0.5, 0.9])
@pytest.mark.parametrize(("timer", "count"), [(12e-6, 10), (120e-6, 100)])
def test_coalescing_is_what_a_walk_through_arrivals_finds(load: float, timer: float, count: int) -> None:
    expected = walked(theory.TEN_GIGABIT, load, timer, count)
    assert theory.coalescing(theory.TEN_GIGABIT, load, FRAME, timer, count) == pytest.approx(
        expected, rel=0.01
    )


def test_a_timer_inside_the_transition_to_sleep_is_refused() -> None:
    with pytest.raises(ValueError, match="no closed form"):
        theory.coalescing(theory.GIGABIT, 0.1, FRAME, 120e-6, 100)
