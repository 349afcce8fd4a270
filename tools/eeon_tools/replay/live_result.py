"""The result of a replay on a live fabric, as plain data with units in the names."""

from dataclasses import dataclass

from eeon_tools.explain.values import plural
from eeon_tools.replay.result import ClassPackets, ReplayResult

LATE_SHARE = 0.01
"""A share of all frames: if more were late, the trace's times were not kept."""


@dataclass(frozen=True)
class LivePackets(ClassPackets):
    """Packets of one class, from host to host, in real time.

    `arrived_marked`: sent without CE and received with it, according to hosts; `marked` is the switches'
    count, and a marked packet may still be lost.
    """

    arrived_marked: int = 0


@dataclass(frozen=True)
class Losses:
    """Where packets were lost that no switch has dropped: between hosts and the programs of their leaves, on
    the way through the fabric, and between leaves and hosts."""

    before_leaves: int
    between: int
    after_leaves: int


@dataclass(frozen=True)
class Lateness:
    """The delays with which frames left their hosts. `late`: frames later than `limit_us`, the transmit time
    of a full frame on the slowest host's link."""

    p50_us: float
    p99_us: float
    max_us: float
    limit_us: float
    late: int


@dataclass(frozen=True, kw_only=True)
class LiveResult(ReplayResult):
    """The result of one replay on a live fabric. None of it is reproducible exactly.

    `refused`: frames that the kernel did not send. `overruns`: frames that arrived at hosts and were lost
    before they could be counted; they are among `lost`, as are those `waiting` in the queues of switches
    when the replay ended. `foreign`: frames that hosts received and this replay did not send, `pauses`
    among them made by switches. `misdelivered`, `duplicated`: packets that arrived at the wrong host, or
    more than once. `untimed`: packets that arrived without a latency, because others like them were lost.
    `wakes`: of switch ports; None if the target does not report them.
    """

    real_seconds: float
    lateness: Lateness
    losses: Losses
    waiting: int
    refused: int
    overruns: int
    foreign: int
    pauses: int
    misdelivered: int
    duplicated: int
    untimed: int
    wakes: int | None

    @property
    def kept_its_times(self) -> bool:
        """Whether at most one frame in a hundred left its host late."""
        return self.lateness.late <= LATE_SHARE * self.total().sent

    def as_dict(self) -> dict[str, object]:
        return super().as_dict() | {"kept_its_times": self.kept_its_times}


def remarks(run: LiveResult) -> list[str]:
    """Returns the remarks that a reader of the numbers needs, in sentences."""
    late, lost = run.lateness, run.losses
    found = [
        f"Frames left their hosts {late.p50_us:,.1f} us (median), {late.p99_us:,.1f} us (99th percentile) "
        f"and at most {late.max_us:,.1f} us after their times."
    ]
    if not run.kept_its_times:
        found.append(
            f"THE TRACE'S TIMES WERE NOT KEPT: {late.late:,} of {run.total().sent:,} frames left more than "
            f"{late.limit_us:,.1f} us late, the time of a full frame on a host's link. Use a lower --speed "
            "or a computer with more cores."
        )
    if run.waiting:
        found.append(
            f"{run.waiting:,} packets still waited in queues of switches when the replay ended, and arrive "
            "later: `eeon show queues` tells where, `eeon show pfc` which neighbours pause a port."
        )
    if run.total().lost > run.waiting:
        found.append(
            f"{run.total().lost - run.waiting:,} packets were lost that no switch has counted as dropped, in "
            f"buffers of the computer: {lost.before_leaves:,} on the way to the first switch's program, "
            f"{lost.between:,} inside the fabric, {lost.after_leaves:,} on the way to hosts."
        )
    by_ecn = run.feed.by_ecn
    if run.feed.offered and not by_ecn["ect_0"] + by_ecn["ect_1"]:
        found.append(f"Of {plural(run.feed.offered, 'packet')}, none is ECN-capable: switches mark none.")
    if run.pauses:
        found.append(
            f"{run.pauses:,} pauses and congestion messages of switches reached hosts, which do not "
            "obey them on a live fabric: a host that a twin would pause keeps sending, and its packets may "
            "be dropped."
        )
    counts = (
        (run.refused, "frames were refused by the kernel and not sent"),
        (run.overruns, "frames reached hosts and were lost before they could be counted"),
        (run.foreign - run.pauses, "frames reached hosts that this replay had not sent"),
        (run.misdelivered, "packets reached the wrong host"),
        (run.duplicated, "packets arrived once more than they were sent"),
        (run.untimed, "packets arrived without a latency: others that look the same were lost"),
    )
    return found + [f"{count:,} {what}." for count, what in counts if count]
