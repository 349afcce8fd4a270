"""Failing links in an experiment: a run's report of them."""

from collections.abc import Mapping
from typing import Any

import pytest
from eeon_experiments.cli.run import _tell_given_up
from eeon_experiments.results import Results, Row
from eeon_experiments.run import run_one
from eeon_experiments.versions import versions
from made_experiments import TEXTS, TINY, points


@pytest.mark.system
def test_a_job_over_a_link_that_fails_takes_longer_and_its_packets_add_up(tmp_path):
    found: list[Mapping[str, Any]] = []  # columns of a row are of several types
    fails = TINY.replace("  config: drop_tail", "  faults: [h1@5ms-305ms]\n  config: drop_tail")
    for text in (TINY, fails):
        run = points(tmp_path, text, quick=True, versions=versions())[0].run
        found.append(run_one(run).measured)
        assert found[-1]["status"] == "finished", found[-1]["error"]
    without, faulty = found
    assert without["lost_on_links"] == 0 < faulty["lost_on_links"]
    for column in ("timeouts", "runtime_seconds"):
        assert faulty[column] > without[column], column


@pytest.mark.system
def test_transfers_over_a_link_that_stays_down_are_given_up_and_told(tmp_path, capsys):
    rows = []
    for start in ("0ms", "500s"):
        text = TEXTS["incast from a host whose link fails"].replace("START", start)
        measured = run_one(points(tmp_path, text, versions=versions())[0].run).measured
        assert measured["status"] == "finished", measured["error"]
        rows.append(Row(dict(measured)))
    assert [row["flows_given_up"] for row in rows] == [1, None]
    _tell_given_up(Results(rows))
    assert "warning: connections were given up in 1 row (column flows_given_up)" in capsys.readouterr().err
    _tell_given_up(Results(rows[1:]))
    assert capsys.readouterr().err == ""
