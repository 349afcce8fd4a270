"""summary.json and the pages, from results made by hand."""

import json
import re
from dataclasses import replace

import pytest
from eeon_control import topology as topologies
from eeon_tools.demo.findings import findings
from eeon_tools.demo.page import demo_page
from eeon_tools.demo.picture import picture
from eeon_tools.demo.runs import RUNS, summarise
from eeon_tools.errors import ReplayError
from eeon_tools.replay import plots
from eeon_tools.replay.page import run_page
from eeon_tools.replay.result import RunResult
from eeon_tools.trace.frames import CLASS_NAMES
from made_results import MANIFEST, run_result
from web_page import WebPage

pytestmark = pytest.mark.slow


def as_the_papers_say() -> dict[tuple[str, str], RunResult]:
    energy = {"off": 1.0, "standard": 0.6, "120us100": 0.4}
    latency = {"off": 100.0, "standard": 130.0, "120us100": 260.0}
    return {
        (run.aqm, run.eee): run_result(
            run.name,
            early_acks=77 if run.aqm == "red_ect" else 0,
            marked=0 if run.aqm == "drop_tail" else 40,
            used=energy[run.eee],
            data_p50=latency[run.eee],
        )
        for run in RUNS
    }


def test_the_picture_says_who_was_dropped_how_much_was_saved_and_is_the_same_each_time():
    results = as_the_papers_say()
    drawn = picture(results)
    assert drawn == picture(as_the_papers_say())
    assert "> 77<" in drawn
    for said in ("60 %", "40 %", "100 %", "median latency 260 us"):
        assert said in drawn
    assert len(drawn) < 300_000


@pytest.mark.system
def test_what_the_page_shows_by_packet_is_the_run_of_the_table(small_trace):
    from eeon_tools.demo import runs
    from eeon_tools.report.page import explain_command, layers, section

    result, model = (make(runs.SHOWN[0], small_trace) for make in (runs.run_one, runs.look_into))
    assert model["name"] == "mark_threshold, eee 120us100"
    assert model["totals"]["wakes of switch ports"] == result.wakes > 0
    topology = layers(topologies.load(runs.TOPOLOGY))
    tool = section([model], topology, explain_command(small_trace, runs.TOPOLOGY))
    page = demo_page(as_the_papers_say(), findings(as_the_papers_say()), MANIFEST, tool)
    assert "Look into a run" in page and tool in page


def test_the_summary_has_exactly_the_keys_that_it_promises():
    results = as_the_papers_say()
    read = json.loads(summarise(9, [(run, results[run.aqm, run.eee]) for run in RUNS]))
    assert list(read) == ["program_digest", "trace", "seed", "runs"]
    assert (read["trace"], read["seed"], len(read["runs"])) == ("t.pcap", 9, 12)
    run = read["runs"][3]
    keys = "name aqm eee packets latency_us energy_joules reordered wall_seconds p4_passes"
    assert list(run) == keys.split()
    assert tuple(run["packets"]) == tuple(run["latency_us"]) == CLASS_NAMES
    none = dict.fromkeys(("marked", "tail_dropped", "other_dropped", "lost"), 0)
    assert run["packets"]["ack"] == {"sent": 500, "delivered": 423, "early_dropped": 77, **none}
    assert run["latency_us"]["data"] == {"mean": 120.0, "p50": 100.0, "p99": 900.0}
    assert run["latency_us"]["fin_rst"] == {"mean": None, "p50": None, "p99": None}
    assert run["energy_joules"] == {"used": 1.0, "legacy": 1.0, "ideal": 0.2}


def test_runs_of_different_programs_are_not_summarised_together():
    other = replace(run_result(), program_digest="b" * 64)
    with pytest.raises(ReplayError, match="changed while the demo ran"):
        summarise(1, [(RUNS[0], run_result()), (RUNS[1], other)])


def test_findings_hold_when_results_are_as_the_papers_say():
    assert [finding.claim for finding in findings(as_the_papers_say()) if not finding.holds] == []


@pytest.mark.parametrize(
    ("key", "changed", "claim"),
    [
        (("red_ect", "off"), run_result(early_acks=0), "RED that protects only ECT"),
        (("red_ack_syn", "standard"), run_result(early_acks=1, used=0.6), "Protecting ACKs and SYNs"),
        (("mark_threshold", "120us100"), run_result(early_acks=1, used=0.4, data_p50=260), "A true marking"),
        (("drop_tail", "120us100"), run_result(marked=0, used=0.7), "Links that sleep when idle"),
    ],
)
def test_a_finding_that_does_not_come_out_is_said(key, changed, claim):
    failed = [
        finding.claim for finding in findings({**as_the_papers_say(), key: changed}) if not finding.holds
    ]
    assert len(failed) == 1
    assert failed[0].startswith(claim)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    results = as_the_papers_say()
    return {
        "demo": demo_page(results, findings(results), MANIFEST),
        "run": run_page(run_result(r"a < b & $\frac$")),
    }


@pytest.mark.parametrize(("name", "drawings"), [("demo", 4), ("run", 4)])
def test_a_page_needs_nothing_but_itself(pages, name, drawings):
    page = WebPage(pages[name])
    assert page.open == []
    assert page.fetched == []
    assert page.seen["svg"] == drawings
    assert "http:" not in pages[name] and "https:" not in pages[name]
    assert not re.search(r"url\((?!#)|@import", pages[name])


def test_a_name_is_text_also_if_it_looks_like_html_or_a_formula(pages):
    name, page = r"a &lt; b &amp; $\frac$", pages["run"]
    assert f"<h1>Replay {name}</h1>" in page and f">{name}</text>" in page
    assert "a < b" not in page and "mathdefault" not in page


def test_the_same_results_give_the_same_page(pages):
    results = as_the_papers_say()
    assert demo_page(results, findings(results), MANIFEST) == pages["demo"]


def test_plots_of_nothing_but_zeros_are_drawn():
    run = run_result(tail=0, marked=0)
    assert plots.drops_by_class([run], ["one"]).startswith("<svg")
