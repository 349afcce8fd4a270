"""Formats the numbers of a column in one unit, so that they can be compared at a glance.

The largest number determines the unit, and is shown with at most four significant digits if it is measured;
configured values are exact. JSON output has all digits.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from eeon_control.units import decimal

# The values of a column, whose type is not known statically.
_Values: TypeAlias = Sequence[Any]
Texts: TypeAlias = Callable[[_Values], list[str]]
"""Formats the values of a whole column as text; `-` means unknown."""

_Units = tuple[tuple[int, str], ...]
_DIGITS = 4

_BYTES: _Units = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "KB"), (1, "B"))
_TIMES: _Units = ((10**12, "s"), (10**9, "ms"), (10**6, "us"), (10**3, "ns"), (1, "ps"))
_BITS: _Units = ((10**9, "Gbps"), (10**6, "Mbps"), (10**3, "kbps"), (1, "bps"))
_PER_SECOND: _Units = ((10**6, "M/s"), (10**3, "k/s"), (1, "/s"))


def whole(values: _Values) -> list[str]:
    """Formats counts with all digits, in groups of three: `12,891`."""
    return ["-" if value is None else f"{value:,}" for value in values]


def measured(units: _Units, factor: int = 1) -> Texts:
    """Formats values, times `factor`, to four digits of the largest (`1.27MB`); tiny ones are `<0.01MB`."""

    def texts(values: _Values) -> list[str]:
        known = [value * factor for value in values if value is not None]
        one, name = _unit(units, known)
        largest = float(max(known, default=0)) / one
        decimals = max(0, _DIGITS - len(str(int(largest))))
        written = [f"{float(value) / one:,.{decimals}f}" for value in known]
        while decimals and all(text.endswith("0") for text in written):
            decimals -= 1
            written = [text[:-1] if decimals else text[:-2] for text in written]
        least = f"{10.0**-decimals:.{decimals}f}"
        shown = iter(
            f"<{least}{name}" if value and not text.strip("0.,") else f"{text}{name}"
            for value, text in zip(known, written, strict=True)
        )
        return ["-" if value is None else next(shown) for value in values]

    return texts


def exact(units: _Units) -> Texts:
    """Formats whole numbers of the base unit with all digits: `97.5KB`."""

    def texts(values: _Values) -> list[str]:
        known = [value for value in values if value is not None]
        one, name = _unit(units, [value for value in known if value])
        return ["-" if value is None else f"{decimal(Fraction(value, one))}{name}" for value in values]

    return texts


def _unit(units: _Units, values: Sequence[float]) -> tuple[int, str]:
    """Returns the largest unit not above the largest value. If all values are zero, times are `0s`."""
    largest = max(values, default=0)
    if not largest and units is _TIMES:
        return units[0]
    return next(((one, name) for one, name in units if largest >= one), units[-1])


bytes_measured = measured(_BYTES)
bytes_exact = exact(_BYTES)
time_measured = measured(_TIMES)
time_exact = exact(_TIMES)
rate_exact = exact(_BITS)
bit_rate = measured(_BITS, 8)
per_second = measured(_PER_SECOND)
