"""Coflows in the Facebook 2010 format (github.com/coflow/coflow-benchmark), mapped onto the hosts of a
fabric.

The format, one coflow a line, numbers separated by blanks:

    <racks> <coflows>                                                                          first line
    <id> <arrival ms> <M> <rack of mapper 1> .. <rack M> <R> <rack:megabytes> .. (R of them)   every other
    line

Megabytes are what a reducer gets from all mappers together; as in the simulators that use this trace, it
comes from every mapper in equal parts. Racks count from 0 or from 1 (both occur), so `0 .. racks` are taken.

Mapping. A rack of the trace becomes one host: racks are dealt over the fabric's leaves in turn and over each
leaf's hosts in turn, and wrap round when there are more racks than hosts. So neighbouring racks are on
different leaves, and a fabric with as many hosts as the trace has racks has one host a rack. Mapper and
reducer on the same host move no packet.

Scale. Every transfer is `megabytes * 1e6 / mappers * scale` bytes, at least 1; arrivals are divided by
`time_scale`, counted from the first coflow taken. The real hour is 35 TB: without a scale it is not a trace
that one would replay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from eeon_tools.errors import CoflowError
from eeon_tools.trace.hosts import TraceHost
from eeon_tools.trace.segments import Fetch, SegmentModel

SAMPLE = Path(__file__).resolve().parent.parent / "data" / "coflow-sample.txt"
"""Ten invented coflows over twelve racks, so that the format can be tried without the real file."""
BYTES_PER_MEGABYTE = 1_000_000
MAX_LINE_CHARS = 1 << 20
MAX_RACKS = 1_000_000
MAX_ARRIVAL_MS = 10 * 366 * 86_400_000
MAX_MEGABYTES = 1e9
_NS_PER_MS = 1_000_000
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

    Errors come while iterating: CoflowError with line, value and the rule that it breaks.
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
    found = 0
    previous = 0
    for number, line in lines:
        if not line.strip():
            continue
        coflow = _parse(path, f"line {number}", line.split(), racks)
        if coflow.arrival_ms < previous:
            raise CoflowError(
                path,
                f"line {number}",
                f"arrival {coflow.arrival_ms} ms is before the previous line's {previous} ms",
            )
        previous = coflow.arrival_ms
        found += 1
        if found > announced:
            raise CoflowError(
                path, f"line {number}", f"more coflows than the {announced} that line 1 announces"
            )
        yield coflow
    if found < announced:
        raise CoflowError(path, "end of file", f"{found} coflows, but line 1 announces {announced}")


def _parse(path: Path, place: str, fields: list[str], racks: int) -> Coflow:
    """One coflow. Counts are checked against the fields that are there before anything is made of them."""
    at = 0

    def take(what: str) -> str:
        nonlocal at
        if at >= len(fields):
            raise CoflowError(path, place, f"the line ends where the {what} should be")
        at += 1
        return fields[at - 1]

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
    if at != len(fields):
        raise CoflowError(
            path,
            place,
            f"{_shorten(fields[at])!r} and {len(fields) - at - 1} more after the {reducer_count} reducers",
        )
    return Coflow(ident, arrival, mappers, reducers)


def _reducer(path: Path, place: str, text: str, racks: int) -> tuple[int, float]:
    rack, colon, megabytes = text.partition(":")
    if not colon:
        raise CoflowError(path, place, f"{_shorten(text)!r} is not <rack>:<megabytes>")
    if not _MEGABYTES.fullmatch(megabytes) or not 0 < float(megabytes) <= MAX_MEGABYTES:
        raise CoflowError(
            path,
            place,
            f"megabytes {_shorten(megabytes)!r}: a number above 0 and up to {MAX_MEGABYTES:g} is due",
        )
    return _whole(path, place, "rack", rack, 0, racks), float(megabytes)


def _whole(path: Path, place: str, what: str, text: str, low: int, high: int) -> int:
    if not _NUMBER.fullmatch(text) or not low <= int(text) <= high:
        raise CoflowError(
            path, place, f"{what} {_shorten(text)!r}: a whole number from {low} to {high} is due"
        )
    return int(text)


def _shorten(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 40 else text[:40] + "..."


def map_racks(leaves: Sequence[str]) -> list[int]:
    """Host indices in the order in which racks are dealt: first host of every leaf, second host of every
    leaf, ... `leaves`: that of each host."""
    by_leaf: dict[str, list[int]] = {}
    for index, leaf in enumerate(leaves):
        by_leaf.setdefault(leaf, []).append(index)
    rounds = max(len(group) for group in by_leaf.values())
    return [group[turn] for turn in range(rounds) for group in by_leaf.values() if turn < len(group)]


def transfers(coflow: Coflow, dealt: Sequence[int], scale: float) -> Iterator[tuple[int, int, int]]:
    """Yields indices of the sending and the receiving host, and bytes, for each mapper of each reducer; also
    where both are one host."""
    for rack, megabytes in coflow.reducers:
        size = max(1, round(megabytes * BYTES_PER_MEGABYTE * scale / len(coflow.mappers)))
        for mapper in coflow.mappers:
            yield dealt[mapper % len(dealt)], dealt[rack % len(dealt)], size


class CoflowReplay:
    """The workload of a range of coflows for the segment model."""

    kind = "coflow"

    def __init__(
        self,
        path: Path,
        hosts: list[TraceHost],
        first: int,
        last: int | None,
        scale: float,
        time_scale: float,
    ) -> None:
        """Coflows number `first` to `last` of the file (1-based, both included; None = to the end)."""
        self._path = path
        self._dealt = map_racks([host.leaf for host in hosts])
        self._first = first
        self._last = last
        self._scale = scale
        self._time_scale = time_scale
        self.racks, self._coflows = read_coflows(path)
        self._base_ms: int | None = None
        self.coflows = 0
        self.fetches = 0
        self.bytes = 0
        self.local_bytes = 0
        self._position = 0

    def settings(self) -> dict[str, object]:
        """For the manifest: what was taken, how it was scaled, and what came out."""
        return {
            "source": self._path.name,
            "coflows": {"first": self._first, "last": self._last, "taken": self.coflows},
            "scale": self._scale,
            "time_scale": self._time_scale,
            "racks": self.racks,
            "outcome": {"fetches": self.fetches, "bytes": self.bytes, "local_bytes": self.local_bytes},
        }

    def start(self, model: SegmentModel) -> None:
        """Sets a timer for the first coflow; each sets the next one's, so only one is read ahead."""
        self._schedule_next(model)
        if self._base_ms is None:
            raise CoflowError(
                self._path, "", f"no coflow number {self._first}: the file has {self._position} coflows"
            )

    def _schedule_next(self, model: SegmentModel) -> None:
        for coflow in self._coflows:
            self._position += 1
            if self._position < self._first:
                continue
            if self._last is not None and self._position > self._last:
                # Read on, so that a broken line later in the file is still reported.
                continue
            if self._base_ms is None:
                self._base_ms = coflow.arrival_ms
            when = int((coflow.arrival_ms - self._base_ms) * _NS_PER_MS / self._time_scale)
            model.at(when, partial(self._begin, coflow, model))
            return

    def _begin(self, coflow: Coflow, model: SegmentModel, _now: int) -> None:
        self.coflows += 1
        for server, client, size in transfers(coflow, self._dealt, self._scale):
            if server == client:
                self.local_bytes += size
                continue
            self.fetches += 1
            self.bytes += size
            model.fetch(Fetch(client, server, size))
        self._schedule_next(model)
