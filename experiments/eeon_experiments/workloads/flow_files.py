"""Files of flows: distributions of flow sizes, and lists of flows."""

import csv
import math
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path

from eeon_control.errors import UnitError
from eeon_control.units import Bytes, Duration
from eeon_control.validation import did_you_mean

_SIZES = Path(__file__).with_name("sizes")
_LIMIT_BYTES = 256 << 20
_MAX_FLOWS = 1 << 20
_MAX_WHOLE = 2**63 - 1
_COLUMNS = ["source", "destination", "bytes", "start"]
_MATRIX_COUNTS = ("Nodes", "Connections", "Triggers", "Failures")

_MAX_EXPONENT = 30
"""Maximum exponent of a time: larger ones exceed the engine's range in any unit, and are slow to parse."""

_Lines = list[tuple[int, str]]
"""Lines that are neither empty nor comments, with their numbers."""
_Flow = tuple[int, str | int, str | int, int, int]
"""A line's number, source, destination, bytes, and start in picoseconds."""


def shipped_sizes() -> list[str]:
    """Returns the names of the distributions that ship."""
    return sorted(path.stem for path in _SIZES.glob("*.cdf"))


def shipped_points(name: str) -> list[list[float]]:
    """Returns the points of a distribution that ships. Raises ValueError if there is none with this name."""
    known = shipped_sizes()
    if name not in known:
        raise ValueError(
            f"is neither a distribution nor a file beside the experiment's{did_you_mean(name, known)}; "
            f"there are {', '.join(known)}"
        )
    return read_points(_SIZES / f"{name}.cdf")


def read_points(path: Path) -> list[list[float]]:
    """Reads a cumulative distribution, `bytes probability` per line, as points of bytes and shares up to 1.

    Probabilities are fractions that end at 1, or percentages that end at 100. `#` begins a comment. Raises
    ValueError with the line.
    """
    points: list[list[float]] = []
    signs: set[bool] = set()
    for number, line in enumerate(_text(path).splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if _is_of_ns2(words):
            raise ValueError(
                f"line {number}: {line.strip()[:40]!r} has three columns, as ns-2 and pFabric write them: "
                "size, unused, probability; write `bytes probability`, for sizes in packets with "
                "`awk '{print $1 * 1460, $3}'`, for sizes in bytes with `awk '{print $1, $3}'`"
            )
        try:
            size, share = words
            point = [float(size), float(share.removesuffix("%"))]
        except ValueError:
            raise ValueError(
                f"line {number}: {line.strip()[:40]!r} is not `bytes probability`: two numbers without a "
                "unit, separated by blanks; # begins a comment"
            ) from None
        if not all(math.isfinite(one) and one >= 0 for one in point):
            raise ValueError(f"line {number}: {line.strip()[:40]!r} is not finite, or below zero")
        if point[1]:
            signs.add(share.endswith("%"))
        if points and (point[0] < points[-1][0] or point[1] < points[-1][1]):
            raise ValueError(f"line {number}: is below the previous line; a distribution never falls")
        points.append(point)
    if len(points) < 2:
        raise ValueError(f"has {len(points)} points; a distribution needs at least two")
    last = points[-1][1]
    percent = signs == {True} or (math.isclose(last, 100) and signs == {False})
    unsigned_mix = signs == {False} and percent and any(0 < share < 1 for _, share in points)
    if len(signs) > 1 or unsigned_mix:
        raise ValueError("mixes percentages and fractions; write fractions up to 1, or % after each number")
    if not math.isclose(last, 100 if percent else 1):
        raise ValueError(
            f"ends at {last}{'%' if percent else ''}; a distribution ends at 1, or at 100 percent"
        )
    if points[-1][0] <= 1:
        raise ValueError("has no flow above 1 byte; each line is `bytes probability`, in this order")
    # Because of rounding, sums of probabilities may not end exactly at 1.
    return [[size, min(share / last, 1.0)] for size, share in points]


def _is_of_ns2(words: list[str]) -> bool:
    """Returns whether a line has the three numbers of ns-2's `EmpiricalRandomVariable`."""
    try:
        return len(words) == 3 and 0 <= float(words[2]) <= 1 and float(words[0]) >= 0 <= float(words[1])
    except ValueError:
        return False


def read_list(path: Path) -> list[dict[str, object]]:
    """Reads the flows of a file in one of three formats, recognized by the first line that is not empty or a
    comment.

    * CSV: source, destination, bytes, start; a first line with these names is optional. `start` is a time
      with its unit, or seconds.
    * `flow.txt` of HPCC's simulator: the number of flows, then `source destination class port bytes seconds`
      on each line.
    * A connection matrix (`.cm`) of htsim: `Nodes N`, `Connections N`, then `source->destination start T size
      S` on each line, with T in picoseconds.

    In the last two, hosts are numbers from 0. Class, port, `id` and `prio` are ignored. Raises ValueError
    with the line.
    """
    flows: list[dict[str, object]] = []
    stripped = ((number, line.strip()) for number, line in enumerate(_text(path).splitlines(), 1))
    lines = [(number, line) for number, line in stripped if line and not line.startswith("#")]
    for number, source, destination, size, at_ps in _form(lines)(lines):
        if len(flows) == _MAX_FLOWS:
            raise ValueError(f"line {number}: exceeds the limit of {_MAX_FLOWS} flows; split the list")
        if source == destination:
            raise ValueError(f"line {number}: host {source} sends to itself; a flow needs two hosts")
        if size < 1 or at_ps < 0:
            reason = "has no bytes; it needs at least one" if size < 1 else "begins before 0"
            raise ValueError(f"line {number}: the flow {reason}")
        if max(size, at_ps) > _MAX_WHOLE:
            late = "begins too late; times count from the start of the run"
            reason = "has too many bytes" if size > _MAX_WHOLE else late
            raise ValueError(f"line {number}: the flow {reason}")
        flows.append({"source": source, "destination": destination, "bytes": size, "at_ps": at_ps})
    if not flows:
        raise ValueError(f"has no flow; a line of a list is `{', '.join(_COLUMNS)}`")
    return flows


def _form(lines: _Lines) -> Callable[[_Lines], Iterator[_Flow]]:
    first = lines[0][1].split() if lines else []
    if first and first[0] in _MATRIX_COUNTS:
        return _connection_matrix
    return _flow_txt if len(first) == 1 and first[0].isdecimal() else _csv


def _csv(lines: _Lines) -> Iterator[_Flow]:
    for index, (number, line) in enumerate(lines):
        try:
            row = [field.strip() for field in next(csv.reader([line], skipinitialspace=True))]
        except csv.Error as error:
            raise ValueError(f"line {number}: is not `{', '.join(_COLUMNS)}`: {error}") from None
        if index == 0 and row == _COLUMNS:
            continue
        if index == 0 and not any(map(str.isdigit, line)):
            raise ValueError(f"line {number}: the names must be `{', '.join(_COLUMNS)}`, in this order")
        try:
            source, destination, size, start = row
            bytes_ = int(size) if size.isdecimal() else int(Bytes.parse(size))
            yield number, source, destination, bytes_, _picoseconds(start)
        except (UnitError, ValueError) as error:
            said = f": {error}" if isinstance(error, UnitError) else ""
            raise ValueError(f"line {number}: is not `{', '.join(_COLUMNS)}`{said}") from None


def _flow_txt(lines: _Lines) -> Iterator[_Flow]:
    counted, told = lines[0][0], int(lines[0][1])
    _check_count(counted, told)
    found = 0
    for number, line in lines[1:]:
        # HPCC reads no lines beyond its count; its own file has a remark there.
        if found == told and not line[0].isdecimal():
            break
        *whole, start = line.split()
        try:
            source, destination, _class, _port, size = (int(word) for word in whole if word.isdecimal())
            at_ps = _picoseconds(start)
        except (UnitError, ValueError):
            form = "source destination class port bytes seconds"
            raise ValueError(f"line {number}: is not `{form}`") from None
        found += 1
        yield number, source, destination, size, at_ps
    _check_found(counted, told, found)


def _connection_matrix(lines: _Lines) -> Iterator[_Flow]:
    told: dict[str, tuple[int, int]] = {}
    found = 0
    for number, line in lines:
        first, *rest = line.split()
        if first in _MATRIX_COUNTS and len(rest) == 1 and rest[0].isdecimal():
            told[first] = number, int(rest[0])
            if first == "Connections":
                _check_count(*told[first])
            elif first != "Nodes" and told[first][1]:
                raise ValueError(f"line {number}: {first} are not modelled; a list has flows and their times")
            continue
        if any("trigger" in word for word in rest):
            raise ValueError(f"line {number}: triggers are not supported in a list; give `start`")
        try:
            named = dict(zip(rest[::2], rest[1::2], strict=True))
            source, destination = (int(host) for host in first.split("->") if host.isdecimal())
            size, at_ps = int(named.pop("size")), _rounded(Decimal(named.pop("start")))
        except (InvalidOperation, KeyError, ValueError):
            raise ValueError(f"line {number}: is not `source->destination start T size S`") from None
        if unknown := named.keys() - {"id", "prio"}:
            raise ValueError(f"line {number}: {min(unknown)} is not known; use start, size, id and prio")
        if "Nodes" in told and max(source, destination) >= told["Nodes"][1]:
            raise ValueError(
                f"line {number}: host {max(source, destination)} is not one of {told['Nodes'][1]}"
            )
        found += 1
        yield number, source, destination, size, at_ps
    if "Connections" in told:
        _check_found(*told["Connections"], found)


def _check_count(line: int, told: int) -> None:
    if told > _MAX_FLOWS:
        raise ValueError(f"line {line}: announces {told} flows; the limit is {_MAX_FLOWS}")


def _check_found(line: int, told: int, found: int) -> None:
    if told != found:
        raise ValueError(f"line {line}: announces {told} flows, but there are {found}")


def _picoseconds(text: str) -> int:
    """Returns a time, given with its unit or in seconds, in picoseconds."""
    try:
        seconds = Decimal(text)
    except InvalidOperation:
        return int(Duration.parse(text))
    return _rounded(seconds, 12)


def _rounded(value: Decimal, exponent: int = 0) -> int:
    if not value.is_finite() or value.adjusted() > _MAX_EXPONENT:
        raise ValueError("not a time")
    return int(value.scaleb(exponent).to_integral_value())


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LIMIT_BYTES:
            raise ValueError(f"has more than {_LIMIT_BYTES} bytes")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except OSError as error:
        raise ValueError(f"cannot be read: {error}") from None
