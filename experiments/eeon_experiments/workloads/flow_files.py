"""Files of flows: distributions of their sizes, and lists of them."""

from __future__ import annotations

import csv
import math
from decimal import Decimal, InvalidOperation
from pathlib import Path

from eeon_control.errors import UnitError
from eeon_control.units import Bytes, Duration
from eeon_control.validation import did_you_mean

_SIZES = Path(__file__).with_name("sizes")
_LIMIT_BYTES = 256 << 20
_MAX_FLOWS = 1 << 20
_COLUMNS = ["source", "destination", "bytes", "start"]


def shipped_sizes() -> list[str]:
    """Names of the distributions that ship."""
    return sorted(path.stem for path in _SIZES.glob("*.cdf"))


def shipped_points(name: str) -> list[list[float]]:
    """Returns the points of a distribution that ships. Raises ValueError when there is none of this name."""
    known = shipped_sizes()
    if name not in known:
        raise ValueError(
            f"no distribution and no file beside the experiment's has this name{did_you_mean(name, known)}; "
            f"there are {', '.join(known)}"
        )
    return read_points(_SIZES / f"{name}.cdf")


def read_points(path: Path) -> list[list[float]]:
    """Points of a cumulative distribution, `bytes probability` a line, as bytes and shares up to 1.

    Probabilities are fractions that end at 1, or percent that end at 100. `#` begins a comment. Raises
    ValueError with the line.
    """
    points: list[list[float]] = []
    signs: set[bool] = set()
    for number, line in enumerate(_text(path).splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            size, share = words
            point = [float(size), float(share.removesuffix("%"))]
        except ValueError:
            raise ValueError(f"line {number}: {line.strip()[:40]!r} is not `bytes probability`") from None
        if not all(math.isfinite(one) for one in point):
            raise ValueError(f"line {number}: {line.strip()[:40]!r} is not finite")
        if point[1]:
            signs.add(share.endswith("%"))
        if points and (point[0] < points[-1][0] or point[1] < points[-1][1]):
            raise ValueError(f"line {number}: falls below the line before; a distribution never falls")
        points.append(point)
    if len(points) < 2:
        raise ValueError(f"has {len(points)} points; a distribution needs at least two")
    last = points[-1][1]
    percent = signs == {True} or (last == 100 and signs == {False})
    unsigned_mix = signs == {False} and percent and any(0 < share < 1 for _, share in points)
    if len(signs) > 1 or unsigned_mix:
        raise ValueError("is in percent and in fractions at once; write fractions up to 1, or % behind each")
    if last != (100 if percent else 1):
        raise ValueError(
            f"ends at {last:g}{'%' if percent else ''}; a distribution ends at 1, or at 100 percent"
        )
    return [[size, share / 100 if percent else share] for size, share in points]


def read_list(path: Path) -> list[dict[str, object]]:
    """Flows of a CSV file: source, destination, bytes, start, with these names in its first line or without.

    `start` is a time with its unit, or seconds. Raises ValueError with the line.
    """
    flows: list[dict[str, object]] = []
    reader = csv.reader(_text(path).splitlines(), skipinitialspace=True)
    for row in reader:
        if not row or row[0].startswith("#") or (not flows and row == _COLUMNS):
            continue
        if len(flows) == _MAX_FLOWS:
            raise ValueError(f"line {reader.line_num}: is one flow more than {_MAX_FLOWS}; split the list")
        try:
            source, destination, size, start = row
            flows.append(
                {
                    "source": source,
                    "destination": destination,
                    "bytes": int(size) if size.isdecimal() else int(Bytes.parse(size)),
                    "at_ps": _picoseconds(start),
                }
            )
        except (UnitError, ValueError) as error:
            said = f": {error}" if isinstance(error, UnitError) else ""
            columns = ", ".join(_COLUMNS)
            raise ValueError(f"line {reader.line_num}: is not `{columns}`{said}") from None
    return flows


def _picoseconds(text: str) -> int:
    try:
        return int(Decimal(text).scaleb(12).to_integral_value())
    except InvalidOperation:
        return int(Duration.parse(text))


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LIMIT_BYTES:
            raise ValueError(f"has more than {_LIMIT_BYTES} bytes")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot be read: {error}") from None
