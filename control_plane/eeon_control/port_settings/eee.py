"""Energy-Efficient Ethernet (IEEE 802.3az): when a transmitter sleeps, and how long it holds packets.

The model is docs/models/eee_hold.md. Times in the action are ticks of the target's timestamps. A time
`TICKS_AHEAD_LIMIT` or more ahead is considered past (p4src/include/types.p4), so that the sum of all spans
must stay below that limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from eeon_control.constants import TICKS_AHEAD_LIMIT, WIRE_TIME_LIMIT, WIRE_TIME_ONE
from eeon_control.entries import Action
from eeon_control.errors import PlanError
from eeon_control.model_base import (
    U32_MAX,
    DurationText,
    RateText,
    Strict,
    no_speed_twice,
    of_text,
    text_schema,
)
from eeon_control.port_settings import codec
from eeon_control.port_settings.codec import Kind, Settings, WithoutParameters
from eeon_control.topology import phy
from eeon_control.units import PS_PER_S, Bytes, DataRate, Duration, Packets, parse_size

Mode = Literal["off", "standard", "coalesce"]


@dataclass(frozen=True)
class Trigger:
    """The number of held packets or bytes that wakes a sleeping link early; None: the trigger is off."""

    packets: Packets | None = None
    bytes: Bytes | None = None

    @property
    def sizes(self) -> tuple[Packets | Bytes, ...]:
        return tuple(size for size in (self.packets, self.bytes) if size is not None)

    def __str__(self) -> str:
        return " or ".join(str(size) for size in self.sizes)


def _trigger(value: object) -> Trigger:
    """Parses `10pkt`, `15KB`, or a list with one of each."""
    if isinstance(value, Trigger):
        return value
    sizes = [parse_size(item) for item in (value if isinstance(value, list) else [value])]
    if not sizes:
        raise ValueError("the trigger is empty; write for example 10pkt, 15KB or [10pkt, 15KB]")
    if min(sizes) < 1:
        raise ValueError("a trigger must be at least 1pkt or 1B; without one, only hold ends the wait")
    if max(sizes) > U32_MAX:
        raise ValueError(f"a trigger must be at most {U32_MAX} (32 bits)")
    packets = [size for size in sizes if isinstance(size, Packets)]
    in_bytes = [size for size in sizes if isinstance(size, Bytes)]
    if len(sizes) > len(packets[:1]) + len(in_bytes[:1]):
        raise ValueError(f"the trigger is given twice in {'packets' if len(packets) > 1 else 'bytes'}")
    return Trigger(next(iter(packets), None), next(iter(in_bytes), None))


_SIZE = text_schema(Packets, Bytes, examples=["100pkt", "75KB"])
TriggerText = Annotated[
    Trigger,
    *of_text(_trigger, {"anyOf": [_SIZE, {"type": "array", "items": _SIZE, "minItems": 1, "maxItems": 2}]}),
]


class PhyTimes(Strict):
    """The times that a PHY takes to go to sleep and to wake."""

    sleep: DurationText | None = None
    """Ts: time from the start of the sleep transition until the link is in low-power idle (IEEE
    802.3az-2010)."""
    wake: DurationText | None = None
    """Tw: time from the start of the wake until the link can send frames (IEEE 802.3az-2010)."""


class EeeTimers(PhyTimes):
    """What an EEE profile says, for all speeds or for one."""

    hold: DurationText | None = None
    """The time for which the first packet that finds the link asleep is held, so that more packets can
    gather. It is the papers' holding time; ethtool's closest setting is `tx-usecs`. Only in mode
    `coalesce`."""
    trigger: TriggerText | None = None
    """The number of held packets or bytes at which the link wakes early: packets, bytes, or a list with one
    of each. Without a trigger, only `hold` ends the wait. Only in mode `coalesce`."""


class EeeAtSpeed(EeeTimers):
    """Other values for links of one speed; all other keys come from the profile."""

    mode: Mode | None = None
    """Another mode at this speed. `hold` and `trigger` are then not inherited unless it is `coalesce`; `off`
    inherits nothing."""
    stall: DurationText | None = None
    """Another stall time at this speed."""


class Eee(EeeTimers):
    """Energy-Efficient Ethernet (IEEE 802.3az) of a transmitter.

    `off`: the link never sleeps. `standard`: the link sleeps when idle and wakes for the next packet.
    `coalesce`: the first packet that finds the link asleep starts the `hold` timer; the link wakes when the
    timer ends or `trigger` packets (or bytes) are held.
    """

    mode: Mode
    """`off`, `standard` (sleep when idle, wake at the next packet) or `coalesce` (hold packets while
    asleep)."""
    stall: DurationText = Duration(0)
    """Idle time before the link goes to sleep; with 0 it sleeps immediately (ethtool: `tx-timer`). The papers
    found no benefit in it (E-EON thesis section 4.3.2)."""
    by_speed: Annotated[dict[RateText, EeeAtSpeed], BeforeValidator(no_speed_twice)] = Field(
        default_factory=dict
    )
    """Other values for links of certain speeds, for example `10Gbps: {hold: 1ms}`."""

    @model_validator(mode="after")
    def _keys_fit_mode(self) -> Self:
        if rule := _broken_rule(self):
            raise ValueError(rule)
        return self

    def at(self, rate: DataRate, phy: PhyTimes | None = None) -> Eee:
        """Returns the profile on links of one speed; `phy` supplies missing sleep and wake times."""
        merged = self._merged(rate)
        if merged.mode == "off" or phy is None:
            return merged
        missing = [key for key in ("sleep", "wake") if getattr(merged, key) is None]
        return merged.model_copy(update={key: getattr(phy, key) for key in missing})

    def timers(self, rate: DataRate) -> tuple[Duration, Duration]:
        """Returns (sleep, wake) at this speed, the profile's or the PHY's. Raises PlanError without any."""
        known = phy.of_rate(rate)
        sleep = self.sleep if self.sleep is not None else known.sleep if known else None
        wake = self.wake if self.wake is not None else known.wake if known else None
        if sleep is None or wake is None:
            speeds = ", ".join(f"{one.rate} ({one.name})" for one in phy.KNOWN)
            raise PlanError(
                f"EEE timing for {rate} is unknown; it is known for {speeds}. Set sleep and wake in an EEE "
                f"profile or under phy.{rate}, or use mode off"
            )
        return sleep, wake

    def settings_at(self, rate: DataRate, overhead: Bytes) -> EeeSettings | EeeOff:
        """Returns the settings for a link of this speed and overhead in bytes a frame. Raises PlanError."""
        if self.mode == "off":
            return EeeOff()
        sleep, wake = self.timers(rate)
        trigger = self.trigger or Trigger()
        return EeeSettings(
            sleep=sleep,
            wake=wake,
            stall=self.stall,
            hold=self.hold or Duration(0),
            trigger_packets=trigger.packets,
            trigger_bytes=trigger.bytes,
            byte_time_ps=Fraction(8 * PS_PER_S, rate),
            overhead=overhead,
        )

    def broken_speeds(self) -> Iterator[tuple[DataRate, str]]:
        """Yields the speeds at which the profile, with its values for them, breaks a rule, with the rule."""
        for rate in self.by_speed:
            if rule := _broken_rule(self._merged(rate)):
                yield rate, rule

    def _merged(self, rate: DataRate) -> Eee:
        base = self.model_copy(update={"by_speed": {}})
        other = self.by_speed.get(rate)
        if other is None:
            return base
        given = {key: value for key, value in other if value is not None}
        if other.mode not in (None, "coalesce"):
            given = {"hold": None, "trigger": None, **given}
        if other.mode == "off":
            given = {"stall": Duration(0), "sleep": None, "wake": None, **given}
        return base.model_copy(update=given)


def _broken_rule(eee: Eee) -> str | None:
    """Returns the rule about mode and timers that a profile breaks, if any."""
    if eee.mode == "coalesce":
        if not eee.hold:
            return "mode coalesce needs a hold above zero, for example hold: 120us"
    elif eee.hold is not None or eee.trigger is not None:
        key = "hold" if eee.hold is not None else "trigger"
        return f"{key} needs mode coalesce; in mode {eee.mode} a link does not hold packets"
    if eee.mode == "off" and (eee.stall or eee.sleep is not None or eee.wake is not None):
        return "mode off has no timers; remove stall, sleep and wake"
    return None


@dataclass(frozen=True)
class EeeOff(WithoutParameters):
    """The link never sleeps."""

    action: ClassVar[str] = "eee_off"
    text: ClassVar[str] = "off"


def _ticks_per_byte_q24(byte_time_ps: Fraction, tick: Duration) -> int:
    per_byte = round(byte_time_ps * WIRE_TIME_ONE / tick)
    rate = DataRate(round(8 * PS_PER_S / byte_time_ps)) if byte_time_ps else "no speed"
    if per_byte < 1:
        raise PlanError(f"a byte at {rate} takes less than 2^-24 of this target's {tick} tick")
    if per_byte >= WIRE_TIME_LIMIT:
        raise PlanError(
            f"{rate} is too slow for this target's {tick} tick: a byte's wire time does not fit 48 bits"
        )
    return per_byte


_BYTE_TIME = Kind(_ticks_per_byte_q24, lambda number, tick: Fraction(number * tick, WIRE_TIME_ONE))
_OPTIONAL_PACKETS = Kind(
    lambda size, _: int(size or 0), lambda number, _: Packets(number) if number else None
)
_OPTIONAL_BYTES = Kind(lambda size, _: int(size or 0), lambda number, _: Bytes(number) if number else None)


@dataclass(frozen=True)
class EeeSettings(Settings):
    """EEE of one port. `hold` is zero in mode standard. `overhead`: bytes on the wire besides each frame.

    `byte_time_ps` is the transmit time of a byte. The action has it in ticks x 2^24, so that it is read back
    to within tick / 2^25. Settings that were read back convert to the same action.
    """

    sleep: Duration
    wake: Duration
    stall: Duration
    hold: Duration
    trigger_packets: Packets | None
    trigger_bytes: Bytes | None
    byte_time_ps: Fraction
    overhead: Bytes

    action: ClassVar[str] = "eee"
    params: ClassVar = (
        *((f"{key}_ticks", key, codec.TICKS) for key in ("sleep", "wake", "stall", "hold")),
        ("trigger_packets", "trigger_packets", _OPTIONAL_PACKETS),
        ("trigger_bytes", "trigger_bytes", _OPTIONAL_BYTES),
        ("ticks_per_byte_q24", "byte_time_ps", _BYTE_TIME),
        ("overhead_bytes", "overhead", codec.BYTES),
    )

    @property
    def mode(self) -> str:
        """`standard` or `coalesce`."""
        return "coalesce" if self.hold else "standard"

    @property
    def trigger(self) -> Trigger:
        return Trigger(self.trigger_packets, self.trigger_bytes)

    def to_action(self, tick: Duration) -> Action:
        """Returns the action. Raises PlanError if the sum of the times is too long, or the speed does not fit
        the fixed point."""
        spans = self.spans().values()
        if sum(codec.to_ticks(span, tick) for span in spans) >= TICKS_AHEAD_LIMIT:
            raise PlanError(
                f"sleep + wake + stall + hold is {Duration(sum(spans))}; with this target's {tick} "
                f"tick it must be below {Duration(TICKS_AHEAD_LIMIT * tick)}"
            )
        return super().to_action(tick)

    def describe(self) -> str:
        """Returns `standard`, or `coalesce, hold 120 us, 100 packets`."""
        parts = self.parts()
        shown = ["standard"]
        if self.hold:
            shown = ["coalesce", f"hold {parts['hold']}"]
            shown += [codec.size_text(size) for size in self.trigger.sizes]
        return ", ".join([*shown, *([f"stall {parts['stall']}"] if self.stall else [])])

    def parts(self) -> dict[str, str]:
        packets, size = self.trigger_packets, self.trigger_bytes
        return {
            "hold": codec.spaced(self.hold),
            "trigger": "none" if packets is None else codec.size_text(packets),
            "byte trigger": "none" if size is None else codec.size_text(size),
            "stall": codec.spaced(self.stall),
            "sleep": codec.spaced(self.sleep),
            "wake": codec.spaced(self.wake),
            "wire time": f"{float(self.byte_time_ps) / 1000:.6g} ns/byte",
            "overhead": codec.size_text(self.overhead),
        }
