"""Bands, drops and points that the claims about marking and AQM share. The bands predate all results.

A change counts as reproduced from half to twice the stated one, or within 5 points if that is below 10 %. For
a stated cut in latency, the remainder must also be between half and twice the paper's.
"""

from collections.abc import Sequence

from eeon_tools.trace.frames import CLASS_NAMES

from eeon_experiments.claims.model import Missing, Point, change, total, words_of
from eeon_experiments.results import Chosen, Results, Spread

RUNTIME = "runtime_seconds"
THROUGHPUT = "throughput_per_node_bps"
LATENCY = "latency_mean_us"

ACKS = ("ack", "ack_ece")
SYNS = ("syn", "syn_ack")


def band(stated: float) -> tuple[float, float]:
    """Returns the band of a change that a paper states as `stated`."""
    if abs(stated) < 0.1:
        return stated - 0.05, stated + 0.05
    low, high = sorted((stated / 2, 2 * stated))
    return low, high


def cut(stated: float) -> tuple[float, float]:
    """Returns the band of a change in latency that a paper states as `stated`, which is negative."""
    left = 1 + stated
    return max(band(stated)[0], left / 2 - 1), min(band(stated)[1], 2 * left - 1)


def extreme(
    results: Results, column: str, points: Sequence[Point], base: Point, largest: bool
) -> tuple[Point, Spread]:
    """Returns the point with the largest or smallest mean change, and this change. Raises Missing."""
    changes = [(point, change(results, column, point, base)) for point in points]
    pick = max if largest else min
    return pick(changes, key=lambda one: one[1].mean)


def dropped(results: Results, classes: Sequence[str], point: Point) -> dict[int, float]:
    """Returns the packets of some classes dropped early or at a full buffer, by seed. Raises Missing."""
    return total(results, [f"{why}_dropped_{name}" for name in classes for why in ("early", "tail")], point)


def drop_share(results: Results, classes: Sequence[str], point: Point) -> Spread:
    """Returns the share of some classes in all drops. Raises Missing, also if nothing was dropped."""
    some, every = dropped(results, classes, point), dropped(results, CLASS_NAMES, point)
    shares = [some[seed] / every[seed] for seed in some.keys() & every.keys() if every[seed]]
    if not shares:
        raise Missing(f"nothing was dropped in {words_of(point)}")
    return Spread.of(shares)


def point(**axes: Chosen) -> Point:
    return axes
