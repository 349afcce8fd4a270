"""Judges of the EEE claims on made-up rows: all as claimed, changed until the claim differs, rows missing."""

from __future__ import annotations

from typing import Any

import pytest
from eeon_experiments.claims import Claim
from eeon_experiments.results import Results, Row
from parts_of import change, claims_of, finished_row, module_of, refutations

SCENARIOS, point = module_of("eee", "points").SCENARIOS, module_of("eee", "points").point
closed_form = module_of("eee", "load_claims").closed_form
LPI_POWER = module_of("eee", "closed_forms").LPI_POWER

Values = dict[str, Any]
EEE = {"standard": 1.0, "12us10": 0.75, "120us100": 0.6, "1ms1000": 0.55, "10ms1000": 0.54, "12us10+": 0.8}
EEE |= {"120us100+": 0.78, "off": 6.5}


def claim_of(experiment: str, name: str) -> Claim:
    return next(one for one in claims_of(experiment) if one.id == name)


def eee_points() -> list[tuple[dict[str, str | None], Values]]:
    """Returns rows with the paper's numbers."""
    found: list[tuple[dict[str, str | None], Values]] = []

    def add(axes: Any, **values: float) -> None:
        found.append((dict(axes), values))

    for scenario in SCENARIOS:
        for buffer in ("shallow", "deep"):
            for window in ("default", "tuned"):
                for eee, energy in EEE.items():
                    slow = 1.0
                    if eee in ("1ms1000", "10ms1000") and buffer == "shallow":
                        slow = {"tuned": 1.25, "default": 3.0}[window] * (2 if eee == "10ms1000" else 1)
                    if eee.endswith("+"):
                        energy = 0.8 if scenario.startswith("batch") else 0.45
                    add(
                        point(scenario, buffer, window, eee=eee),
                        runtime_seconds=100 * slow,
                        energy_used_joules=100 * energy,
                        energy_legacy_joules=650,
                        energy_ideal_joules=50,
                        energy_10g_used_joules=50 * (0.5 if eee.endswith("+") else energy),
                        energy_1g_used_joules=50 if eee == "standard" else 48.5,
                    )
    for stall, energy in (("0us", 100), ("10us", 101), ("50us", 105), ("500us", 120), ("5ms", 200)):
        add(
            point("small_24", eee="standard", stall=stall),
            runtime_seconds=100.5 if stall == "0us" else 100,
            energy_used_joules=energy,
        )
    for delay, small, batch in (
        ("0us", 1, 1),
        ("100us", 1.02, 1),
        ("1ms", 1.2, 1.01),
        ("5ms", 2, 1.1),
        ("10ms", 3, 1.4),
    ):
        for scenario, slow in (("small_24", small), ("batch_24", batch)):
            add(point(scenario, window="default", eee="off", delay=delay), runtime_seconds=100 * slow)
    for load, slow in (("5", 1.2), ("10", 1.12), ("25", 1.05), ("40", 1.0), ("55", 1.0)):
        for eee, energy in (("standard", 100), ("12us10_10g", 75), ("120us100_10g", 50), ("1ms1000_10g", 42)):
            add(
                point("terasort_24", "shallow", eee=eee, load=load),
                runtime_seconds=100 * slow if eee.startswith("1ms") else 100,
                energy_10g_used_joules=energy,
            )
    for rho in ("1", "5", "10", "20", "30", "50", "70", "90"):
        for eee in ("standard", "12us10", "120us100"):
            used = closed_form(eee, int(rho) / 100) + LPI_POWER
            add(
                point("poisson", "deep", None, eee=eee, rho=rho),
                energy_10g_used_joules=used,
                energy_10g_legacy_joules=2,
            )
    return found


def ecn_points() -> list[tuple[dict[str, str | None], Values]]:
    above = {"off": 8, "standard": 1.78, "12us10": 1.4, "120us100": 1.1, "500us500": 1.07, "1ms1000": 1.05}
    slow = {"500us500": 1.25, "1ms1000": 1.6}
    found: list[tuple[dict[str, str | None], Values]] = []
    for buffer, latency in (("shallow", 1000), ("deep", 10000)):
        for control in ("tcp", "red_ecn"):
            for eee, energy in above.items():
                runtime = slow.get(eee, 1.0) if control == "red_ecn" else 1.0
                longer = 1.0
                if eee == "1ms1000":
                    tcp = {"shallow": 1.12, "deep": 1.06}
                    longer = tcp[buffer] if control == "tcp" else {"shallow": 1.5, "deep": 1.1}[buffer]
                found.append(
                    (
                        {"buffer": buffer, "control": control, "eee": eee},
                        {
                            "runtime_seconds": 100 * runtime,
                            "throughput_per_node_bps": 1e8 / runtime,
                            "latency_mean_us": (latency if control == "tcp" else latency / 10) * longer,
                            "energy_10g_used_joules": energy * runtime,
                            "energy_10g_ideal_joules": 1.0,
                        },
                    )
                )
    return found


POINTS = {"eee": eee_points, "eee_ecn": ecn_points}
ALL = [(experiment, claim.id) for experiment in POINTS for claim in claims_of(experiment)]


def results(experiment: str, seeds: tuple[int, ...] = (1,)) -> Results:
    return Results(
        [finished_row(axes, values, seed) for axes, values in POINTS[experiment]() for seed in seeds]
    )


@pytest.mark.parametrize(("experiment", "name"), ALL)
def test_rows_as_the_paper_has_them_reproduce_its_claim(experiment: str, name: str) -> None:
    judgment = claim_of(experiment, name).judge(results(experiment))
    assert judgment.outcome == "reproduced", judgment.measured
    assert judgment.numbers
    spread = claim_of(experiment, name).judge(results(experiment, seeds=(1, 2, 3)))
    assert spread.outcome == "reproduced", spread.measured


@pytest.mark.parametrize(("name", "told", "words"), refutations("eee, eee_ecn"))
def test_a_number_outside_its_band_differs(name: str, told: str, words: str) -> None:
    experiment = "eee" if name.startswith("E") else "eee_ecn"
    rows = [dict(row) for row in results(experiment).rows]
    for row in rows:
        change(row, told)
    judgment = claim_of(experiment, name).judge(Results([Row(row) for row in rows]))
    assert judgment.outcome == "differs", judgment.measured
    assert words in judgment.measured
