"""PFC profiles: the thresholds for pausing neighbours in a lossless class. The model: docs/models/pfc.md."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from eeon_control.constants import PAUSE_FRAME_BYTES
from eeon_control.errors import PlanError
from eeon_control.model_base import DurationText, PositiveDurationText, Strict, auto_or_bytes, of_bytes, whole
from eeon_control.topology.model import Port
from eeon_control.units import PS_PER_S, Bytes, DataRate, Duration

QUANTUM_BITS = 512
"""IEEE 802.3 annex 31D: the unit of a pause, in bit times of the link."""
PAUSE_FRAME = Bytes(PAUSE_FRAME_BYTES)
LEAST_WATCH = Duration.parse("100ms")
"""SONiC's minimum detection and restoration time (sonic-pfcwd.yang)."""


class Watchdog(Strict):
    """The controller's reaction to a neighbour that pauses without end (a storm). `eeon controller run`
    looks."""

    detect: PositiveDurationText = Duration(200 * 10**9)
    """A storm is detected when, for this time, pauses arrive and packets wait in the queue without leaving.
    """
    restore: PositiveDurationText = Duration(200 * 10**9)
    """The storm is over when no pause has arrived for this time."""
    action: Literal["drop", "forward", "alert"] = "drop"
    """`drop`: the port ignores pauses of the class, and drops packets for the queue; `forward`: it ignores
    the pauses; `alert`: only a line in the log."""


class Pfc(Strict):
    """A PFC profile: the thresholds for the packets of one lossless class that arrived at one port."""

    limit: Annotated[Bytes, *of_bytes("the limit", above_zero=True)]
    """Maximum bytes of the class, arrived at one port, that a switch stores; packets that do not fit are
    dropped. With enough headroom above `xoff` that never happens."""
    xoff: Annotated[Bytes | None, *auto_or_bytes("xoff", "90KB")] = None
    """The neighbour is paused above this number of bytes. `auto`: the limit minus the headroom."""
    xon: Annotated[Bytes | None, *auto_or_bytes("xon", "90KB")] = None
    """The neighbour resumes at this number of bytes. `auto`: two frames below `xoff`."""
    pause: Annotated[int, *whole(1, 0xFFFF, "a pause")] = 0xFFFF
    """The pause time in each pause frame, in quanta of 512 bit times. The pause is repeated after half of
    that time."""
    max_frame: Annotated[Bytes, *of_bytes("max_frame", above_zero=True)] = Bytes(1514)
    """The longest frame on the links, without FCS."""
    loop: PositiveDurationText = Duration(1_000_000)
    """The duration of a recirculation on the switches, which delays the generation of a pause: 1us in a twin;
    `eeon-switch` and BMv2 need more."""
    response: DurationText = Duration(0)
    """The neighbour's reaction time to an arrived pause, including the delays of MACs and PHYs (IEEE
    802.1Q-2022, 36.1.3.3): 0 in a twin; real switches need some."""
    watchdog: Watchdog | None = None
    """Detects pauses without end; `{}` selects SONiC's times. Without this key there is no watchdog."""
    headroom: Literal["checked", "unchecked"] = "checked"
    """`unchecked`: too little headroom is a warning, not an error."""


PfcProfiles = Annotated[dict[str, Pfc], Field(default_factory=dict)]


@dataclass(frozen=True)
class Headroom:
    """The bytes that may still arrive from a neighbour after XOFF, by cause; `total` is their sum."""

    under_way: Bytes
    """Bytes sent while the pause is generated, travels and takes effect, and those then on the link."""
    sleep: Bytes
    """Bytes sent while the link's other direction goes to sleep and wakes (EEE)."""
    reverse_frame: Bytes
    """Bytes sent while a frame that has just begun delays the pause."""
    pause_frames: Bytes
    """Bytes sent during the pause frame, and those of the other lossless classes before it."""
    last_frame: Bytes
    """A frame that the neighbour begins before the pause takes effect."""
    crossing: Bytes
    """The bytes by which the packet that exceeds XOFF may exceed it."""

    @property
    def total(self) -> Bytes:
        """The minimum distance of `limit` above `xoff`."""
        parts = (self.under_way, self.sleep, self.reverse_frame, self.pause_frames, self.last_frame)
        return Bytes(sum(parts) + self.crossing)


@dataclass(frozen=True)
class Thresholds:
    """A profile's values at one port."""

    xoff: Bytes
    xon: Bytes
    limit: Bytes
    pause: int
    pause_time: Duration
    headroom: Headroom


def headroom(profile: Pfc, port: Port, sleep: Duration, lossless_classes: int) -> Headroom:
    """Returns the headroom of a port's link. `sleep`: its transmitter's Ts + Tw, 0 without EEE."""

    def sent_in(span: int) -> Bytes:
        return Bytes(-(-int(port.rate) * span // (8 * PS_PER_S)))

    on_wire = Bytes(profile.max_frame + port.overhead)
    return Headroom(
        under_way=sent_in(2 * port.delay + profile.loop + profile.response),
        sleep=sent_in(sleep),
        reverse_frame=on_wire,
        pause_frames=Bytes(lossless_classes * (PAUSE_FRAME + port.overhead)),
        last_frame=on_wire,
        crossing=profile.max_frame,
    )


def thresholds(profile: Pfc, port: Port, sleep: Duration, lossless_classes: int) -> Thresholds:
    """Returns the profile's values at one port. Raises PlanError if they contradict each other there."""
    needed = headroom(profile, port, sleep, lossless_classes)
    limit = profile.limit
    if profile.xoff is None and limit <= needed.total:
        raise PlanError(
            f"limit {limit} leaves no room for xoff: the headroom at {port.rate} is {needed.total}; "
            f"set limit above {needed.total}"
        )
    xoff = Bytes(limit - needed.total) if profile.xoff is None else profile.xoff
    xon = Bytes(max(0, xoff - 2 * profile.max_frame)) if profile.xon is None else profile.xon
    if xon > xoff or (xon == xoff and xoff > 0):
        raise PlanError(f"xon {xon} is not below xoff {xoff}; set it below, or to auto")
    if xoff > limit:
        raise PlanError(f"xoff {xoff} is above the limit {limit}; set it below, or to auto")
    return Thresholds(xoff, xon, limit, profile.pause, pause_time(port.rate, profile.pause), needed)


def shortage(found: Thresholds) -> Bytes:
    """Returns the missing headroom; 0 if there is enough."""
    return Bytes(max(0, found.headroom.total - (found.limit - found.xoff)))


def lateness(found: Thresholds, rate: DataRate) -> Duration:
    """Returns the maximum difference between the times that two pauses take to reach the neighbour."""
    late = found.headroom.sleep + found.headroom.reverse_frame + found.headroom.pause_frames
    return Duration(-(-late * 8 * PS_PER_S // int(rate)))


def pause_time(rate: DataRate, quanta: int) -> Duration:
    """Returns the duration of `quanta` pause quanta on a link."""
    return Duration(quanta * QUANTUM_BITS * PS_PER_S // int(rate))
