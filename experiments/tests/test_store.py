"""Results on disk: stored one by one, collected as rows, never mixed."""

import errno
import json
import lzma
import math
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_work
import pytest
from eeon_control.plan.routes import Router
from eeon_experiments import columns, files, store
from eeon_experiments.expand import Point
from eeon_experiments.store import Outcome, Store
from eeon_experiments.sweep import Sweep
from eeon_experiments.versions import Commit, Versions
from eeon_tools.errors import InputError
from made_experiments import TINY, VERSIONS, points, write

COMMIT = Commit("c" * 40, False)


def outcome(point: Point, **measured: Any) -> Outcome:
    return made_work.outcome(point.run, **{"runtime_seconds": 10.0 + point.run.seed, "flows": 7, **measured})


def kept(folder: Path, found: list[Point], commit: Commit = COMMIT) -> Store:
    results = Store(folder / "results", "tiny", quick=False)
    results.claim()
    for point in found:
        results.write(replace(outcome(point), commit=commit))
    return results


def test_what_was_written_is_read_back_with_axes_and_types(tmp_path):
    found = points(tmp_path)
    kept(tmp_path, found).collect(found, VERSIONS)
    loaded = store.load(tmp_path / "results")
    assert len(loaded.rows) == 8 and loaded.refused == []
    row = loaded.rows[0]
    assert (row.axis("queue"), row["axis_transport"], row.seed) == ("drop_tail", "newreno", 1)
    assert (row.runtime_seconds, row.flows, row.latency_mean_us, row.quick) == (11.0, 7, None, False)
    assert list(row) == [one.name for one in columns.columns(["queue", "transport"])]


def test_means_and_spreads_are_over_seeds(tmp_path):
    found = points(tmp_path)
    results = kept(tmp_path, found).collect(found, VERSIONS)
    assert results.mean("runtime_seconds", queue="mark", transport="dctcp") == 11.5
    assert results.spread("runtime_seconds", queue=["mark"], transport="dctcp") == (11.5, 11.0, 12.0)
    assert results.values("runtime_seconds", queue="mark", transport="dctcp") == [11.0, 12.0]
    assert results.mean("runtime_seconds", queue="no such value") is None
    assert results.spread("latency_mean_us") is None
    assert results.select(seed=2).seeds == [2]
    for ask in (results.mean, results.spread):
        with pytest.raises(InputError, match=r"is not a column \(did you mean runtime_seconds\?\)"):
            ask("runtime_second")


def test_a_failed_run_is_a_row_without_numbers(tmp_path):
    found = points(tmp_path)
    results = kept(tmp_path, found)
    results.write(outcome(found[0], status="failed", error="it broke", runtime_seconds=None))
    rows = results.collect(found, VERSIONS)
    assert [row.error for row in rows.failed] == ["it broke"]
    assert len(rows.finished) == 7
    assert rows.values("runtime_seconds", queue="drop_tail", transport="newreno") == [12.0]


def test_rows_of_another_version_in_the_file_are_refused_by_name(tmp_path):
    found = points(tmp_path)
    results = kept(tmp_path, found)
    rows = results.collect(found, VERSIONS).rows
    foreign = store.Row({**rows[0], "program_digest": "0" * 64})
    quick = store.Row({**rows[0], "quick": True})
    store.write_rows(tmp_path / "results" / store.ROWS, [*rows, foreign, quick], ["queue", "transport"])
    loaded = store.load(tmp_path / "results")
    assert len(loaded.rows) == 8
    assert loaded.refused == [
        "1 rows of program 000000000000 (not pppppppppppp)",
        "1 rows of tiny, the quick form",
    ]


def test_results_of_other_settings_are_left_aside(tmp_path):
    kept(tmp_path, points(tmp_path, TINY.replace("maps: 8", "maps: 9")))
    rows = Store(tmp_path / "results", "tiny", quick=False).collect(points(tmp_path), VERSIONS)
    assert rows.rows == []
    assert rows.refused == ["8 results of settings that the file does not have now"]


def test_results_of_other_table_entries_are_missing_again_and_named(tmp_path):
    found = points(tmp_path)
    results = kept(tmp_path, [])
    entries = [found[0].run.entries, "0" * 64, None]
    for point, one in zip(found, entries, strict=False):
        results.write(outcome(point, entries_digest=one))
    rows = results.collect(found, VERSIONS)
    # Rows published before entries were recorded have none.
    assert [row["run_id"] for row in rows.rows] == [found[0].run.id, found[2].run.id]
    assert rows.refused == ["1 results with table entries that the controller does not plan now"]
    state = Sweep(files.load(write(tmp_path)), tmp_path / "results", VERSIONS).state()
    assert [run.id for run in state.finished] == [found[0].run.id, found[2].run.id]
    assert found[1].run.id in [run.id for run in state.missing]


def test_the_controllers_plan_decides_the_digest_of_entries_and_not_the_id(tmp_path, monkeypatch):
    before = points(tmp_path)[0].run
    monkeypatch.setattr(Router, "admitted", lambda router, switch: [])
    after = points(tmp_path)[0].run
    assert after.id == before.id
    assert after.entries != before.entries


def published(folder: Path, found: list[Point], commit: Commit = COMMIT) -> Path:
    """Returns a folder of results without the files of its runs, like committed results."""
    kept(folder, found, commit).collect(found, VERSIONS)
    shutil.rmtree(folder / "results" / store.RUNS)
    return folder / "results"


# Outside a repository, the commit is empty.
@pytest.mark.parametrize("commit", [COMMIT, Commit("", False)])
def test_rows_stand_in_for_files_that_are_not_there(tmp_path, commit):
    found = points(tmp_path)
    folder = published(tmp_path, found, commit)
    before = (folder / store.ROWS).read_bytes()
    results = Store(folder, "tiny", quick=False)
    for point in found:
        written = outcome(point)
        measured = {one.name: written.measured.get(one.name) for one in columns.MEASURED}
        assert results.read(point.run.id) == replace(written, commit=commit, measured=measured)
    results.claim()
    results.collect(found, VERSIONS)
    assert (folder / store.ROWS).read_bytes() == before


def test_rows_of_another_engine_are_kept_as_files_when_rows_are_written_anew(tmp_path):
    folder = published(tmp_path, points(tmp_path))
    newer = Versions(VERSIONS.program, "0" * 64)
    results = Store(folder, "tiny", quick=False)
    results.claim()
    rows = results.collect(points(tmp_path, versions=newer), newer)
    assert rows.rows == []
    assert rows.refused == ["8 results of engine eeeeeeeeeeee (not 000000000000)"]
    found = points(tmp_path)
    assert len(Store(folder, "tiny", quick=False).collect(found, VERSIONS).rows) == len(found)


def test_a_folder_belongs_to_one_experiment_in_one_form(tmp_path):
    kept(tmp_path, points(tmp_path))
    for name, quick in (("other", False), ("tiny", True)):
        with pytest.raises(InputError, match=r"holds results of tiny, the full form, not of"):
            Store(tmp_path / "results", name, quick).claim()


def test_a_damaged_result_is_as_if_it_were_not_there(tmp_path):
    found = points(tmp_path)
    results = kept(tmp_path, found)
    path = tmp_path / "results" / "runs" / f"{found[0].run.id}.json"
    for content in (
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"run_id": 1}',
        path.read_bytes().replace(b"run_id", b"rn_id"),
    ):
        path.write_bytes(content)
        assert results.read(found[0].run.id) is None
    other = tmp_path / "results" / "runs" / f"{found[1].run.id}.json"
    path.write_bytes(other.read_bytes())
    assert results.read(found[0].run.id) is None
    assert len(results.collect(found, VERSIONS).rows) == 7


def test_a_folder_without_results_says_how_to_make_them(tmp_path):
    with pytest.raises(InputError, match="`eeon experiment run NAME` makes results"):
        store.load(tmp_path)


def table(text: str) -> bytes:
    return lzma.compress(text.encode())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PAR1 and nonsense", "is not a table of results"),
        (table("run_id\n" * 500)[:-20], "is truncated"),
        (lzma.compress(b"\xff\xfe"), "is not a table of results"),
    ],
)
def test_rows_that_are_no_table_are_refused(tmp_path, content, message):
    kept(tmp_path, [])
    (tmp_path / "results" / store.ROWS).write_bytes(content)
    with pytest.raises(InputError, match=message):
        store.load(tmp_path / "results")


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path, monkeypatch):
    kept(tmp_path, [])
    monkeypatch.setattr(store, "_FILE_LIMIT_BYTES", 100_000)
    (tmp_path / "results" / store.ROWS).write_bytes(table("run_id\n" + "a" * 1_000_000))
    with pytest.raises(InputError, match="has more than 100000 bytes"):
        store.load(tmp_path / "results")


def test_rows_as_parquet_alone_are_named_and_never_passed_over(tmp_path):
    folder = kept(tmp_path, points(tmp_path)).folder
    (folder / "rows.parquet").write_bytes(b"PAR1")
    results = Store(folder, "tiny", quick=False)
    for use in (lambda: store.load(folder), results.claim):
        with pytest.raises(InputError, match=r"rows\.parquet.*rows are in rows\.csv\.xz now. Move it away"):
            use()
    (folder / "rows.parquet").unlink()
    results.claim()
    assert len(results.collect(points(tmp_path), VERSIONS).rows) == 8


def test_a_value_is_read_back_as_it_was_written(tmp_path):
    found = points(tmp_path)[:1]
    written = {
        "error": 'says "no",\nthen\r\u00fc',
        "runtime_seconds": 0.1 + 0.2,
        "latency_mean_us": math.inf,
        "map_share": 5e-324,
        "events": 2**63 - 1,
        "flows": 0,
        "shuffle_share": -0.0,
        "wakes": None,
    }
    results = kept(tmp_path, [])
    results.write(outcome(found[0], **written))
    results.collect(found, VERSIONS)
    [row] = store.load(tmp_path / "results").rows
    assert {name: repr(row[name]) for name in written} == {
        name: repr(value) for name, value in written.items()
    }


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def crash(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", crash)
    told = f"{path}: cannot be written: No space left on device; make room, then the same command continues"
    with pytest.raises(InputError, match=f"^{re.escape(told)}$"):
        store.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_manifest_says_whose_results_these_are(tmp_path):
    found = points(tmp_path)
    kept(tmp_path, found).collect(found, VERSIONS)
    manifest = json.loads((tmp_path / "results" / store.MANIFEST).read_text())
    assert manifest == {
        "format": 1,
        "experiment": "tiny",
        "quick": False,
        "program_digest": VERSIONS.program,
        "engine_digest": VERSIONS.engine,
        "commits": [COMMIT.id],
        "seeds": [1, 2],
        "rows": 8,
    }
