"""Arithmetic between what people write and what the data plane's tables hold. Pure, exact where it can be.

Times in the tables are ticks of the target's timestamps, 48 bits wide; what lies `TICKS_AHEAD_LIMIT` or more
ahead is taken for past (p4src/include/types.p4), so all spans together must stay below that. Wire time per
byte is ticks x 2^24, rounded to nearest.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from eeon_control.config.eee import Eee
from eeon_control.config.queues import Codel
from eeon_control.constants import TICKS_AHEAD_LIMIT
from eeon_control.errors import PlanError
from eeon_control.model_base import U32_MAX
from eeon_control.topology import phy
from eeon_control.units import Bytes, DataRate, Duration

_PICOSECONDS = 10**12
_Q24 = 1 << 24
_SLOPE_ONE = 1 << 48  # probability 1 in the data plane's fixed point


@dataclass(frozen=True)
class EeeTicks:
    """The parameters of the data plane's `eee` action."""

    sleep_ticks: int
    wake_ticks: int
    stall_ticks: int
    hold_ticks: int
    trigger_packets: int
    trigger_bytes: int
    ticks_per_byte_q24: int
    overhead_bytes: int


def eee_timers(eee: Eee, rate: DataRate) -> tuple[Duration, Duration]:
    """(sleep, wake) of an EEE profile on a link speed. Raises PlanError when neither profile nor PHY says."""
    known = phy.of_rate(rate)
    sleep = eee.sleep if eee.sleep is not None else known.sleep if known else None
    wake = eee.wake if eee.wake is not None else known.wake if known else None
    if sleep is None or wake is None:
        speeds = ", ".join(f"{one.rate} ({one.name})" for one in phy.KNOWN)
        raise PlanError(
            f"no EEE timing is known for {rate}, only for {speeds}; give sleep and wake in an EEE "
            f"profile or under phy.{rate}, or use mode off"
        )
    return sleep, wake


def eee_ticks(eee: Eee, rate: DataRate, overhead: Bytes, tick: Duration) -> EeeTicks | None:
    """The table parameters of an EEE profile on one port; None for mode off. Raises PlanError."""
    if eee.mode == "off":
        return None
    sleep, wake = eee_timers(eee, rate)
    spans = {"sleep": sleep, "wake": wake, "stall": eee.stall, "hold": eee.hold or Duration(0)}
    ticks = {key: _ticks(key, span, tick) for key, span in spans.items()}
    if sum(ticks.values()) >= TICKS_AHEAD_LIMIT:
        raise PlanError(
            f"sleep + wake + stall + hold is {Duration(sum(spans.values()))}; the program looks "
            f"{Duration(TICKS_AHEAD_LIMIT * tick)} ahead at most with this target's {tick} tick"
        )
    per_byte = round(Fraction(8 * _PICOSECONDS * _Q24, rate * tick))
    if per_byte < 1:
        raise PlanError(f"a byte at {rate} takes less than 2^-24 of this target's {tick} tick")
    if per_byte >= 1 << 48:
        raise PlanError(
            f"{rate} is too slow for this target's {tick} tick: a byte's wire time does not fit 48 bits"
        )
    trigger = eee.trigger
    return EeeTicks(
        sleep_ticks=ticks["sleep"],
        wake_ticks=ticks["wake"],
        stall_ticks=ticks["stall"],
        hold_ticks=ticks["hold"],
        trigger_packets=int(trigger.packets or 0) if trigger else 0,
        trigger_bytes=int(trigger.bytes or 0) if trigger else 0,
        ticks_per_byte_q24=per_byte,
        overhead_bytes=int(overhead),
    )


def codel_ticks(aqm: Codel, tick: Duration) -> tuple[int, int]:
    """(`target_ticks`, `interval_ticks`) of a CoDel profile. Raises PlanError."""
    found = []
    for key, span in (("target", aqm.target), ("interval", aqm.interval)):
        ticks = _ticks(key, span, tick, "the queue profile's aqm")
        if ticks > U32_MAX:
            raise PlanError(
                f"{key} is {span}; with this target's {tick} tick at most {Duration(U32_MAX * tick)} "
                "fits 32 bits"
            )
        found.append(ticks)
    return found[0], found[1]


def red_slope(low: int, high: int, max_probability: Fraction) -> int:
    """`probability_slope`: round(max_probability x 2^48 / (max - min)), 0 when the thresholds are equal."""
    return round(max_probability * _SLOPE_ONE / (high - low)) if high > low else 0


def _ticks(key: str, span: Duration, tick: Duration, where: str = "an EEE profile") -> int:
    ticks, rest = divmod(int(span), int(tick))
    if rest:
        below, above = Duration(ticks * tick), Duration((ticks + 1) * tick)
        raise PlanError(
            f"{key} is {span}, which this target's {tick} tick cannot express; "
            f"{below} or {above} would be exact: set {key} in {where}"
            f"{' or under phy' if key in ('sleep', 'wake') else ''}"
        )
    return ticks
