"""Coflows in the Facebook 2010 format (github.com/coflow/coflow-benchmark), mapped onto the hosts of a
fabric.

The format, with one coflow in each line and numbers separated by blanks:

    <racks> <coflows>                                                                          first line
    <id> <arrival ms> <M> <rack of mapper 1> .. <rack M> <R> <rack:megabytes> .. (R of them)   every other
    line

Megabytes are the sum that a reducer gets from all mappers; as in the simulators that use this trace, every
mapper sends an equal part. Racks are numbered from 0 or from 1 (both occur), so `0 .. racks` are accepted.

Mapping. A rack of the trace becomes one host: racks are assigned to the fabric's leaves in turn and to each
leaf's hosts in turn, and wrap around if there are more racks than hosts. So consecutive racks are on
different leaves, and a fabric with as many hosts as the trace has racks has one host for each rack. A mapper
and a reducer on the same host send no packets.

Scale. Every transfer is `megabytes * 1e6 / mappers * scale` bytes, at least 1; arrivals are divided by
`time_scale`, counted from the first coflow taken. The real hour has 35 TB: without a scale, it is too large
for a replay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from eeon_control.topology import Host

from eeon_tools.errors import CoflowError
from eeon_tools.replay.spec import LONGEST_RUN_PS

if TYPE_CHECKING:
    from eeon_engine.json_types import CoflowSpec, CoflowsSpec, TransferSpec

SAMPLE = Path(__file__).resolve().parent.parent / "data" / "coflow-sample.txt"
"""Ten invented coflows over twelve racks, to try the format without the real file."""
BYTES_PER_MEGABYTE = 1_000_000
MAX_LINE_CHARS = 1 << 20
MAX_RACKS = 1_000_000
MAX_ARRIVAL_MS = 10 * 366 * 86_400_000
MAX_MEGABYTES = 1e9
_PS_PER_MS = 1_000_000_000
_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII)
_MEGABYTES = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Coflow:
    """One line of the file. `reducers` are (rack, megabytes from all mappers together)."""

    ident: int
    arrival_ms: int
    mappers: tuple[int, ...]
    reducers: tuple[tuple[int, float], ...]


def read_coflows(path: Path) -> tuple[int, Iterator[Coflow]]:
    """Returns the number of racks, and the coflows in file order, one in memory at a time.

    Errors are raised during iteration: CoflowError with line, value and the violated rule.
    """
    lines = _lines(path)
    first = next(lines, None)
    if first is None:
        raise CoflowError(path, "line 1", "the file is empty; its first line is `<racks> <coflows>`")
    fields = first[1].split()
    if len(fields) != 2:
        raise CoflowError(path, "line 1", f"{_shorten(first[1])!r}: the first line is `<racks> <coflows>`")
    racks = _whole(path, "line 1", "number of racks", fields[0], 1, MAX_RACKS)
    announced = _whole(path, "line 1", "number of coflows", fields[1], 0, 10**9)
    return racks, _coflows(path, lines, racks, announced)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open("r", encoding="utf-8-sig", newline=None) as file:
            number = 0
            while line := file.readline(MAX_LINE_CHARS + 1):
                number += 1
                if len(line) > MAX_LINE_CHARS:
                    raise CoflowError(path, f"line {number}", f"longer than {MAX_LINE_CHARS} characters")
                yield number, line
    except UnicodeDecodeError as error:
        raise CoflowError(path, "", f"byte {error.object[error.start]:#04x} is not text") from error
    except OSError as error:
        raise CoflowError(path, "", f"cannot be read: {error.strerror}") from error


def _coflows(path: Path, lines: Iterator[tuple[int, str]], racks: int, announced: int) -> Iterator[Coflow]:
    found = previous = 0
    for number, line in lines:
        if not line.strip():
            continue
        place = f"line {number}"
        coflow = _parse(path, place, line.split(), racks)
        if coflow.arrival_ms < previous:
            why = f"arrival {coflow.arrival_ms} ms is before the previous line's {previous} ms"
            raise CoflowError(path, place, why)
        previous = coflow.arrival_ms
        found += 1
        if found > announced:
            raise CoflowError(path, place, f"more coflows than the {announced} that line 1 announces")
        yield coflow
    if found < announced:
        raise CoflowError(path, "end of file", f"{found} coflows, but line 1 announces {announced}")


def _parse(path: Path, place: str, fields: list[str], racks: int) -> Coflow:
    """Parses one coflow. Checks counts against the number of fields before it uses them."""
    left = iter(fields)

    def take(what: str) -> str:
        field = next(left, None)
        if field is None:
            raise CoflowError(path, place, f"the line ends where the {what} should be")
        return field

    ident = _whole(path, place, "id", take("id"), 0, 10**12)
    arrival = _whole(path, place, "arrival in ms", take("arrival in ms"), 0, MAX_ARRIVAL_MS)
    mapper_count = _whole(path, place, "number of mappers", take("number of mappers"), 1, len(fields))
    mappers = tuple(
        _whole(path, f"{place}, mapper {i + 1}", "rack", take(f"rack of mapper {i + 1}"), 0, racks)
        for i in range(mapper_count)
    )
    reducer_count = _whole(path, place, "number of reducers", take("number of reducers"), 1, len(fields))
    reducers = tuple(
        _reducer(path, f"{place}, reducer {i + 1}", take(f"rack:megabytes of reducer {i + 1}"), racks)
        for i in range(reducer_count)
    )
    if rest := list(left):
        why = f"{_shorten(rest[0])!r} and {len(rest) - 1} more after the {reducer_count} reducers"
        raise CoflowError(path, place, why)
    return Coflow(ident, arrival, mappers, reducers)


def _reducer(path: Path, place: str, text: str, racks: int) -> tuple[int, float]:
    rack, colon, megabytes = text.partition(":")
    if not colon:
        raise CoflowError(path, place, f"{_shorten(text)!r} is not <rack>:<megabytes>")
    if not _MEGABYTES.fullmatch(megabytes) or not 0 < float(megabytes) <= MAX_MEGABYTES:
        why = f"megabytes {_shorten(megabytes)!r}: must be a number above 0 and up to {MAX_MEGABYTES:g}"
        raise CoflowError(path, place, why)
    return _whole(path, place, "rack", rack, 0, racks), float(megabytes)


def _whole(path: Path, place: str, what: str, text: str, low: int, high: int) -> int:
    if not _NUMBER.fullmatch(text) or not low <= int(text) <= high:
        why = f"{what} {_shorten(text)!r}: must be a whole number from {low} to {high}"
        raise CoflowError(path, place, why)
    return int(text)


def _shorten(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 40 else text[:40] + "..."


def map_racks(leaves: Sequence[str]) -> list[int]:
    """Returns host indices in the order in which racks are assigned: the first host of every leaf, the second
    host of every leaf, ... `leaves`: the leaf of each host."""
    by_leaf: dict[str, list[int]] = {}
    for index, leaf in enumerate(leaves):
        by_leaf.setdefault(leaf, []).append(index)
    return [host for turn in zip_longest(*by_leaf.values()) for host in turn if host is not None]


def select(path: Path, first: int, last: int | None) -> Iterator[tuple[int, int, Coflow]]:
    """Yields coflows number `first` to `last` of a file (1-based, both included; None = to the end): number,
    milliseconds since the first of them, coflow. Raises CoflowError, also for errors after the last one."""
    _, coflows = read_coflows(path)
    base_ms: int | None = None
    number = 0
    for number, coflow in enumerate(coflows, start=1):
        if number >= first and (last is None or number <= last):
            base_ms = coflow.arrival_ms if base_ms is None else base_ms
            yield number, coflow.arrival_ms - base_ms, coflow
    if base_ms is None:
        raise CoflowError(path, "", f"no coflow number {first}: the file has {number} coflows")


@dataclass(frozen=True)
class CoflowReplay:
    """The workload of a range of coflows: all transfers of a coflow begin at its arrival."""

    kind: ClassVar[str] = "coflow"

    path: Path
    first: int
    last: int | None
    """1-based, both included; None = to the end."""
    scale: float
    time_scale: float

    def settings(self) -> dict[str, object]:
        """Returns the selection and its scales, for the manifest."""
        return {
            "source": self.path.name,
            "coflows": {"first": self.first, "last": self.last},
            "scale": self.scale,
            "time_scale": self.time_scale,
        }

    def application(self, hosts: list[Host]) -> CoflowsSpec:
        """Returns the engine's coflows. Raises CoflowError."""
        return {"kind": "coflows", "name": "coflows", "coflows": [one for _, one in self.coflows(hosts)]}

    def coflows(self, hosts: list[Host]) -> list[tuple[int, CoflowSpec]]:
        """Returns the id of each coflow with a transfer between two hosts, and its form for the engine.

        Raises CoflowError, also if there is none.
        """
        dealt = [hosts[index].name for index in map_racks([host.leaf for host in hosts])]
        found: list[tuple[int, CoflowSpec]] = []
        for number, since_ms, coflow in select(self.path, self.first, self.last):
            at_ps = int(since_ms * _PS_PER_MS / self.time_scale)
            if sent := list(self._transfers(coflow, dealt)):
                if at_ps > LONGEST_RUN_PS:
                    raise CoflowError(
                        self.path, f"coflow {number}",
                        f"begins {at_ps / 1e12:,.0f} s after the first; a run takes at most "
                        f"{LONGEST_RUN_PS / 1e12:,.0f} s",
                    )  # fmt: skip
                found.append((coflow.ident, {"name": str(number), "at_ps": at_ps, "transfers": sent}))
        if not found:
            raise CoflowError(
                self.path, "", f"no coflow from number {self.first} on sends data between two hosts"
            )
        return found

    def _transfers(self, coflow: Coflow, dealt: Sequence[str]) -> Iterator[TransferSpec]:
        """Yields what each mapper sends to each reducer on another host."""
        for rack, megabytes in coflow.reducers:
            size = max(1, round(megabytes * BYTES_PER_MEGABYTE * self.scale / len(coflow.mappers)))
            destination = dealt[rack % len(dealt)]
            for source in (dealt[mapper % len(dealt)] for mapper in coflow.mappers):
                if source != destination:
                    yield {"source": source, "destination": destination, "bytes": size}
