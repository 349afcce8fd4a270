"""The controller's counters about itself, for metrics. They only increase while the process lives."""

from collections import Counter
from dataclasses import dataclass, field

from eeon_control.controller import messages as m

# Upper bounds of the histogram of restores, in seconds: from one round trip to a switch that was long away.
RESTORE_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0)


@dataclass
class Restores:
    """The restores of one switch: number by cause, entries written, and a histogram of durations."""

    by_cause: Counter[str] = field(default_factory=Counter)
    entries: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * len(RESTORE_BUCKETS))


@dataclass
class Counts:
    """`finished`: number by (kind, result) of journals and confirmations that this controller finished."""

    restores: dict[str, Restores] = field(default_factory=dict)
    finished: Counter[tuple[str, str]] = field(default_factory=Counter)

    def restored(self, switch: str, what: m.Restored) -> None:
        """Counts a restore of a switch. The cause is `program` if the program was loaded, else `drift` if
        another client wrote, else `entries`."""
        one = self.restores.setdefault(switch, Restores())
        one.by_cause["program" if what.pushed else "drift" if what.drift else "entries"] += 1
        one.entries += what.entries
        one.seconds += what.seconds
        for index, bound in enumerate(RESTORE_BUCKETS):
            one.buckets[index] += what.seconds <= bound
