"""Queue profiles: a port's buffer limit and its AQM mode.

Thresholds compare with the port's instantaneous occupancy in the P4 program, what an arriving packet finds,
itself excluded. `mark_threshold` is the papers' true marking threshold (E-EON thesis section 6.2); `red` is
RED as switches ship it, and the papers' baseline.
"""

from __future__ import annotations

from fractions import Fraction
from math import log2
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, model_validator

from eeon_control.units import Bytes, Duration, Packets, parse_probability, parse_size

# RFC 2309-style EWMA with weight 2^-n; the data plane shifts by at most this many bits.
AVERAGE_SHIFT_LIMIT = 16
# ns-2's autoRED (E-EON thesis sections 5.3.1, 6.3): min is half of the packets of mean size, 500 B by
# default, that the link sends in the target delay, and max is three times min. Table 6.4: 12.5 to 37.5
# packets for 100us at 1GbE. The table's halves are rounded up here: a queue of whole packets reaches 12.5
# when it reaches 13.
AUTO_RED_MEAN_PACKET_BYTES = 500
AUTO_RED_MAX_OVER_MIN = 3


class Strict(BaseModel):
    """Base of the configuration's models: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


def _positive_bytes(text: object) -> Bytes:
    value = Bytes.parse(text)
    if value <= 0:
        raise ValueError("must be above zero")
    return value


def _buffer(text: object) -> Bytes:
    size = parse_size(text)
    if isinstance(size, Packets):
        raise ValueError(f"the buffer limit counts bytes; {size} of 1500B frames are {Bytes(size * 1500)}")
    if not 0 < size <= U32_MAX:
        raise ValueError(f"the buffer limit must be above zero and at most {U32_MAX}B (32 bits)")
    return size


def _threshold_bytes(text: object) -> Bytes:
    size = parse_size(text)
    if isinstance(size, Packets):
        raise ValueError(f"a marking threshold counts bytes; {size} of 1500B frames are {Bytes(size * 1500)}")
    if size > U32_MAX:
        raise ValueError(f"at most {U32_MAX}B (32 bits)")
    return size


def _threshold(text: object) -> Bytes | Packets:
    size = parse_size(text)
    if size > U32_MAX:
        raise ValueError(f"at most {U32_MAX} (32 bits)")
    return size


def _average_shift(value: object) -> int:
    """n of an averaging weight 2^-n written as `1`, `1/512`, or the exact decimal."""
    try:
        weight = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        weight = Fraction(0)
    if 0 < weight <= 1 and weight.numerator == 1 and weight.denominator & (weight.denominator - 1) == 0:
        shift = weight.denominator.bit_length() - 1
        if shift <= AVERAGE_SHIFT_LIMIT:
            return shift
    nearest = ""
    if 0 < weight < 1:
        exponent = max(1, min(AVERAGE_SHIFT_LIMIT, round(-_log2(weight))))
        nearest = f"; the nearest one is 1/{1 << exponent}"
    raise ValueError(
        "the averaging weight is a power of two from 1 (instantaneous) down to "
        f"1/{1 << AVERAGE_SHIFT_LIMIT}, for example 1/512{nearest}"
    )


def _log2(weight: Fraction) -> float:
    return log2(weight.numerator) - log2(weight.denominator)


U32_MAX = 0xFFFF_FFFF

BufferText = Annotated[Bytes, PlainValidator(_buffer)]
ThresholdBytesText = Annotated[Bytes, PlainValidator(_threshold_bytes)]
ThresholdText = Annotated[Bytes | Packets, PlainValidator(_threshold)]
ProbabilityText = Annotated[Fraction, PlainValidator(parse_probability)]
WeightText = Annotated[int, PlainValidator(_average_shift)]


def _positive_duration(text: object) -> Duration:
    value = Duration.parse(text)
    if value <= 0:
        raise ValueError("must be above zero")
    return value


TargetDelayText = Annotated[Duration, PlainValidator(_positive_duration)]


class DropTail(Strict):
    """Nothing but the buffer limit."""

    mode: Literal["drop_tail"]


class MarkThreshold(Strict):
    """ECT packets are marked CE while more than `threshold` is queued; nothing is dropped early.

    `l4s_threshold`: the same for ECT(1) packets, default `threshold`. `at`: judge the queue when a packet
    enters it (RFC 8257 section 3.1) or when it leaves.
    """

    mode: Literal["mark_threshold"]
    threshold: ThresholdBytesText
    l4s_threshold: ThresholdBytesText | None = None
    at: Literal["enqueue", "dequeue"] = "enqueue"


class Red(Strict):
    """Random Early Detection (Floyd and Jacobson 1993).

    Below `min` nothing happens; from `min` to `max` the probability rises to `max_probability`; from `max` on
    it is 1. ECT packets are marked when `ecn` is on; the others are dropped unless `protect` spares them:
    `ect` spares only ECT packets (what switches do), `ece` also packets with TCP's ECE flag, `ack_syn` all
    pure ACKs, SYNs and SYN-ACKs. Thresholds are both in bytes or both in packets; or `target_delay` sets them
    in packets for each port's own rate, as ns-2's autoRED does (13 to 38 packets for 100us at 1Gbps).
    `average_weight`: weight of the newest length in the average, a power of two; 1 is the instantaneous
    length.
    """

    mode: Literal["red"]
    min: ThresholdText | None = None
    max: ThresholdText | None = None
    target_delay: TargetDelayText | None = None
    max_probability: ProbabilityText
    average_shift: Annotated[WeightText, Field(alias="average_weight")] = 0
    ecn: Annotated[bool, Field(strict=True)] = True
    protect: Literal["ect", "ece", "ack_syn"] = "ect"

    @model_validator(mode="before")
    @classmethod
    def _one_way_to_give_thresholds(cls, value: Any) -> Any:
        if isinstance(value, dict):
            pair = [key for key in ("min", "max") if value.get(key) is not None]
            if value.get("target_delay") is not None and pair:
                raise ValueError(
                    f"give either target_delay or min and max, not {pair[0]} beside target_delay"
                )
            if value.get("target_delay") is None and len(pair) < 2:
                raise ValueError("give min and max (for example min: 65pkt, max: 65pkt), or target_delay")
        return value

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


Aqm = DropTail | MarkThreshold | Red


class Queue(Strict):
    """One queue profile: how much a port may hold, and what happens before it is full."""

    buffer: BufferText
    aqm: Annotated[Aqm, Field(discriminator="mode")] = DropTail(mode="drop_tail")
