"""What the controller counts about itself, for metrics. Only ever goes up while the process lives."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from eeon_control.controller import messages as m

# Upper bounds, in seconds, of the histogram of restores: from one round trip to a switch that is long away.
RESTORE_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0)


@dataclass
class Restores:
    """Of one switch: how many by cause, entries written, and a histogram of how long they took."""

    by_cause: Counter[str] = field(default_factory=Counter)
    entries: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * len(RESTORE_BUCKETS))


@dataclass
class Counts:
    """`finished`: (what, result) of journals and confirmations that this controller took care of."""

    restores: dict[str, Restores] = field(default_factory=dict)
    finished: Counter[tuple[str, str]] = field(default_factory=Counter)

    def restored(self, switch: str, what: m.Restored) -> None:
        """Counts a restore of a switch. The cause is `program` when the program had to be loaded, else
        `drift` when somebody else wrote, else `entries`."""
        one = self.restores.setdefault(switch, Restores())
        one.by_cause["program" if what.pushed else "drift" if what.drift else "entries"] += 1
        one.entries += what.entries
        one.seconds += what.seconds
        for index, bound in enumerate(RESTORE_BUCKETS):
            one.buckets[index] += what.seconds <= bound
