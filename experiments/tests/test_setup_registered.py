"""The registered set-ups: their points are those of the experiments whose judges read them, and none of their
seeds was used before their registration."""

from __future__ import annotations

import pytest
from eeon_experiments import files

NAMES_IN_AQM = {"drops": "newreno"}
LATER = {"setup_reaction": ("length",), "setup_held": ("load",)}
"""By experiment: axes of points that were registered later, with separate seeds."""


@pytest.mark.parametrize(
    ("name", "judged", "axes"),
    [
        ("setup", "marking", ("buffer", "transport", "queue", "protect", "workload")),
        ("setup_energy", "eee_ecn", ("control",)),
        ("setup_eee", "eee", ("buffer", "window", "eee")),
        ("setup_scale", "eee", ("buffer", "window", "eee")),
        ("setup_ns2", "marking", ("buffer", "transport", "queue", "protect")),
        ("setup_packets", "marking", ("transport", "queue", "protect")),
        ("setup_held", "eee", ("buffer", "window", "eee")),
        ("setup_chasing", "flow_chasing", ("case", "size", "scheduler")),
        ("setup_reaction", "cee_commercial", ("tcp", "pfc")),
        ("setup_reaction", "cee_scientific", ("pfc",)),
    ],
)
def test_a_value_means_what_it_means_where_its_judge_is(
    name: str, judged: str, axes: tuple[str, ...]
) -> None:
    mine, theirs = files.load(name).file.axes, files.load(judged).file.axes
    for axis in axes:
        shared = mine[axis].keys() & theirs[axis].keys()
        assert shared
        assert {value: mine[axis][value] for value in shared} == {
            value: theirs[axis][value] for value in shared
        }


def test_benchmarks_of_setup_reaction_are_those_of_cee_scientific_with_fewer_iterations() -> None:
    mine, theirs = (files.load(name).file.axes["benchmark"] for name in ("setup_reaction", "cee_scientific"))
    assert mine.keys() == theirs.keys()
    for name, overlay in mine.items():
        (here,), (there,) = (one["workload"]["applications"] for one in (overlay, theirs[name]))
        assert here["iterations"] < there["iterations"]
        assert {**here, "iterations": there["iterations"]} == there, name


@pytest.mark.parametrize("judged", ["cee_commercial", "cee_scientific"])
def test_one_reaction_point_a_host_is_all_that_setup_reaction_changes(judged: str) -> None:
    mine, theirs = files.load("setup_reaction").file, files.load(judged).file
    for name in ("qcn_20", "qcn_66"):
        there = theirs.axes["queue"][name]
        for value, scope in (
            (name, {"scope": "host"}),
            (f"{name}_pair", {"scope": "pair"}),
            (f"{name}_flow", {}),
        ):
            assert mine.axes["queue"][value] == {**there, "nic": {"qcn": {**there["nic"]["qcn"], **scope}}}
    pairs_and_flows = {f"{name}_{scope}" for name in ("qcn_20", "qcn_66") for scope in ("pair", "flow")}
    assert mine.axes["queue"].keys() == theirs.axes["queue"].keys() | pairs_and_flows
    for name in ("drop_tail", "red"):
        assert mine.axes["queue"][name] == theirs.axes["queue"][name]
    for key in mine.base.keys() & theirs.base.keys() - {"workload", "time_limit"}:
        assert mine.base[key] == theirs.base[key], key


@pytest.mark.parametrize("name", ["setup_eee", "setup_scale"])
def test_a_job_of_eee_is_that_job_under_the_name_that_the_set_up_has_for_it(name: str) -> None:
    mine, theirs = files.load(name).file.axes["scenario"], files.load("eee").file.axes["scenario"]
    for scenario, overlay in mine.items():
        work = overlay["workload"]["applications"]["work"]
        (job,) = theirs[scenario]["workload"]["applications"].values()
        assert work == job, scenario
        assert overlay["topology"] == theirs[scenario]["topology"]


def test_a_point_of_aqm_is_that_run_under_the_name_that_the_set_up_has_for_it() -> None:
    mine, theirs = files.load("setup").file.axes, files.load("aqm").file.axes
    for axis in ("transport", "queue"):
        for value, overlay in mine[axis].items():
            if axis == "transport" and value == "newreno":
                continue
            there = theirs[axis].get(NAMES_IN_AQM.get(value, value))
            assert there is None or there == overlay, value
    assert mine["transport"]["drops"] == theirs["transport"]["newreno"]


@pytest.mark.parametrize(
    ("name", "judged"),
    [
        ("setup", "marking"),
        ("setup", "aqm"),
        ("setup_energy", "eee_ecn"),
        ("setup_eee", "eee"),
        ("setup_scale", "eee"),
    ],
)
def test_what_is_varied_is_varied_around_the_base_of_the_judged_experiment(name: str, judged: str) -> None:
    mine, theirs = files.load(name).file.base, files.load(judged).file.base
    for key in mine.keys() & theirs.keys() - {"config", "workload", "tcp"}:
        assert mine[key] == theirs[key], key
    if judged != "eee_ecn":
        # An experiment only sets it if transfers begin at the same instant.
        assert mine.keys() - {"start_jitter"} == theirs.keys() - {"start_jitter"}
        assert all(mine[key] == theirs[key] for key in mine.keys() & theirs.keys())


@pytest.mark.parametrize(
    "name",
    [
        *("setup", "setup_chasing", "setup_eee", "setup_energy"),
        *("setup_held", "setup_packets", "setup_reaction", "setup_scale"),
    ],
)
def test_seeds_begin_after_those_of_the_pilot(name: str) -> None:
    file = files.load(name).file
    assert file.quick is not None and file.quick.seeds is not None
    assert {*file.seeds, *file.quick.seeds} == {4, 5, 6}
    later = set(LATER.get(name, ()))
    for sweep in file.sweeps:
        seeds = sweep["seeds"]
        allowed = {str(seed) for seed in (range(7, 13) if later & sweep.keys() else range(4, 7))}
        assert isinstance(seeds, list) and set(seeds) < allowed
    assert not any("seeds" in sweep for sweep in file.quick.sweeps)
