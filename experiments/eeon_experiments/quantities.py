"""Quantities that the controller does not have: clocks of cores, rates of disks, times in words."""

from typing import Annotated, ClassVar

from eeon_control.errors import UnitError
from eeon_control.model_base import in_bytes, of_text, positive, text_schema
from eeon_control.units import Bytes, Duration, Quantity, parse_probability
from pydantic import BeforeValidator
from pydantic.json_schema import JsonSchemaValue


class Frequency(Quantity):
    """A clock rate in hertz."""

    what = "a clock rate"
    examples = "2.5GHz"
    units: ClassVar[dict[str, int]] = {"Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9}
    canonical = ("GHz", "MHz", "kHz", "Hz")


class ByteRate(Quantity):
    """A rate in bytes per second, the unit of disk rates."""

    what = "a rate in bytes per second"
    examples = "280MiB/s"
    units: ClassVar[dict[str, int]] = {f"{unit}/s": factor for unit, factor in Bytes.units.items()}
    canonical = ("GB/s", "MB/s", "KB/s", "B/s")


def _share(text: object) -> float:
    try:
        return float(parse_probability(text))
    except UnitError as error:
        raise UnitError(str(error).replace("a probability", "a share")) from None


def _share_above_zero(text: object) -> float:
    share = _share(text)
    if not share:
        raise ValueError("must be above zero, for example 10%")
    return share


_SHARE: JsonSchemaValue = {
    "anyOf": [
        {"type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*%?\s*$", "examples": ["5%"]},
        {"type": "number", "minimum": 0, "maximum": 1},
    ]
}
ShareText = Annotated[float, *of_text(_share, _SHARE)]
PositiveShareText = Annotated[float, *of_text(_share_above_zero, _SHARE)]
FrequencyText = Annotated[Frequency, *of_text(positive(Frequency), text_schema(Frequency))]
ByteRateText = Annotated[ByteRate, *of_text(positive(ByteRate), text_schema(ByteRate))]
SizeText = Annotated[Bytes, *of_text(positive(Bytes), text_schema(Bytes, examples=["6.4GB"]))]
"""Data of a job or a transfer: above zero, and not limited to 32 bits."""
AnySizeText = Annotated[Bytes, *of_text(Bytes.parse, text_schema(Bytes, examples=["33KB"]))]
"""The same, but zero is possible."""
SmallSizeText = Annotated[Bytes, *of_text(in_bytes("this size", above_zero=True), text_schema(Bytes))]
"""At most 2^32 - 1 bytes."""
DurationText = Annotated[Duration, *of_text(Duration.parse, text_schema(Duration, examples=["1s"]))]
PositiveDurationText = Annotated[Duration, *of_text(positive(Duration), text_schema(Duration))]


def none_for(word: str) -> BeforeValidator:
    """Returns a validator that reads a word, such as `off`, as None."""
    return BeforeValidator(lambda value: None if value == word else value)


def _jitter(text: object) -> Duration | None:
    return None if text is None or text == "frame" else Duration.parse(text)


JitterText = Annotated[
    Duration | None, *of_text(_jitter, {"anyOf": [{"const": "frame"}, text_schema(Duration)]})
]
"""A time, or `frame`, which is None: the transmit time of a full frame."""


def rough_time(seconds: float) -> str:
    """Returns a time with a suitable unit: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 2 * 60:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * 3600 else f"{seconds / 3600:.1f} h"
