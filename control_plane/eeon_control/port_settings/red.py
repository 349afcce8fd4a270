"""Random Early Detection (Floyd and Jacobson 1993) as in commercial switches, the papers' baseline:
docs/models/marking.md.

The P4 program compares the thresholds with the port's instantaneous occupancy that an arriving packet finds,
excluding the packet itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log, log1p, log2
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator
from pydantic.json_schema import JsonSchemaValue

from eeon_control.constants import RED_DEPTH_ONE, RED_PROBABILITY_ONE, RED_RAMP_BITS
from eeon_control.entries import Action
from eeon_control.errors import PlanError
from eeon_control.model_base import U32_MAX, PositiveDurationText, Strict, of_text, text_schema
from eeon_control.port_settings import codec
from eeon_control.port_settings.codec import Protect, Settings
from eeon_control.units import (
    PS_PER_S,
    Bytes,
    DataRate,
    Duration,
    Packets,
    format_probability,
    parse_probability,
    parse_size,
)

# EWMA with weight 2^-n. ns-2 chooses 1 - exp(-1 / C) for C packets a second (queue/red.cc): 2^-18 at 1GbE and
# 2^-21.3 at 10GbE. With 2^-24, one packet still changes the average, which has 32 fractional bits.
AVERAGE_SHIFT_LIMIT = 24
# ns-2's autoRED (E-EON thesis sections 5.3.1, 6.3): min is half of the packets of mean size, 500 B by
# default, that the link sends in the target delay, and max is three times min. Table 6.4: 12.5 to 37.5
# packets for 100us at 1GbE. The table's halves are rounded up here, because a queue of whole packets
# reaches 12.5 when it reaches 13.
AUTO_RED_MEAN_PACKET_BYTES = 500
AUTO_RED_MAX_OVER_MIN = 3
# The action's halvings per tick are `idle_halvings` / 2^(16 + `idle_shift`).
IDLE_FRACTION_BITS = 16
IDLE_HALVINGS_MAX = (1 << 16) - 1
IDLE_SHIFT_LIMIT = 63
# Factor of the slope if probabilities are proportional to packet sizes; it is divided by their mean size.
SIZE_FACTOR = 1 << 8
SIZE_MEAN_LIMITS = (1 << 8, (1 << 16) - 1)


def _threshold(text: object) -> Bytes | Packets:
    size = parse_size(text)
    if size > U32_MAX:
        raise ValueError(f"at most {U32_MAX} (32 bits)")
    return size


def _average_shift(value: object) -> int:
    """Returns n of an averaging weight 2^-n written as `1`, `1/512`, or the exact decimal."""
    try:
        weight = Fraction(0) if isinstance(value, bool) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        weight = Fraction(0)
    if 0 < weight <= 1 and weight.numerator == 1 and weight.denominator & (weight.denominator - 1) == 0:
        shift = weight.denominator.bit_length() - 1
        if shift <= AVERAGE_SHIFT_LIMIT:
            return shift
    nearest = ""
    if 0 < weight < 1:
        exact = log2(weight.denominator) - log2(weight.numerator)
        exponent = max(1, min(AVERAGE_SHIFT_LIMIT, round(exact)))
        nearest = f"; the nearest one is 1/{1 << exponent}"
    raise ValueError(
        "the averaging weight must be a power of two from 1 (instantaneous) down to "
        f"1/{1 << AVERAGE_SHIFT_LIMIT}, for example 1/512{nearest}"
    )


def _mean_packet(text: object) -> Bytes:
    size = Bytes.parse(text)
    low, high = SIZE_MEAN_LIMITS
    if not low <= size <= high:
        raise ValueError(f"must be from {low}B to {high}B")
    return size


def _number_or(pattern: str, example: str, **limits: float) -> JsonSchemaValue:
    """Returns the JSON Schema of a number within limits, or of a text with this pattern."""
    text = {"type": "string", "pattern": rf"^\s*{pattern}\s*$", "examples": [example]}
    return {"anyOf": [text, {"type": "number", **limits}]}


MeanPacketText = Annotated[Bytes, *of_text(_mean_packet, text_schema(Bytes, examples=["500B"]))]
ThresholdText = Annotated[
    Bytes | Packets, *of_text(_threshold, text_schema(Bytes, Packets, examples=["65pkt", "97.5KB"]))
]
ProbabilityText = Annotated[
    Fraction, *of_text(parse_probability, _number_or(r"[0-9]+(\.[0-9]+)?\s*%?", "2%", minimum=0, maximum=1))
]
WeightText = Annotated[
    int, *of_text(_average_shift, _number_or(r"[0-9.]+(/[0-9]+)?", "1/512", exclusiveMinimum=0, maximum=1))
]


class Red(Strict):
    """Random Early Detection (Floyd and Jacobson 1993).

    Below `min` nothing happens; from `min` to `max` the probability rises to `max_probability`; from `max` on
    it is 1. ECT packets are marked when `ecn` is on; the others are dropped unless `protect` names them.
    """

    mode: Literal["red"]
    """`red`: Random Early Detection, the papers' baseline."""
    min: ThresholdText | None = None
    """Queue length from which packets may be marked or dropped, in bytes or in packets, in the unit of
    `max`."""
    max: ThresholdText | None = None
    """Queue length from which every packet is marked or dropped, in bytes or in packets, in the unit of
    `min`."""
    target_delay: PositiveDurationText | None = None
    """In place of `min` and `max`: thresholds in packets from each port's rate, as in ns-2's autoRED (13 to
    38 packets for 100us at 1Gbps)."""
    max_probability: ProbabilityText
    """Probability just below `max`."""
    average_shift: Annotated[WeightText, Field(alias="average_weight", json_schema_extra={"default": 1})] = 0
    """Weight of the newest length in the average, a power of two; 1, the default, is the instantaneous
    length."""
    ecn: Annotated[bool, Field(strict=True)] = True
    """`true`: ECT packets are marked. `false`: they are dropped like the others."""
    mean_packet: MeanPacketText = Bytes(AUTO_RED_MEAN_PACKET_BYTES)
    """Size of a typical packet. While a port is idle, the average decays as if packets of this size had
    arrived at the link's speed and found the queue empty."""
    by_size: Annotated[bool, Field(strict=True)] = False
    """`true`: between `min` and `max` a packet's probability is proportional to its size; a packet of
    `mean_packet` has the unscaled probability (ns-2's byte mode)."""
    protect: Protect = "ect"
    """Packets that are never dropped early: `ect` only ECT packets (as switches do), `ece` also packets with
    TCP's ECE flag, `ack_syn` all pure ACKs, SYNs and SYN-ACKs."""

    @model_validator(mode="after")
    def _one_way_to_give_thresholds(self) -> Self:
        pair = [key for key in ("min", "max") if getattr(self, key) is not None]
        if self.target_delay is not None and pair:
            raise ValueError(f"give either target_delay or min and max, not {pair[0]} with target_delay")
        if self.target_delay is None and len(pair) < 2:
            raise ValueError("give min and max (for example min: 65pkt, max: 65pkt), or target_delay")
        return self

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min is not None and self.max is not None:
            if type(self.min) is not type(self.max):
                raise ValueError(
                    f"min ({self.min}) and max ({self.max}) must both be bytes or both be packets"
                )
            if self.min > self.max:
                raise ValueError(f"min ({self.min}) must not be above max ({self.max})")
        return self

    def settings_at(self, rate: DataRate) -> RedSettings:
        """Returns the settings at a link's speed. Raises PlanError for thresholds above 32 bits."""
        low, high = self._thresholds(rate)
        ramp = self.max_probability if low < high else None
        half_life, mean = self._half_life_ps(rate), self.mean_packet if self.by_size else None
        return RedSettings(low, high, ramp, self.average_shift, self.ecn, self.protect, half_life, mean)

    def _half_life_ps(self, rate: DataRate) -> Fraction | None:
        """Returns the time of m mean packets: (1 - weight)^m = 1/2 (Floyd and Jacobson 1993, section 4)."""
        if self.average_shift == 0:
            return None
        packets = log(2) / -log1p(-(2.0**-self.average_shift))
        return Fraction(packets) * 8 * int(self.mean_packet) * PS_PER_S / int(rate)

    def _thresholds(self, rate: DataRate) -> tuple[Bytes | Packets, Bytes | Packets]:
        if self.target_delay is None:
            assert self.min is not None and self.max is not None
            return self.min, self.max
        exact = Fraction(rate * self.target_delay, 2 * 8 * AUTO_RED_MEAN_PACKET_BYTES * PS_PER_S)
        low, high = ceil(exact), ceil(exact * AUTO_RED_MAX_OVER_MIN)
        if high > U32_MAX:
            raise PlanError(
                f"target_delay {self.target_delay} at {rate} gives max {high}pkt, above {U32_MAX} (32 bits)"
            )
        return Packets(low), Packets(high)


@dataclass(frozen=True)
class RedSettings(Settings):
    """RED at one port. `min` and `max` are both bytes or both packets.

    `max_probability` is the probability just below `max`, None if `min` equals `max`. The action has it as
    `probability_slope`, so that it is read back to within (max - min) / 2^49, times mean_packet / 2^7 if
    `mean_packet` is given. `half_life_ps` is the time in which the average halves while the port is idle,
    None for never; it is read back to within 2^-16 of itself, or as one tick if it is shorter. With
    `mean_packet`, a packet's probability is proportional to its size. Settings that were read back convert to
    the same action.
    """

    min: Bytes | Packets
    max: Bytes | Packets
    max_probability: Fraction | None
    average_shift: int
    ecn: bool
    protect: str
    half_life_ps: Fraction | None = None
    mean_packet: Bytes | None = None

    action: ClassVar[str] = "red"

    @property
    def probability_slope(self) -> int:
        """The increase per byte or packet: round(max_probability x 2^48 / (max - min)). With `mean_packet`,
        that x 2^8 / mean_packet, rounded down so that every probability fits."""
        if self.max_probability is None:
            return 0
        slope = self.max_probability * RED_PROBABILITY_ONE / (self.max - self.min)
        return round(slope) if self.mean_packet is None else int(slope * SIZE_FACTOR / self.mean_packet)

    def probability_at(self, depth: Fraction, packet_bytes: int) -> Fraction:
        """Returns the program's probability for a packet and a depth (see `depth_of`) from `min` to `max`. It
        may exceed 1 for a large packet with `mean_packet`, which is then always marked or dropped."""
        above_min = int((depth - self.min) * (1 << RED_RAMP_BITS))
        probability = above_min * self.probability_slope >> RED_RAMP_BITS
        if self.mean_packet is not None:
            probability = probability * packet_bytes // SIZE_FACTOR
        return Fraction(probability, RED_PROBABILITY_ONE)

    def _idle(self, tick: Duration) -> tuple[int, int]:
        """Returns `idle_halvings`, with all 16 bits in use if possible, and `idle_shift`."""
        if self.half_life_ps is None:
            return 0, 0
        a_tick = (1 << IDLE_FRACTION_BITS) * int(tick) / self.half_life_ps
        if a_tick >= IDLE_HALVINGS_MAX:
            return IDLE_HALVINGS_MAX, 0
        for shift in range(IDLE_SHIFT_LIMIT + 1):
            exact = a_tick * (1 << shift)
            # Compared unrounded: a value just below gains a bit with the next shift.
            if exact >= 1 << (IDLE_FRACTION_BITS - 1):
                halvings = round(exact)
                # If rounding yields the next power of two, a smaller shift expresses the same value.
                return (halvings, shift) if halvings <= IDLE_HALVINGS_MAX else (halvings >> 1, shift - 1)
        return round(a_tick * (1 << IDLE_SHIFT_LIMIT)), IDLE_SHIFT_LIMIT

    def to_action(self, tick: Duration) -> Action:
        """Returns the action; everything except `max_probability` and `half_life_ps` is exact."""
        halvings, shift = self._idle(tick)
        return Action(
            self.action,
            (
                ("min_threshold", int(self.min)),
                ("max_threshold", int(self.max)),
                ("probability_slope", self.probability_slope),
                ("in_packets", int(isinstance(self.min, Packets))),
                ("average_shift", self.average_shift),
                ("ecn", int(self.ecn)),
                ("protect", codec.protect_number(self.protect)),
                ("idle_halvings", halvings),
                ("idle_shift", shift),
                ("mean_bytes", 0 if self.mean_packet is None else int(self.mean_packet)),
            ),
        )

    @classmethod
    def from_action(cls, params: Mapping[str, int], tick: Duration) -> Self:
        unit = Packets if params["in_packets"] else Bytes
        low, high = unit(params["min_threshold"]), unit(params["max_threshold"])
        mean = Bytes(params["mean_bytes"]) if params["mean_bytes"] else None
        ramp = None
        if low < high:
            ramp = Fraction(params["probability_slope"] * (high - low), RED_PROBABILITY_ONE)
            if mean is not None:
                ramp = ramp * mean / SIZE_FACTOR
        half_life = None
        if params["idle_halvings"]:
            ticks = Fraction(1 << (IDLE_FRACTION_BITS + params["idle_shift"]), params["idle_halvings"])
            half_life = ticks * int(tick)
        average, protect = params["average_shift"], codec.protect_name(params["protect"])
        return cls(low, high, ramp, average, bool(params["ecn"]), protect, half_life, mean)

    def describe(self) -> str:
        """Returns `red 30KB..90KB, up to 0.1, ECN, protect ect, average 1/512`."""
        top = 1.0 if self.max_probability is None else float(self.max_probability)
        average = f", average 1/{1 << self.average_shift}" if self.average_shift else ""
        ecn = "ECN" if self.ecn else "no ECN"
        size = f", by size of {self.mean_packet}" if self.mean_packet is not None else ""
        return f"red {self.min}..{self.max}, up to {top:.4g}, {ecn}, protect {self.protect}{average}{size}"

    def parts(self) -> dict[str, str]:
        ramp, idle = self.max_probability, "stays"
        if self.half_life_ps is not None:
            idle = f"halves in {float(self.half_life_ps / 10**9):.4g} ms"
        return {
            "minimum": codec.size_text(self.min),
            "maximum": codec.size_text(self.max),
            "maximum probability": "none" if ramp is None else format_probability(round(ramp, 6)),
            "average": f"weight 1/{1 << self.average_shift}" if self.average_shift else "none",
            "idle average": idle,
            "probability": "the same for all" if self.mean_packet is None else f"that of {self.mean_packet}",
            "ECN": codec.on_off(self.ecn),
            "protects": codec.protects(self.protect),
        }


def depth_of(average: int) -> Fraction:
    """Returns bytes or packets for the program's `depth` or its register `red_average`."""
    return Fraction(average, RED_DEPTH_ONE)


def draw_of(number: int) -> Fraction:
    """Returns the random number that the program compares with the probability, from 0 to 1."""
    return Fraction(number, RED_PROBABILITY_ONE)
