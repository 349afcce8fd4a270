"""Queue profiles: a port's buffer limit and its AQM mode.

Thresholds compare with the port's instantaneous occupancy in the P4 program, what an arriving packet finds,
itself excluded. `mark_threshold` is the papers' true marking threshold (E-EON thesis section 6.2); `red` is
RED as switches ship it, and `codel` is RFC 8289: the papers' baselines.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log2
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from eeon_control.config.presets import BUFFER_PRESETS
from eeon_control.config.short_forms import ShortForms, written_out
from eeon_control.model_base import (
    FULL_FRAME_BYTES,
    U32_MAX,
    PositiveDurationText,
    Strict,
    in_bytes,
    of_text,
    text_schema,
)
from eeon_control.units import Bytes, Duration, Packets, parse_probability, parse_size

# RFC 2309-style EWMA with weight 2^-n; the data plane shifts by at most this many bits.
AVERAGE_SHIFT_LIMIT = 16


def _buffer(text: object) -> Bytes:
    preset = BUFFER_PRESETS.get(text) if isinstance(text, str) else None
    return in_bytes("the buffer limit", above_zero=True)(text if preset is None else preset)


def _or_auto(read: Callable[[object], Bytes]) -> Callable[[object], Bytes | None]:
    return lambda text: None if text is None or text == "auto" else read(text)


def _threshold(text: object) -> Bytes | Packets:
    size = parse_size(text)
    if size > U32_MAX:
        raise ValueError(f"at most {U32_MAX} (32 bits)")
    return size


def _average_shift(value: object) -> int:
    """n of an averaging weight 2^-n written as `1`, `1/512`, or the exact decimal."""
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
        exponent = max(1, min(AVERAGE_SHIFT_LIMIT, round(-_log2(weight))))
        nearest = f"; the nearest one is 1/{1 << exponent}"
    raise ValueError(
        "the averaging weight is a power of two from 1 (instantaneous) down to "
        f"1/{1 << AVERAGE_SHIFT_LIMIT}, for example 1/512{nearest}"
    )


def _log2(weight: Fraction) -> float:
    return log2(weight.numerator) - log2(weight.denominator)


_IN_BYTES = text_schema(Bytes, examples=["97.5KB"])
BufferText = Annotated[
    Bytes,
    *of_text(_buffer, {"anyOf": [{"enum": list(BUFFER_PRESETS)}, text_schema(Bytes, examples=["300KB"])]}),
]
AutoThresholdText = Annotated[
    Bytes | None,
    *of_text(_or_auto(in_bytes("a marking threshold")), {"anyOf": [{"const": "auto"}, _IN_BYTES]}),
]
ThresholdBytesText = Annotated[Bytes, *of_text(in_bytes("a marking threshold"), _IN_BYTES)]
ThresholdText = Annotated[
    Bytes | Packets, *of_text(_threshold, text_schema(Bytes, Packets, examples=["65pkt", "97.5KB"]))
]
ProbabilityText = Annotated[
    Fraction,
    *of_text(
        parse_probability,
        {
            "anyOf": [
                {"type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*%?\s*$", "examples": ["2%"]},
                {"type": "number", "minimum": 0, "maximum": 1},
            ]
        },
    ),
]
WeightText = Annotated[
    int,
    *of_text(
        _average_shift,
        {
            "anyOf": [
                {"type": "string", "pattern": r"^\s*[0-9.]+(/[0-9]+)?\s*$", "examples": ["1/512"]},
                {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            ]
        },
    ),
]


class DropTail(Strict):
    """Nothing but the buffer limit."""

    mode: Literal["drop_tail"]
    """`drop_tail`: packets are dropped when the buffer is full, and never before."""


class MarkThreshold(Strict):
    """ECT packets are marked CE while more than `threshold` is queued; nothing is dropped early."""

    mode: Literal["mark_threshold"]
    """`mark_threshold`: the papers' true marking threshold."""
    threshold: AutoThresholdText = None
    """Queued bytes above which ECT packets are marked. `auto`, the default, is DCTCP's by link speed: 15
    frames of 1500 B plus C x RTT / 7, that is 30KB at 1Gbps and 97.5KB at 10Gbps."""
    l4s_threshold: ThresholdBytesText | None = None
    """The same for ECT(1) packets (L4S, RFC 9331). The default is `threshold`."""
    at: Literal["enqueue", "dequeue"] = "enqueue"
    """Whether the queue is judged when a packet enters it (RFC 8257 section 3.1) or when it leaves."""
    rtt: PositiveDurationText | None = None
    """The round-trip time of the flows, hosts included: what `threshold: auto` allows for (default 420us) and
    what a given threshold is compared with (default: the topology's)."""


class Red(Strict):
    """Random Early Detection (Floyd and Jacobson 1993).

    Below `min` nothing happens; from `min` to `max` the probability rises to `max_probability`; from `max` on
    it is 1. ECT packets are marked when `ecn` is on; the others are dropped unless `protect` spares them.
    """

    mode: Literal["red"]
    """`red`: Random Early Detection, the papers' baseline."""
    min: ThresholdText | None = None
    """Queue length from which packets may be marked or dropped, in bytes or in packets, as `max`."""
    max: ThresholdText | None = None
    """Queue length from which every packet is marked or dropped, in bytes or in packets, as `min`."""
    target_delay: PositiveDurationText | None = None
    """Instead of `min` and `max`: thresholds in packets from each port's rate, as ns-2's autoRED (13 to 38
    packets for 100us at 1Gbps)."""
    max_probability: ProbabilityText
    """Probability just below `max`."""
    average_shift: Annotated[WeightText, Field(alias="average_weight", json_schema_extra={"default": 1})] = 0
    """Weight of the newest length in the average, a power of two; 1, the default, is the instantaneous
    length."""
    ecn: Annotated[bool, Field(strict=True)] = True
    """Whether ECT packets are marked; without, they are dropped like the others."""
    protect: Literal["ect", "ece", "ack_syn"] = "ect"
    """Who is never dropped early: `ect` only ECT packets (what switches do), `ece` also packets with TCP's
    ECE flag, `ack_syn` all pure ACKs, SYNs and SYN-ACKs."""

    @model_validator(mode="after")
    def _one_way_to_give_thresholds(self) -> Self:
        pair = [key for key in ("min", "max") if getattr(self, key) is not None]
        if self.target_delay is not None and pair:
            raise ValueError(f"give either target_delay or min and max, not {pair[0]} beside target_delay")
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


class Codel(Strict):
    """Controlled Delay (RFC 8289): judges packets when they leave, by how long they stood in the queue.

    Once no packet has stood there for less than `target` for an `interval`, one is signalled, and then
    further ones after `interval` / sqrt(n). A signal marks ECT packets when `ecn` is on and drops the
    others, unless `protect` spares them. The time for which a sleeping link holds a packet counts."""

    mode: Literal["codel"]
    """`codel`: Controlled Delay, the papers' other baseline."""
    target: PositiveDurationText = Duration.parse("5ms")
    """The delay that a standing queue may have. The default is RFC 8289's (section 4.4), for the
    Internet. The papers' data centres have, with `interval`: 500us and 20ms, 800us and 1500us, 400us and
    1ms, 300us and 750us."""
    interval: PositiveDurationText = Duration.parse("100ms")
    """For how long the delay must stay above `target`, about the longest round-trip time of the flows. The
    default is RFC 8289's (section 4.3)."""
    mtu: Annotated[Bytes, *of_text(in_bytes("the MTU"), _IN_BYTES)] = Bytes(FULL_FRAME_BYTES + 14)
    """A queue that keeps no more than this behind a packet is never too long: the longest frame."""
    ecn: Annotated[bool, Field(strict=True)] = True
    """Whether ECT packets are marked; without, they are dropped like the others."""
    protect: Literal["ect", "ece", "ack_syn"] = "ect"
    """Who is never dropped early, as for `red`. The signal waits for the next packet that may take it."""


Aqm = DropTail | MarkThreshold | Red | Codel
AqmText = Annotated[Aqm, Field(discriminator="mode"), ShortForms(), BeforeValidator(written_out)]


class Queue(Strict):
    """One queue profile: how much a port may hold, and what happens before it is full."""

    buffer: BufferText
    """How many bytes a port may hold; what does not fit is dropped. `shallow` (300KB) and `deep` (3MB) are
    the papers' switches."""
    aqm: AqmText = DropTail(mode="drop_tail")
    """What happens before the buffer is full: a mapping with `mode`, or a short form such as `mark_threshold:
    auto` or `autored: 500us`."""
