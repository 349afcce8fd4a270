"""The points of this experiment, and functions that its judges share."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import product

from eeon_experiments.claims.model import Missing, Point, change
from eeon_experiments.results import Results, Spread

SCENARIOS = ("batch_24", "batch_50", "batch_80", "small_24", "small_50", "small_80")
"""The paper's six scenarios: workload and number of nodes."""
_AXES = ("scenario", "buffer", "window", "delay", "eee", "stall", "load", "rho")


def point(scenario: str, buffer: str | None = "deep", window: str | None = "tuned", **axes: str) -> Point:
    """Returns a point; its sweep does not use the axes that are not given."""
    given = {"scenario": scenario, "buffer": buffer, "window": window, **axes}
    return {axis: given.get(axis) for axis in _AXES}


def changes(
    results: Results,
    column: str,
    eee: str,
    buffers: Sequence[str] = ("shallow", "deep"),
    windows: Sequence[str] = ("default", "tuned"),
) -> dict[str, Spread]:
    """Returns the change of a column from Standard EEE to another setting, for every cell that has both."""
    found: dict[str, Spread] = {}
    for scenario, buffer, window in product(SCENARIOS, buffers, windows):
        several = len(buffers) * len(windows) > 1
        name = f"{scenario} {buffer} {window}" if several else scenario
        held, base = (point(scenario, buffer, window, eee=one) for one in (eee, "standard"))
        with suppress(Missing):
            found[name] = change(results, column, held, base)
    return found
