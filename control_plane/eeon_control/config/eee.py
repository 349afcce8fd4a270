"""EEE profiles: when a transmitter sleeps, how long it holds packets back, and that by link speed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from eeon_control.errors import UnitError
from eeon_control.model_base import U32_MAX, DurationText, RateText, Strict, of_text, text_schema
from eeon_control.units import Bytes, DataRate, Duration, Packets, parse_size

Mode = Literal["off", "standard", "coalesce"]


@dataclass(frozen=True)
class Trigger:
    """How much may be held before a sleeping link is woken early; None means that this trigger is off."""

    packets: Packets | None = None
    bytes: Bytes | None = None

    def __str__(self) -> str:
        return " or ".join(str(size) for size in (self.packets, self.bytes) if size is not None)


def _trigger(value: object) -> Trigger:
    """`10pkt`, `15KB`, or a list with one of each."""
    if isinstance(value, Trigger):
        return value
    items = value if isinstance(value, list) else [value]
    found: dict[str, Any] = {}
    for item in items:
        size = parse_size(item)
        key = "packets" if isinstance(size, Packets) else "bytes"
        if size < 1:
            raise ValueError("a trigger is at least 1pkt or 1B; leave it out to wake by the hold timer alone")
        if size > U32_MAX:
            raise ValueError(f"a trigger is at most {U32_MAX} (32 bits)")
        if key in found:
            raise ValueError(f"the trigger is given twice in {key}")
        found[key] = size
    if not found:
        raise ValueError("an empty trigger; write for example 10pkt, 15KB or [10pkt, 15KB]")
    return Trigger(**found)


_SIZE = text_schema(Packets, Bytes, examples=["100pkt", "75KB"])
TriggerText = Annotated[
    Trigger,
    *of_text(_trigger, {"anyOf": [_SIZE, {"type": "array", "items": _SIZE, "minItems": 1, "maxItems": 2}]}),
]


def no_speed_twice(value: Any) -> Any:
    """Refuses a mapping by link speed two of whose keys are the same speed, such as 1Gbps and 1000Mbps."""
    if not isinstance(value, dict):
        return value
    seen: dict[DataRate, object] = {}
    for key in value:
        try:
            rate = DataRate.parse(key)
        except UnitError:
            continue  # the key's own type says what is wrong with it
        if rate in seen:
            raise ValueError(f"{seen[rate]} and {key} are the same speed")
        seen[rate] = key
    return value


class PhyTimes(Strict):
    """How long a PHY takes to fall asleep and to wake up."""

    sleep: DurationText | None = None
    """Ts: time from the decision to sleep until the link is in low-power idle (IEEE 802.3az-2010)."""
    wake: DurationText | None = None
    """Tw: time from the decision to wake until the link carries frames again (IEEE 802.3az-2010)."""


class EeeTimers(PhyTimes):
    """What an EEE profile says, for all speeds or for one."""

    hold: DurationText | None = None
    """How long the first packet that finds the link asleep is held, so that more can gather. The papers'
    holding time; ethtool's nearest relative is `tx-usecs`. Only in mode `coalesce`."""
    trigger: TriggerText | None = None
    """How much may be held before the link is woken early: packets, bytes, or a list with one of each.
    Without one, only `hold` ends the wait. Only in mode `coalesce`."""


class EeeAtSpeed(EeeTimers):
    """What is different on links of one speed; everything else is the profile's."""

    mode: Mode | None = None
    """Another mode at this speed. `hold` and `trigger` are then not inherited unless it is `coalesce`; `off`
    inherits nothing."""
    stall: DurationText | None = None
    """Another stall time at this speed."""


class Eee(EeeTimers):
    """Energy-Efficient Ethernet (IEEE 802.3az) of a transmitter.

    `off`: the link never sleeps. `standard`: it sleeps when idle and wakes at the next packet. `coalesce`:
    the first packet that finds it asleep starts the `hold` timer; it wakes when the timer ends or `trigger`
    packets (or bytes) are held.
    """

    mode: Mode
    """`off`, `standard` (sleep when idle, wake at the next packet) or `coalesce` (hold packets while
    asleep)."""
    stall: DurationText = Duration(0)
    """Idle time before going to sleep; 0 is at once (ethtool: `tx-timer`). The papers found no benefit in it
    (E-EON thesis section 4.3.2)."""
    by_speed: Annotated[dict[RateText, EeeAtSpeed], BeforeValidator(no_speed_twice)] = Field(
        default_factory=dict
    )
    """What is different on links of a speed, by that speed, for example `10Gbps: {hold: 1ms}`."""

    @model_validator(mode="after")
    def _keys_fit_mode(self) -> Self:
        if rule := _broken_rule(self):
            raise ValueError(rule)
        return self

    def at(self, rate: DataRate, phy: PhyTimes | None = None) -> Eee:
        """The profile on links of one speed; `phy` fills in the sleep and wake times that it does not
        give."""
        merged = self._merged(rate)
        if merged.mode != "off" and phy is not None:
            given = {"sleep": merged.sleep or phy.sleep, "wake": merged.wake or phy.wake}
            merged = merged.model_copy(update=given)
        return merged

    def broken_speeds(self) -> Iterator[tuple[DataRate, str]]:
        """Speeds at which the profile and what is different there break a rule, with the rule."""
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
    """The rule between mode and timers that a profile breaks, if any."""
    if eee.mode == "coalesce":
        if not eee.hold:
            return "mode coalesce needs a hold above zero, for example hold: 120us"
    elif eee.hold is not None or eee.trigger is not None:
        key = "hold" if eee.hold is not None else "trigger"
        return f"{key} belongs to mode coalesce; in mode {eee.mode} a link does not hold packets"
    if eee.mode == "off" and (eee.stall or eee.sleep is not None or eee.wake is not None):
        return "mode off takes no timers"
    return None
