"""One point of each experiment that ships, simulated again: every number equals the published one."""

from pathlib import Path

import pytest
from eeon_experiments import columns, shipped, store
from eeon_experiments.expand import expand
from eeon_experiments.files import load
from eeon_experiments.run import run_one
from eeon_experiments.versions import versions

pytestmark = [pytest.mark.slow, pytest.mark.system]

DATA = Path(__file__).resolve().parents[2] / "docs" / "results" / "data"
NO_RESULTS = {*columns.OF_THE_MACHINE, "events", "settings_json", "error"}
"""Columns that depend on the machine, on the way to the same numbers, or on a new option's default."""
MOVED: dict[str, str] = {}
"""Experiments whose published numbers predate a change that affects them, and this change. The next run of
the experiment removes its line."""


LARGE = {"setup_chasing"}
"""Experiments whose smallest point takes half a minute."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.nightly if name in LARGE else ()) for name in shipped.names()],
)
def test_the_quickest_point_gives_the_published_numbers(name):
    published = store.load(DATA / f"{name}-quick").finished
    row = min(published, key=lambda one: (one.whole("p4_passes"), one.text("run_id")))
    points = expand(load(shipped.folder() / name), versions(), quick=True, seeds=[row.seed])
    [run] = [point.run for point in points if point.place == row.place]
    made = run_one(run).measured
    assert made["status"] == "finished", made.get("error")
    numbers = [one.name for one in columns.MEASURED if one.name not in NO_RESULTS]
    # A column that is newer than the published rows has no value there.
    known = [column for column in numbers if row.get(column) is not None]
    changed = {column: (row[column], made.get(column)) for column in known if row[column] != made.get(column)}
    if name in MOVED:
        assert changed, f"{name} gives its published numbers again: take it out of MOVED"
    else:
        assert not changed, f"published, and made now: {changed}"
