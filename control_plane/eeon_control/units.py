"""Quantities in the notation of users (`97.5kB`, `65pkt`, `120us`, `10Gbps`, `2%`), and as exact numbers.

Every quantity is a whole number of its base unit, in a type of its own: Bytes, Packets, Duration
(picoseconds), DataRate (bit/s), PacketRate (packets/s). KB and kB are 1000 bytes, KiB is 1024. Nothing is
rounded: `0.3B` is refused, not truncated. Bytes and packets are different types; no function here converts
one to the other, because the number of packets that fit a limit in bytes depends on the traffic."""

import re
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Self

from eeon_control.errors import UnitError

_TEXT = re.compile(r"\s*(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[A-Za-zµμ%/]*)\s*", re.ASCII)
TEXT_LIMIT = 48  # characters; the longest sensible quantity is far shorter
PS_PER_S = 10**12
_VALUE_LIMIT = 2**63  # the engine and JSON readers use signed 64-bit integers


class Quantity(int):
    """A whole number of one base unit. Subclasses fix the unit; `parse` reads what `str()` returns."""

    units: ClassVar[dict[str, int]]
    what: ClassVar[str]
    examples: ClassVar[str]
    canonical: ClassVar[tuple[str, ...]]  # units used for printing, largest first; the last one is the base

    @classmethod
    def parse(cls, text: object) -> Self:
        """Parses text such as the class's `examples`. Raises UnitError, with an example, for other values."""
        if isinstance(text, cls):
            return text
        if isinstance(text, bool) or not isinstance(text, str):
            given = "no value" if text is None else _shorten(repr(text))
            raise UnitError(f"{given} is not {cls.what} with a unit; write for example {cls.examples}")
        match = _TEXT.fullmatch(text) if len(text) <= TEXT_LIMIT else None
        if match is None:
            raise UnitError(f"{_shorten(text)!r} is not {cls.what}; write for example {cls.examples}")
        unit = match["unit"].replace("μ", "µ")
        if not unit:
            raise UnitError(f"{text!r} has no unit; write {cls.what} as for example {cls.examples}")
        if unit not in cls.units:
            raise UnitError(
                f"{text!r}: {unit!r} is not a unit for {cls.what}{cls._hint(unit)}; use one of "
                f"{', '.join(cls.units)}, for example {cls.examples}"
            )
        value = Fraction(match["number"]) * cls.units[unit]
        if value.denominator != 1:
            raise UnitError(f"{text!r} is not a whole number of {cls.canonical[-1]}")
        if value >= _VALUE_LIMIT:
            raise UnitError(f"{text!r} is larger than {_VALUE_LIMIT - 1} {cls.canonical[-1]}")
        return cls(int(value))

    @classmethod
    def _hint(cls, unit: str) -> str:
        for other in (Bytes, Packets, Duration, DataRate, PacketRate):
            if other is not cls and unit in other.units:
                return f" (it is a unit for {other.what})"
        lookalike = next((known for known in cls.units if known.lower() == unit.lower()), None)
        return f" (did you mean {lookalike}?)" if lookalike else ""

    @classmethod
    def pattern(cls) -> str:
        """Returns a regular expression (ECMA 262, for JSON Schema) of the texts of valid form and unit."""
        units = "|".join([*cls.units, *(unit.replace("µ", "μ") for unit in cls.units if "µ" in unit)])
        return rf"^\s*[0-9]+(\.[0-9]+)?\s*({units})\s*$"

    def __str__(self) -> str:
        """Returns the shortest exact text in the largest unit that needs at most three decimals."""
        for unit in self.canonical:
            scaled = Fraction(int(self), self.units[unit])
            if (scaled >= 1 or unit == self.canonical[-1]) and (scaled * 1000).denominator == 1:
                return f"{decimal(scaled)}{unit}"
        return f"{int(self)}{self.canonical[-1]}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Bytes(Quantity):
    """A number of bytes. Bytes of frames exclude FCS, preamble and gap, which a switch does not see."""

    what = "a number of bytes"
    examples = "300KB (300000 bytes), 97.5kB or 64KiB"
    units: ClassVar = {
        **{"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12},
        **{"KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4},
    }
    canonical = ("TB", "GB", "MB", "KB", "B")


class Packets(Quantity):
    """A number of packets."""

    what = "a number of packets"
    examples = "65pkt"
    units: ClassVar = {"pkt": 1, "pkts": 1, "packet": 1, "packets": 1}
    canonical = ("pkt",)


class Duration(Quantity):
    """A span of time in picoseconds."""

    what = "a time"
    examples = "120us, 4.48us or 1ms"
    units: ClassVar = {"ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "ms": 10**9, "s": 10**12}
    canonical = ("s", "ms", "us", "ns", "ps")

    def __str__(self) -> str:
        """Returns the text as for every quantity, but `0s` for zero."""
        return super().__str__() if self else "0s"


class DataRate(Quantity):
    """A rate in bits per second."""

    what = "a bit rate"
    examples = "10Gbps or 300Mbps"
    units: ClassVar = {"bps": 1, "kbps": 10**3, "Kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
    canonical = ("Tbps", "Gbps", "Mbps", "kbps", "bps")


class PacketRate(Quantity):
    """A rate in packets per second, regardless of their length; BMv2 limits its queues in this unit."""

    what = "a packet rate"
    examples = "10000pps or 80kpps"
    units: ClassVar = {"pps": 1, "kpps": 10**3, "Kpps": 10**3, "Mpps": 10**6}
    canonical = ("Mpps", "kpps", "pps")


def parse_size(text: object) -> Bytes | Packets:
    """Parses a size in bytes or in packets; its unit determines the result's type."""
    if isinstance(text, (Bytes, Packets)):
        return text
    match = _TEXT.fullmatch(text) if isinstance(text, str) else None
    if match and match["unit"] in Packets.units:
        return Packets.parse(text)
    try:
        return Bytes.parse(text)
    except UnitError as error:
        if match and match["unit"] in Bytes.units:
            raise
        raise UnitError(f"{error}, or in packets: {Packets.examples}") from None


def parse_probability(text: object) -> Fraction:
    """Parses `2%` or a plain number from 0 to 1 as an exact fraction."""
    number: Fraction | None = None
    if isinstance(text, Fraction):
        number = text
    elif isinstance(text, (int, float)) and not isinstance(text, bool):
        with suppress(ValueError):  # of infinity, and of what is not a number
            number = Fraction(str(text))
    elif isinstance(text, str) and len(text) <= TEXT_LIMIT and (match := _TEXT.fullmatch(text)):
        if match["unit"] == "%":
            number = Fraction(match["number"]) / 100
        elif not match["unit"]:
            number = Fraction(match["number"])
    if number is None:
        raise UnitError(f"{_shorten(str(text))!r} is not a probability; write for example 2% or 0.02")
    if not 0 <= number <= 1:
        raise UnitError(f"{_shorten(str(text))} is not a probability: it must lie between 0% and 100%")
    return number


def format_probability(value: Fraction) -> str:
    """Returns a probability in percent, exact if the percentage has at most twelve digits."""
    # A float's own text has an exponent below 0.0001, which no reader of percentages takes.
    return f"{Decimal(f'{float(value * 100):.12g}'):f}%"


def decimal(value: Fraction) -> str:
    """Returns all digits of a value that has at most twelve decimals, as in any unit here."""
    whole, rest = divmod(int(value * 10**12), 10**12)
    return f"{whole}.{rest:012d}".rstrip("0").rstrip(".")


def _shorten(text: str) -> str:
    return text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + "..."
