"""The quick forms of all experiments that ship: every claim gets a number, and what must hold on any fabric
holds. Those with claims run whole, large ones without claims in part."""

from pathlib import Path

import pytest
from eeon_experiments import folder, shipped, store
from eeon_experiments.results import Results

from control_plane.tests.eeon_command import eeon

pytestmark = pytest.mark.nightly

HOLDS = {"marking": ("M8", "M9", "M11"), "aqm": ("Q5",), "eee": ("E2", "E8", "E10"), "flow_chasing": ("F4",)}
"""Claims that are also reproduced on the small fabrics. The others need the papers' sizes, or differ there as
well: experiments/NAME/findings.yaml."""
PART = {
    "setup": ("--only", "buffer=shallow,queue=drop_tail"),
    "setup_eee": ("--only", "scenario=batch_24,buffer=deep,window=tuned,fetches=5"),
    "setup_energy": ("--only", "scenario=chapter7,buffer=shallow,control=tcp,eee=120us100"),
    "setup_chasing": ("--only", "set_up=maps_first"),
    "setup_held": ("--only", "buffer=shallow,window=tuned"),
    "setup_packets": ("--only", "buffer=shallow,transport=ecn"),
    "setup_reaction": ("--only", "queue=qcn_20"),
    "setup_scale": ("--only", "scenario=batch_24,small_80,fetches=5"),
    "setup_ns2": ("--only", "buffer=shallow,transport=ecn"),
}
"""The points to run of experiments that judge other experiments' claims, with their first seed."""
_FIRST_SEED = ("--seeds", "4")


@pytest.fixture(scope="module", params=shipped.names())
def quick(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Results]:
    name = request.param
    output: Path = tmp_path_factory.mktemp("quick") / name
    part = (*PART[name], *_FIRST_SEED) if name in PART else ()
    words = ("run", name, "--quick", "--workers", "2", "--output", str(output), *part)
    eeon("experiment", *words, code=0)
    return name, store.load(output)


def test_every_claim_is_measured_and_those_that_hold_on_any_fabric_hold(quick):
    name, results = quick
    judgments = {claim.id: claim.judgment(results) for claim in folder.claims(shipped.folder() / name)}
    unmeasured = {
        id: judgment.measured for id, judgment in judgments.items() if judgment.outcome == "not measured"
    }
    assert not unmeasured
    lost = {id: judgments[id].measured for id in HOLDS.get(name, ()) if judgments[id].outcome != "reproduced"}
    assert not lost


def test_no_run_fails_reorders_or_sends_to_a_sleeping_link(quick):
    _, results = quick
    assert not results.failed
    for row in results.finished:
        assert (row.reordered, row.phy_violations) == (0, 0)
        assert row.energy_ideal_joules <= row.energy_used_joules * (1 + 1e-9)
        assert row.energy_used_joules <= row.energy_legacy_joules * (1 + 1e-9)


def test_a_marking_threshold_drops_nothing_early(quick):
    _, results = quick
    for row in results.finished:
        if (row.axes.get("queue") or "").startswith(("threshold_", "mark_")):
            early = {column: row[column] for column in row if column.startswith("early_dropped_")}
            assert not any(early.values()), row.axes
