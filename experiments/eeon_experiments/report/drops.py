"""Packets that switches dropped, as numbers of a run."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from eeon_tools.trace.frames import CLASS_NAMES

from eeon_experiments.results import Row


def _dropped(run: Row, names: Sequence[str]) -> float | None:
    """Returns the number of packets of some classes that switches dropped, early or at a full buffer."""
    counts = [run.number(f"{why}_dropped_{name}") for name in names for why in ("early", "tail")]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _share(run: Row, name: str) -> float | None:
    """Returns a class's percentage of all dropped packets; None if nothing was dropped."""
    total, own = _dropped(run, CLASS_NAMES), _dropped(run, (name,))
    return 100 * own / total if total and own is not None else None


NUMBERS: Mapping[str, Callable[[Row], float | None]] = {
    "dropped": partial(_dropped, names=CLASS_NAMES),
    "dropped_control": partial(_dropped, names=("ack", "ack_ece", "syn", "syn_ack")),
    **{f"dropped_share_{name}": partial(_share, name=name) for name in CLASS_NAMES},
}
"""Numbers of a run that are not columns, by their names in figures.yaml."""
