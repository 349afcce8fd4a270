"""A folder of results: a file for each run that has ended, and a table of all rows with a manifest.

    runs/ID.json      a run's result, or why it failed; written atomically; authoritative for a resume
    runs/ID.queues.json   queue depths over time, if requested
    runs/ID.flows.csv.xz   each flow, if requested
    rows.csv.xz       one row for each point with a result; replaces missing files of runs
    manifest.json     origin of the results: experiment, commits, program, engine, seeds

Tables are CSV in UTF-8 with a line of column names, compressed by xz; an empty cell has no value.
A folder belongs to one experiment in one form, full or quick. Results of another program, engine or setting
never become rows: they stay in their files, and are reported.
"""

import csv
import errno
import io
import json
import lzma
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import NotRequired, TypedDict, cast

from eeon_tools.errors import InputError

from eeon_experiments import columns
from eeon_experiments.expand import Point
from eeon_experiments.resolve import Run
from eeon_experiments.results import Results, Row, Value
from eeon_experiments.versions import Commit, Versions

ROWS = "rows.csv.xz"
MANIFEST = "manifest.json"
OTHER_SETTINGS = "results of settings that the file does not have now"
RUNS = "runs"
FORMAT = 1
_PARQUET = "rows.parquet"
"""The rows' file in version 0.1.0."""
_FILE_LIMIT_BYTES = 1 << 30
_MEMORY_LIMIT_BYTES = 1 << 27
"""Memory limit of decompression; xz needs half of it for its largest preset."""
_SMALL = {"preset": 6 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}
_FAST = {"preset": 1}
"""Options of xz: `_SMALL` for rows, which are published; `_FAST` for flows, of which a run has many."""
_FITS: dict[columns.Type, Callable[..., Value]] = {"text": str, "whole": int, "number": float, "flag": bool}
_READ = {**_FITS, "flag": {"False": False, "True": True}.__getitem__}
_FLOW_TYPES: dict[str, columns.Type] = {
    "application": "text",
    "source": "text",
    "destination": "text",
    "measured": "flag",
}
"""Types of a flow's columns; the other columns are whole numbers."""


class Manifest(TypedDict):
    """The origin of a folder's results. Without rows it has no digests."""

    format: int
    experiment: str
    quick: bool
    program_digest: str | None
    engine_digest: str | None
    commits: NotRequired[list[str]]
    seeds: NotRequired[list[int]]
    rows: NotRequired[int]


@dataclass(frozen=True)
class Outcome:
    """The result of one run: the columns of `columns.MEASURED`, and the versions that made it."""

    run_id: str
    seed: int
    versions: Versions
    commit: Commit
    measured: Mapping[str, Value]
    queues: object = None
    flows: Sequence[Mapping[str, object]] = ()

    @property
    def finished(self) -> bool:
        """Whether the run has numbers; a resume repeats failed runs."""
        return self.measured.get("status") == "finished"

    def is_of(self, run: Run, versions: Versions) -> bool:
        """Returns whether the run would have the same outcome again. An outcome from before table entries
        were recorded is identified by its id alone."""
        return self.versions == versions and self.measured.get(columns.ENTRIES) in (None, run.entries)


class Store:
    """The results of one experiment in one form."""

    def __init__(self, folder: Path, experiment: str, quick: bool) -> None:
        self.folder = folder
        self.experiment = experiment
        self.quick = quick

    def check(self) -> None:
        """Raises InputError if the folder holds another experiment's results."""
        if (self.folder / MANIFEST).is_file():
            found = read_manifest(self.folder)
            mine, theirs = (self.experiment, self.quick), (found["experiment"], found["quick"])
            if mine != theirs:
                raise InputError(
                    str(self.folder),
                    "",
                    f"holds results of {_form(*theirs)}, not of {_form(*mine)}; give another folder",
                )

    def claim(self) -> None:
        """Makes the folder. Raises InputError as `check` does."""
        self.check()
        manifest = self.folder / MANIFEST
        (self.folder / RUNS).mkdir(parents=True, exist_ok=True)
        if not manifest.exists():
            write_atomically(manifest, _json(self._manifest([], None)))
        # The present version rewrites the rows, so outcomes that only rows contain become files first.
        for run_id, outcome in self._in_rows.items():
            if self._in_file(run_id) is None:
                self.write(outcome)

    def write(self, outcome: Outcome) -> None:
        """Stores an outcome, atomically: also after a crash, it is there whole or not at all."""
        if outcome.queues is not None:
            path = self.folder / RUNS / f"{outcome.run_id}.queues.json"
            write_atomically(path, _json(outcome.queues))
        if outcome.flows:
            names = list(outcome.flows[0])
            flows = ([flow[name] for name in names] for flow in outcome.flows)
            write_atomically(_flows_path(self.folder, outcome.run_id), _packed(names, flows, _FAST))
        shown = asdict(replace(outcome, flows=()))
        del shown["queues"], shown["flows"]
        write_atomically(self.folder / RUNS / f"{outcome.run_id}.json", _json({"format": FORMAT, **shown}))

    def read(self, run_id: str) -> Outcome | None:
        """Returns the outcome of a run, or None. A damaged file counts as missing."""
        return self._in_file(run_id) or self._in_rows.get(run_id)

    def of_run(self, run: Run, versions: Versions) -> Outcome | None:
        """Returns the outcome of a run with the same settings and versions, or None."""
        outcome = self.read(run.id)
        return outcome if outcome is not None and outcome.is_of(run, versions) else None

    @cached_property
    def _in_rows(self) -> dict[str, Outcome]:
        """The outcomes in the rows that existed when this folder was opened. Published results consist of
        rows without the runs' files."""
        if not any((self.folder / name).is_file() for name in (ROWS, _PARQUET)):
            return {}
        return {row.text("run_id"): _outcome(row) for row in load(self.folder).rows}

    def _in_file(self, run_id: str) -> Outcome | None:
        try:
            shown = json.loads((self.folder / RUNS / f"{run_id}.json").read_text(encoding="utf-8"))
            outcome = Outcome(
                run_id=shown["run_id"],
                seed=shown["seed"],
                versions=Versions(**shown["versions"]),
                commit=Commit(**shown["commit"]),
                measured=shown["measured"],
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return outcome if outcome.run_id == run_id else None

    def seeds(self) -> list[int]:
        """Returns the seeds of all stored runs, of any version."""
        found = map(self.read, self.run_ids())
        return sorted({outcome.seed for outcome in found if outcome is not None})

    def run_ids(self) -> list[str]:
        files = (self.folder / RUNS).glob("*.json")
        stems = {path.stem for path in files if not path.name.endswith(".queues.json")}
        return sorted(stems | self._in_rows.keys())

    def collect(self, points: Iterable[Point], versions: Versions) -> Results:
        """Writes rows and manifest of all points that have a result, and returns the results."""
        read = cache(self.read)
        rows = []
        axes: list[str] = []
        wanted = set()
        planned_otherwise = set()
        for point in points:
            wanted.add(point.run.id)
            axes = list(point.axes)
            outcome = read(point.run.id)
            if outcome is not None and outcome.is_of(point.run, versions):
                rows.append(self._row(point, outcome))
            elif outcome is not None:
                planned_otherwise.add(point.run.id)
        aside = self._aside(set(self.run_ids()) - wanted, versions)
        if planned_otherwise:
            aside.append(
                f"{len(planned_otherwise)} results with table entries that the controller does not plan now"
            )
        write_rows(self.folder / ROWS, rows, axes)
        write_atomically(self.folder / MANIFEST, _json(self._manifest(rows, versions)))
        return Results(rows, aside)

    def _row(self, point: Point, outcome: Outcome) -> Row:
        values: dict[str, Value] = {
            "run_id": outcome.run_id,
            "experiment": self.experiment,
            "quick": self.quick,
            "seed": outcome.seed,
            "commit": outcome.commit.id,
            "dirty": outcome.commit.dirty,
            "program_digest": outcome.versions.program,
            "engine_digest": outcome.versions.engine,
            **{f"{columns.AXIS}{axis}": value for axis, value in point.axes.items()},
        }
        return Row({**values, **{one.name: outcome.measured.get(one.name) for one in columns.MEASURED}})

    def of_other_versions(self, versions: Versions) -> list[str]:
        """Describes the results of other versions in the runs' files, one line for each version."""
        found = (self._in_file(run_id) for run_id in self.run_ids())
        return self._aside(
            {one.run_id for one in found if one is not None and one.versions != versions}, versions
        )

    def _aside(self, run_ids: set[str], versions: Versions) -> list[str]:
        """Describes runs that belong to no point, one line for each kind."""
        kinds: Counter[str] = Counter()
        for run_id in run_ids:
            outcome = self.read(run_id)
            if outcome is None:
                kind = f"damaged files in {self.folder / RUNS}"
            elif outcome.versions != versions:
                kind = f"results of {other_version(outcome.versions, versions)}"
            else:
                kind = OTHER_SETTINGS
            kinds[kind] += 1
        return [f"{count} {kind}" for kind, count in sorted(kinds.items())]

    def _manifest(self, rows: list[Row], versions: Versions | None) -> Manifest:
        return {
            "format": FORMAT,
            "experiment": self.experiment,
            "quick": self.quick,
            "program_digest": versions.program if versions else None,
            "engine_digest": versions.engine if versions else None,
            "commits": sorted({f"{row['commit']}{'+changes' if row['dirty'] else ''}" for row in rows}),
            "seeds": sorted({row.seed for row in rows}),
            "rows": len(rows),
        }


def _outcome(row: Row) -> Outcome:
    return Outcome(
        run_id=row.text("run_id"),
        seed=row.seed,
        versions=versions_of(row),
        commit=Commit(str(row["commit"] or ""), row.flag("dirty")),
        measured={one.name: row.get(one.name) for one in columns.MEASURED},
    )


def load(path: str | Path) -> Results:
    """Returns the rows of a folder of results.

    Rows must be of the program, engine, experiment and form in the manifest; others are left out and
    described in `Results.refused`. Raises InputError if the folder holds no results.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    path = folder / ROWS
    if not path.is_file():
        if (folder / _PARQUET).is_file():
            raise InputError(
                str(folder / _PARQUET),
                "",
                f"is from an earlier version; rows are in {ROWS} now. Move it away: `eeon experiment run` "
                f"rebuilds the rows from {RUNS}, and pandas reads the old file",
            )
        return Results([], [])
    table = _unpacked(path, columns.type_of)
    missing = [one.name for one in columns.IDENTITY if table and one.name not in table[0]]
    if missing:
        raise InputError(str(path), "", f"has no column {missing[0]}; it was not written by these tools")
    kept: list[Row] = []
    refused: Counter[str] = Counter()
    wanted = Versions(manifest["program_digest"] or "", manifest["engine_digest"] or "")
    for values in table:
        row = Row(values)
        why = _why_not(row, manifest, wanted)
        if why is None:
            kept.append(row)
        else:
            refused[why] += 1
    return Results(kept, [f"{count} rows of {why}" for why, count in sorted(refused.items())])


def load_flows(folder: Path, run_id: str) -> list[dict[str, Value]]:
    """Returns each flow of a run that recorded its flows. Raises InputError."""
    return _unpacked(_flows_path(folder, run_id), lambda name: _FLOW_TYPES.get(name, "whole"))


def _flows_path(folder: Path, run_id: str) -> Path:
    return folder / RUNS / f"{run_id}.flows.csv.xz"


def versions_of(row: Row) -> Versions:
    """Returns the program and the engine that made a row."""
    return Versions(row.text("program_digest"), row.text("engine_digest"))


def _why_not(row: Row, manifest: Manifest, wanted: Versions) -> str | None:
    versions = versions_of(row)
    if versions != wanted:
        return other_version(versions, wanted)
    mine, theirs = (manifest["experiment"], manifest["quick"]), (row.text("experiment"), row.flag("quick"))
    return None if mine == theirs else _form(*theirs)


def other_version(found: Versions, wanted: Versions) -> str:
    """Returns a description of how two versions differ."""
    parts = [
        f"{what} {theirs[:12]} (not {mine[:12]})"
        for what, theirs, mine in (
            ("program", found.program, wanted.program),
            ("engine", found.engine, wanted.engine),
        )
        if theirs != mine
    ]
    return " and ".join(parts)


def write_rows(path: Path, rows: list[Row], axes: list[str]) -> None:
    """Writes rows as a table. The same rows give the same bytes."""
    wanted = columns.columns(axes)
    values = ([(row.get(one.name), _FITS[one.type]) for one in wanted] for row in rows)
    cells = ([None if value is None else fitting(value) for value, fitting in row] for row in values)
    write_atomically(path, _packed([one.name for one in wanted], cells, _SMALL))


def _packed(names: Iterable[str], rows: Iterable[Iterable[object]], how: Mapping[str, int]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows(rows)
    return lzma.compress(text.getvalue().encode(), filters=[{"id": lzma.FILTER_LZMA2, **how}])


def _unpacked(path: Path, type_of: Callable[[str], columns.Type]) -> list[dict[str, Value]]:
    """Returns the rows of a table by column names. Raises InputError if the file is invalid or too large."""
    csv.field_size_limit(_FILE_LIMIT_BYTES)
    unpacking = lzma.LZMADecompressor(memlimit=_MEMORY_LIMIT_BYTES)
    where = ""
    try:
        with path.open("rb") as file:
            content = unpacking.decompress(file.read(_FILE_LIMIT_BYTES), _FILE_LIMIT_BYTES)
        if not unpacking.eof:
            raise InputError(str(path), "", f"is truncated, or has more than {_FILE_LIMIT_BYTES} bytes")
        lines = csv.reader(io.StringIO(content.decode(), newline=""), strict=True)
        read = {name: _READ[type_of(name)] for name in next(lines, [])}
        rows = []
        for line in lines:
            where = f"line {lines.line_num}"
            if len(line) != len(read):
                raise ValueError(f"it has {len(line)} cells, not {len(read)}")
            cells = zip(read.items(), line, strict=True)
            rows.append({name: convert(cell) if cell else None for (name, convert), cell in cells})
    except (lzma.LZMAError, csv.Error, OSError, ValueError, KeyError) as error:
        raise InputError(str(path), where, f"is not a table of results: {error}") from None
    return rows


def read_manifest(folder: Path) -> Manifest:
    """Returns the manifest of a folder of results. Raises InputError."""
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            str(path), "", f"{error.strerror or error}; `eeon experiment run NAME` makes results"
        ) from None
    except ValueError as error:
        raise InputError(str(path), "", f"is not JSON: {error}") from None
    needed = ("format", "experiment", "quick", "program_digest", "engine_digest")
    missing = [key for key in needed if not isinstance(found, dict) or key not in found]
    if missing:
        raise InputError(str(path), missing[0], "is missing; this is not a manifest of results")
    if found["format"] != FORMAT:
        raise InputError(str(path), "format", f"is {found['format']!r}; these tools read {FORMAT}")
    return cast(Manifest, found)


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file so that a reader finds either the old or the new content, even after a crash.

    Raises InputError if the file cannot be written.
    """
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        more = "; make room, then the same command continues" if error.errno == errno.ENOSPC else ""
        raise InputError(str(path), "", f"cannot be written: {error.strerror or error}{more}") from error
    finally:
        if temporary is not None:
            os.unlink(temporary)


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, default=str) + "\n").encode()


def _form(experiment: str, quick: bool) -> str:
    return f"{experiment}, {'the quick form' if quick else 'the full form'}"
