"""The common parts of all configuration models: strictness, and the kinds of text that values may be.

Each kind is a pair: a function that parses the text and checks every rule, and a JSON Schema of its form for
editors. The schema may be laxer than the function (it matches patterns but does not compare numbers), never
stricter; tests/test_config_schema.py compares the two.
"""

from collections.abc import Callable
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, WithJsonSchema, model_validator
from pydantic.json_schema import JsonSchemaValue

from eeon_control.errors import UnitError
from eeon_control.units import TEXT_LIMIT, Bytes, DataRate, Duration, Packets, Quantity

U32_MAX = 0xFFFF_FFFF
FULL_FRAME_BYTES = 1500  # packet size for the papers' thresholds in packets, and for comparisons with bytes


class Frozen(BaseModel):
    """Base of all models of files: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Strict(Frozen):
    """Base of the configuration's models.

    A key without a value (`queue:` with nothing after it) is treated as absent, unless it is required.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

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
    """Returns the two pydantic annotations of a kind of text."""
    return PlainValidator(read), WithJsonSchema(schema)


def positive(
    kind: type[Quantity], most: Quantity | None = None, *, what: str = "", hint: str = ""
) -> Callable[[object], Quantity]:
    """Returns a parser of quantities above zero, up to `most`. Its refusal begins with `what`, and ends with
    `hint`."""

    def read(text: object) -> Quantity:
        value = kind.parse(text)
        if value <= 0 or (most is not None and value > most):
            limit = "" if most is None else f" and at most {most}"
            raise ValueError(f"{what}must be above zero{limit}{hint}")
        return value

    return read


def in_bytes(what: str, *, above_zero: bool = False) -> Callable[[object], Bytes]:
    """Returns a parser of 32-bit sizes in bytes. It refuses packets, with the equivalent in bytes."""

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


def of_bytes(what: str, *, above_zero: bool = False) -> tuple[PlainValidator, WithJsonSchema]:
    """Returns the annotations of a 32-bit size in bytes; `what` begins the error message."""
    return of_text(in_bytes(what, above_zero=above_zero), text_schema(Bytes, examples=["97.5KB"]))


def auto_or_bytes(what: str, example: str) -> tuple[PlainValidator, WithJsonSchema]:
    """Returns the annotations of a 32-bit size in bytes, or None for `auto` or no value."""
    read = in_bytes(what)
    schema: JsonSchemaValue = {"anyOf": [{"const": "auto"}, text_schema(Bytes, examples=[example])]}
    return of_text(lambda text: None if text in (None, "auto") else read(text), schema)


DURATION = of_text(Duration.parse, text_schema(Duration, examples=["120us", "1ms"]))
DurationText = Annotated[Duration, *DURATION]
PositiveDurationText = Annotated[Duration, *of_text(positive(Duration), text_schema(Duration))]
RateText = Annotated[DataRate, *of_text(positive(DataRate), text_schema(DataRate, examples=["10Gbps"]))]


def unquoted(value: object) -> str:
    """Returns a hint for a number or truth value that YAML reads as text: in quotes, or with a leading 0."""
    if not isinstance(value, str):
        return ""
    if value.lower() in ("true", "false"):
        return "; write it without quotes"
    return "; write it without quotes and without leading zeros" if value.isdecimal() else ""


def whole(minimum: int, maximum: int, what: str) -> tuple[BeforeValidator, WithJsonSchema]:
    """Returns the annotations of a whole number within bounds; `what` begins the error message."""

    def read(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise ValueError(f"{what} must be a whole number from {minimum} to {maximum}{unquoted(value)}")
        return value

    return BeforeValidator(read), WithJsonSchema({"type": "integer", "minimum": minimum, "maximum": maximum})


def no_speed_twice(value: object) -> object:
    """Refuses a mapping by link speed with the same speed twice, such as 1Gbps and 1000Mbps."""
    if not isinstance(value, dict):
        return value
    seen: dict[DataRate, object] = {}
    for key in value:
        try:
            rate = DataRate.parse(key)
        except UnitError:
            continue  # the validation of the key's own type reports the error
        if rate in seen:
            raise ValueError(f"{seen[rate]} and {key} are the same speed; keep one of them")
        seen[rate] = key
    return value
