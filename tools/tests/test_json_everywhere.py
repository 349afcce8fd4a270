"""The same option for JSON in every command that prints data; no trailing blanks in a pipe."""

import json

import click
import pytest
from eeon_control.cli import main
from eeon_control.cli.help.page import contexts, root_context
from eeon_tools.live import state

from control_plane.tests.eeon_command import eeon

# They print no data: they write a file, a page or a script, or run until they are stopped.
_WITHOUT = {
    "eeon completion",
    "eeon config schema",  # it is JSON already
    "eeon controller run",
    "eeon demo",
    "eeon experiment report",
    "eeon experiment run",
    "eeon experiment trace",
    "eeon fabric down",
    "eeon fabric exec",
    "eeon fabric up",
    "eeon fabric restart",
    "eeon help",
    "eeon init",
    "eeon sonic export",  # it is JSON already
    "eeon topology import netbox",  # it prints a topology file
    "eeon sonic import",  # a configuration file
    "eeon trace coflow",
    "eeon trace flows",
    "eeon trace shuffle",
}


def leaves() -> dict[str, click.Context]:
    return {
        one.command_path: one
        for one in contexts(root_context(main))
        if not isinstance(one.command, click.Group)
    }


def options_of(ctx: click.Context) -> set[str]:
    return {name for param in ctx.command.get_params(ctx) for name in param.opts}


def test_every_command_that_prints_data_has_json_and_no_other_has():
    assert {path for path, ctx in leaves().items() if "--json" not in options_of(ctx)} == _WITHOUT


@pytest.mark.parametrize("asking", [["--json"], ["-o", "json"]])
def test_both_spellings_are_the_same(asking):
    listed = json.loads(eeon("config", "list", *asking).stdout)
    assert "drop_tail" in listed["examples"] and "leaf-spine-4" in listed["topologies"]


@pytest.mark.slow
def test_experiments_are_listed_shown_and_told_of_as_json(tmp_path):
    listed = json.loads(eeon("experiment", "list", "--json").stdout)["experiments"]
    assert {"name", "points", "quick_points", "claims", "title"} == set(listed[0])
    marking = next(one for one in listed if one["name"] == "marking")
    shown = json.loads(eeon("experiment", "show", "marking", "--quick", "--json").stdout)
    assert len({one["run"] for one in shown["points"]}) == marking["quick_points"]
    told = json.loads(
        eeon("experiment", "status", "marking", "--quick", "--json", "--output", str(tmp_path)).stdout
    )
    assert told["finished"] == 0 and told["missing"] == marking["quick_points"] and told["failed"] == []


def test_a_dry_run_of_an_experiment_runs_nothing(tmp_path):
    folder = tmp_path / "results"
    said = eeon("experiment", "run", "marking", "--quick", "--dry-run", "--output", str(folder)).stdout
    assert "0 runs finished, " in said and not list(folder.rglob("*.csv.xz"))


def test_the_status_of_a_live_fabric_is_json_too(tmp_path, monkeypatch):
    monkeypatch.setattr(state, "_ROOT", tmp_path)
    record = state.State("trial", "engine", "leaf-spine-4", namespaces={"h1": "trial-h1"})
    record.addresses = {"leaf1": "127.0.0.1:1"}
    record.create()
    told = json.loads(eeon("fabric", "status", "--name", "trial", "--json").stdout)
    assert told["switches"] == {
        "leaf1": {"runs": False, "pid": None, "address": "127.0.0.1:1", "thrift_port": None}
    }
    assert told["topology"] == "leaf-spine-4" and told["hosts"] == {"h1": "trial-h1"}
    assert not told["is_supervised"]


@pytest.mark.system
@pytest.mark.parametrize(
    "words",
    [("experiment", "list"), ("experiment", "show", "marking", "--quick"), ("doctor",), ("config", "list")],
    ids=lambda words: " ".join(words),
)
def test_no_line_in_a_pipe_ends_in_blanks(words):
    lines = eeon(*words).stdout.splitlines()
    assert len(lines) > 2 and not [line for line in lines if line != line.rstrip()]
