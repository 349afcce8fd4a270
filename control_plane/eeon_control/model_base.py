"""What all models of a configuration share: strictness, and the kinds of text that a value may be.

Each kind is a pair: the function that reads the text, exact about every rule, and a JSON Schema of its form,
which editors use. The schema may be laxer than the function (it does not count, it only matches), never
stricter; tests/test_config_schema.py holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, WithJsonSchema, model_validator
from pydantic.json_schema import JsonSchemaValue

from eeon_control.errors import UnitError
from eeon_control.units import (
    TEXT_LIMIT,
    Bytes,
    DataRate,
    Duration,
    PacketRate,
    Packets,
    Quantity,
)

U32_MAX = 0xFFFF_FFFF
FULL_FRAME_BYTES = 1500  # the packet of the papers' thresholds in packets, and of comparisons with bytes


class Strict(BaseModel):
    """Base of the configuration's models: frozen, and an unknown key is an error.

    A key without a value (`queue:` and nothing behind it) is as if it were not there, unless it is required.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _empty_is_absent(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        required = {field.alias or name for name, field in cls.model_fields.items() if field.is_required()}
        return {key: given for key, given in value.items() if given is not None or key in required}


def text_schema(*kinds: type[Quantity], **extra: object) -> JsonSchemaValue:
    """Returns the JSON Schema of a quantity's text."""
    patterns = [kind.pattern() for kind in kinds]
    pattern = patterns[0] if len(patterns) == 1 else "|".join(f"({one})" for one in patterns)
    return {"type": "string", "pattern": pattern, "maxLength": TEXT_LIMIT, **extra}


def of_text(
    read: Callable[[object], object], schema: JsonSchemaValue
) -> tuple[PlainValidator, WithJsonSchema]:
    """Returns the two annotations of a kind of text."""
    return PlainValidator(read), WithJsonSchema(schema)


def positive(kind: type[Quantity]) -> Callable[[object], Quantity]:
    """Reads a quantity that must be above zero."""

    def read(text: object) -> Quantity:
        value = kind.parse(text)
        if value <= 0:
            raise ValueError("must be above zero")
        return value

    return read


def in_bytes(what: str, *, above_zero: bool = False) -> Callable[[object], Bytes]:
    """Reads a size in bytes of 32 bits; one in packets is refused with what it would be in bytes."""

    def read(text: object) -> Bytes:
        try:
            packets = Packets.parse(text)
        except UnitError:
            size = Bytes.parse(text)
        else:
            frames = Bytes(packets * FULL_FRAME_BYTES)
            raise ValueError(f"{what} counts bytes; {packets} of {FULL_FRAME_BYTES}B frames are {frames}")
        if size > U32_MAX or (above_zero and size <= 0):
            least = "above zero and " if above_zero else ""
            raise ValueError(f"{what} must be {least}at most {U32_MAX}B (32 bits)")
        return size

    return read


BYTES_SCHEMA = text_schema(Bytes, examples=["97.5KB"])
DURATION = of_text(Duration.parse, text_schema(Duration, examples=["120us", "1ms"]))
DurationText = Annotated[Duration, *DURATION]
PositiveDurationText = Annotated[Duration, *of_text(positive(Duration), text_schema(Duration))]
RateText = Annotated[DataRate, *of_text(positive(DataRate), text_schema(DataRate, examples=["10Gbps"]))]
PacketRateText = Annotated[PacketRate, *of_text(positive(PacketRate), text_schema(PacketRate))]


def unquoted(value: object) -> str:
    """Returns what to do where a number is text to YAML: in quotes, or with a 0 in front."""
    if not isinstance(value, str) or not value.isdecimal():
        return ""
    return "; write it without quotes, and without a 0 in front"


def whole(minimum: int, maximum: int, what: str) -> tuple[BeforeValidator, WithJsonSchema]:
    """Returns a whole number within bounds; `what` begins the sentence that refuses another one."""

    def read(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise ValueError(f"{what} is a whole number from {minimum} to {maximum}{unquoted(value)}")
        return value

    return BeforeValidator(read), WithJsonSchema({"type": "integer", "minimum": minimum, "maximum": maximum})


def no_speed_twice(value: object) -> object:
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
