"""Packets that switches dropped, as numbers of a run."""

from collections.abc import Callable, Sequence

from eeon_tools.trace.frames import CLASS_NAMES

from eeon_experiments.results import Row

_CONTROL = ("ack", "ack_ece", "syn", "syn_ack")


def dropped(run: Row, name: str) -> float | None:
    """Returns the number of packets of one class that switches dropped, early or at a full buffer."""
    early, tail = run.number(f"early_dropped_{name}"), run.number(f"tail_dropped_{name}")
    return None if early is None or tail is None else early + tail


def all_dropped(run: Row) -> float | None:
    """Returns the number of packets of all classes that switches dropped."""
    return _dropped_of(run, CLASS_NAMES)


def dropped_control(run: Row) -> float | None:
    """Returns the number of ACKs, SYNs and SYN-ACKs that switches dropped."""
    return _dropped_of(run, _CONTROL)


def _dropped_of(run: Row, names: Sequence[str]) -> float | None:
    known = [count for name in names if (count := dropped(run, name)) is not None]
    return sum(known) if len(known) == len(names) else None


def _share(name: str) -> Callable[[Row], float | None]:
    """Returns the function that gives a class's percentage of all dropped packets; None if there are none."""

    def share(run: Row) -> float | None:
        total, own = all_dropped(run), dropped(run, name)
        return 100 * own / total if total and own is not None else None

    return share


NUMBERS = {
    "dropped": all_dropped,
    "dropped_control": dropped_control,
    **{f"dropped_share_{name}": _share(name) for name in CLASS_NAMES},
}
"""Numbers of a run that are not columns, by their names in figures.yaml."""
