"""Flows in an experiment's file: what the engine is told, what is read, what is refused, and a run."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner
from eeon_control.errors import InputError
from eeon_experiments.fabric import workload_of
from eeon_experiments.run import run_one
from eeon_experiments.store import Store, load_flows
from eeon_experiments.versions import versions
from eeon_experiments.workloads import flow_files
from eeon_experiments.workloads.flow_files import read_list, read_points, shipped_points, shipped_sizes
from eeon_tools.cli.trace import trace
from hypothesis import given, settings
from hypothesis import strategies as st
from made_experiments import points

FLOWS = """\
name: flows
title: flows at a load
base:
  topology: leaf-spine-4
  config: mark_threshold
  tcp: {algorithm: dctcp, min_rto: 10ms}
  workload:
    applications:
      - name: web
        kind: flows
        sizes: websearch
        load: 30%
        duration: 1s
        warm_up: 100ms
        cool_down: 100ms
  time_limit: 100s
seeds: [1]
"""
SIZES = """\
        sizes: websearch
        load: 30%
        duration: 1s
        warm_up: 100ms
        cool_down: 100ms
"""


def _told(folder: Path, text: str) -> dict[str, object]:
    settings, topology, _ = points(folder, text)[0].run.parts()
    return dict(workload_of(settings, topology, 1)["applications"][0])


def test_the_engine_is_told_racks_and_the_points_of_a_distribution_that_ships(tmp_path: Path) -> None:
    told = _told(
        tmp_path, FLOWS.replace("load: 30%", "load: 30%\n        pattern: to_one_rack\n        rack: leaf2")
    )
    assert told["warm_up_ps"] == 10**11
    assert told["drawn"] == {
        "racks": [["h1", "h2"], ["h3", "h4"]],
        "pattern": "to_one_rack",
        "to_rack": 1,
        "sizes": {"points": shipped_points("websearch")},
        "load": 0.3,
        "gaps": "poisson",
        "duration_ps": 10**12,
    }


def test_the_engine_is_told_the_spread_of_lognormal_gaps(tmp_path: Path) -> None:
    drawn = _told(tmp_path, FLOWS.replace("load: 30%", "load: 30%\n        gaps: {lognormal: 2}"))["drawn"]
    assert isinstance(drawn, dict)
    assert drawn["gaps"] == {"lognormal": {"sigma": 2.0}}


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ("{constant: 5KB}", {"points": [[5000.0, 0.0], [5000.0, 1.0]]}),
        ("{uniform: [1KB, 5KB]}", {"points": [[1000.0, 0.0], [5000.0, 1.0]]}),
        ("{exponential: 5KB}", {"exponential": {"mean_bytes": 5000.0}}),
        ("{lognormal: {mean: 5KB, sigma: 1.5}}", {"lognormal": {"mean_bytes": 5000.0, "sigma": 1.5}}),
        ("{pareto: {mean: 5KB, shape: 1.5}}", {"pareto": {"mean_bytes": 5000.0, "shape": 1.5}}),
        ("own.txt", {"points": [[0.0, 0.0], [5000.0, 0.25], [6000.0, 1.0]]}),
    ],
)
def test_sizes_are_told_in_bytes(tmp_path: Path, sizes: str, told: object) -> None:
    (tmp_path / "own.txt").write_text("# size, percent\n0 0\n5000 25\n6000 100\n", encoding="utf-8")
    text = FLOWS.replace("sizes: websearch", f"sizes: {sizes}").replace("load: 30%", "load: 1%")
    drawn = _told(tmp_path, text)["drawn"]
    assert isinstance(drawn, dict)
    assert drawn["sizes"] == told


@pytest.mark.parametrize(
    ("name", "mean"),
    [
        ("ali_storage_2019", 40_870),
        ("datamining", 12_658_199),
        ("fb_hadoop", 120_421),
        ("google_rpc_2008", 2_892),
        ("websearch", 1_711_250),
    ],
)
def test_the_distributions_that_ship_have_the_means_that_their_page_names(name: str, mean: int) -> None:
    found = shipped_points(name)
    steps = itertools.pairwise(found)
    assert round(sum((end - begin) * (low + high) / 2 for (low, begin), (high, end) in steps)) == mean
    assert name in shipped_sizes()


def test_a_list_of_flows_is_a_csv_file(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(
        "source,destination,bytes,start\nh1,h3,20000,0.000001\nh2, h3, 1MB, 2.5us\n", encoding="utf-8"
    )
    told = _told(tmp_path, FLOWS.replace(SIZES, "        listed: flows.csv\n"))
    assert told["list"] == [
        {"source": "h1", "destination": "h3", "bytes": 20_000, "at_ps": 10**6},
        {"source": "h2", "destination": "h3", "bytes": 10**6, "at_ps": 2_500_000},
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 0\n5 0.5\n4 1\n", "line 3: falls"),
        ("0 0\n5 0.5\n6 0.4\n7 1\n", "line 3: falls"),
        ("0 0\n5 0.9\n", "ends at 0.9"),
        ("0 0\n5 90\n", "ends at 90"),
        ("5 1\n", "has 1 points"),
        ("", "has 0 points"),
        ("0 0\n5 0.5\n6 80\n7 100\n", "percent and in fractions at once"),
        ("0 0\n5 50%\n6 0.8\n7 1\n", "falls"),
        ("0 0\n5 0.5\n7 100%\n", "percent and in fractions at once"),
        ("0 0 0\n", "line 1: '0 0 0' is not"),
        ("a b\n", "line 1: 'a b' is not"),
        ("0 0\nnan 1\n", "not finite"),
        ("-5 0\n7 1\n", "line 1: '-5 0' is not finite, or below zero"),
        ("5 -0.1\n7 1\n", "line 1: '5 -0.1' is not finite, or below zero"),
        (
            "5,0\n7,1\n",
            "line 1: '5,0' is not `bytes probability`: two numbers without a unit and with blanks",
        ),
        ("0 0\n5 0.9999999\n", "ends at 0.9999999;"),
    ],
)
def test_a_distribution_that_is_none_is_refused_in_one_line(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "own.cdf").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        read_points(tmp_path / "own.cdf")
    assert reason in str(caught.value)
    with pytest.raises(InputError) as told:
        points(tmp_path, FLOWS.replace("websearch", "own.cdf"))
    assert any(reason in problem.rule for problem in told.value.problems)
    assert str(told.value).count("\n") == 0


@pytest.mark.parametrize("text", ["0 0\n5 0.3\n6 0.9999999999999999\n", "0 0\n5 30\n6 99.99999999999999\n"])
def test_a_distribution_that_misses_its_end_by_rounding_ends_at_1(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.cdf").write_text(text, encoding="utf-8")
    assert read_points(tmp_path / "own.cdf") == [[0.0, 0.0], [5.0, pytest.approx(0.3)], [6.0, 1.0]]


def test_a_distribution_in_another_encoding_is_told_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "own.cdf").write_text("0 0\n5 1\n", encoding="utf-16")
    with pytest.raises(ValueError, match="is not UTF-8 at byte 0; save it as UTF-8"):
        read_points(tmp_path / "own.cdf")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # HPCC's own file ends with a remark on its form.
        ("flow.txt", "2\n0 2 3 100 20000 2.000000001\n1 2 3 100 5 0\n\nFirst line: # of flows\nsrc0 dst0\n"),
        ("one.cm", "Nodes 4\nConnections 2\n0->2 id 1 start 2000000001000 size 20000\n1->2 start 0 size 5\n"),
        (
            "any_name",
            "# htsim\nConnections 2\n0->2 size 20000 prio 2 start 2000000001000\n1->2 start 0 size 5",
        ),
    ],
)
def test_hosts_of_other_simulators_lists_are_those_of_the_fabric_by_number(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    told = _told(tmp_path, FLOWS.replace(SIZES, f"        listed: {name}\n"))
    assert told["list"] == [
        {"source": "h1", "destination": "h3", "bytes": 20_000, "at_ps": 2_000_000_001_000},
        {"source": "h2", "destination": "h3", "bytes": 5, "at_ps": 0},
    ]


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(
            st.tuples(st.integers(0, 999), st.integers(0, 999)).filter(lambda ends: ends[0] != ends[1]),
            st.integers(1, 10**15),
            st.integers(0, 10**15),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_the_same_flows_are_read_from_each_form(flows: list[tuple[tuple[int, int], int, int]]) -> None:
    ends = [(f"{source}", f"{destination}", size, ns) for (source, destination), size, ns in flows]
    seconds = [f"{ns // 10**9}.{ns % 10**9:09}" for *_, ns in ends]
    forms = {
        "flow.txt": f"{len(flows)} \n"
        + "".join(f"{one[0]} {one[1]} 3 100 {one[2]} {at}\n" for one, at in zip(ends, seconds, strict=True)),
        "flows.cm": f"Nodes 1000\nConnections {len(flows)}\n"
        + "".join(f"{one[0]}->{one[1]} id 1 start {1000 * one[3]} size {one[2]}\n" for one in ends),
    }
    csv = "".join(f"h{one[0]},h{one[1]},{one[2]},{at}\n" for one, at in zip(ends, seconds, strict=True))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "flows.csv"
        path.write_text(csv, encoding="utf-8")
        expected = read_list(path)
        for name, text in forms.items():
            (path := Path(folder) / name).write_text(text, encoding="utf-8")
            found = read_list(path)
            named = [one | {end: f"h{one[end]}" for end in ("source", "destination")} for one in found]
            assert named == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("h1,h3,20000\n", "line 1: is not `source, destination, bytes, start`"),
        ("source,destination,bytes,start\n", "has no flow; a line of a list is `source,"),
        ("h1,h3,20 apples,0\n", "line 1"),
        (
            "src,dst,size,time\nh1,h3,5,0\n",
            "line 1: has other names than `source, destination, bytes, start`",
        ),
        ("h1,h3,5,1700000000.5\n", "line 1: the flow begins too late; times count from the beginning"),
        ("h1,h3,99999999999999999999,0\n", "line 1: the flow has too many bytes"),
        ("h1,h3,20000,0\nh1,h3,20000,soon\n", "line 2"),
        ("h1,h3,20000,0\nh1,h3,20000,1e999999\n", "line 2: is not"),
        ("h1,h3,20000,nan\n", "line 1: is not"),
        ("h1,h3,20000,-1\n", "line 1: the flow begins before 0"),
        ("h1,h3,0,0\n", "line 1: the flow has no bytes"),
        ("2\n0 1 3 100 5 0\n", "line 1: counts 2 flows, and there are 1"),
        ("1\n0 1 3 100 5 0\n1 0 3 100 5 0\n", "line 1: counts 1 flows, and there are 2"),
        ("1000000000\n", "line 1: counts 1000000000 flows; a list has at most 1048576"),
        ("1\n2 2 3 100 5 0\n", "line 2: host 2 sends to itself"),
        ("1\n2 1 3 100 5 -1\n", "line 2: the flow begins before 0"),
        ("1\n2 1 3 100 -5 1\n", "line 2: is not `source destination class port bytes seconds`"),
        ("1\n2 1 3 100 5\n", "line 2: is not `source destination class port bytes seconds`"),
        ("Nodes 4\nConnections 2\n0->1 start 0 size 5\n", "line 2: counts 2 flows, and there are 1"),
        ("Nodes 4\nConnections 1000000000\n", "line 2: counts 1000000000 flows"),
        ("Nodes 4\nConnections 1\n0->4 start 0 size 5\n", "line 3: host 4 is not one of 4"),
        ("Nodes 4\nConnections 1\n3->3 start 0 size 5\n", "line 3: host 3 sends to itself"),
        ("Nodes 4\nConnections 1\n3->2 start -7 size 5\n", "line 3: the flow begins before 0"),
        ("Nodes 4\nConnections 1\n3->2 start 7\n", "line 3: is not `source->destination start T size S`"),
        (
            "Nodes 4\nConnections 1\n3-2 start 7 size 1\n",
            "line 3: is not `source->destination start T size S`",
        ),
        ("Nodes 4\nTriggers 1\n", "line 2: Triggers are not modelled"),
        ("Nodes 4\n3->2 id 1 trigger 1 size 5\n", "line 2: a flow of a list waits for no trigger"),
        ("Nodes 4\n3->2 start 1 size 5 colour 1\n", "line 2: colour is not known"),
    ],
)
def test_a_line_of_a_list_that_is_no_flow_is_named(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "flows").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        read_list(tmp_path / "flows")
    assert reason in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_a_name_of_no_host_is_refused_with_the_flow_and_those_that_there_are(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("h1,h3,5,0\nh1,10.0.2.1,5,0\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        points(tmp_path, FLOWS.replace(SIZES, "        listed: flows.csv\n"))
    assert "flow 2 has host 10.0.2.1; topology leaf-spine-4 has h1, h2, h3, h4" in str(caught.value)


def test_a_number_of_no_host_is_refused_with_the_flow(tmp_path: Path) -> None:
    (tmp_path / "flow.txt").write_text("2\n0 1 3 100 5 0\n4 1 3 100 5 0\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        points(tmp_path, FLOWS.replace(SIZES, "        listed: flow.txt\n"))
    assert "flow 2 has host number 4; topology leaf-spine-4 has 4 hosts, from 0" in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_a_list_of_too_many_flows_is_refused_before_all_of_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow_files, "_MAX_FLOWS", 2)
    (tmp_path / "flows.csv").write_text("h1,h3,5,0\n" * 2 + "h1,h3,5,0\nno flow\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 3: is one flow more than 2"):
        read_list(tmp_path / "flows.csv")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("websearch", "webserach", "did you mean websearch"),
        ("load: 30%", "load: 130%", "130%"),
        ("load: 30%", "load: 0%", "above zero"),
        ("load: 30%", "load: 30%\n        gaps: {lognormal: 5}", "SIGMA from 0 to 4"),
        ("load: 30%", "load: 30%\n        gaps: often", "must be poisson, fixed, or"),
        ("load: 30%", "load: 30%\n        dscp: 64", "63"),
        ("duration: 1s", "duration: 1000000s", "flows, more than 1048576"),
        ("load: 30%", "load: 30%\n        rack: leaf1", "rack is for the pattern to_one_rack"),
        ("load: 30%", "load: 30%\n        pattern: to_one_rack\n        rack: leaf9", "no leaf of that name"),
        ("warm_up: 100ms", "warm_up: 1s", "web.warm_up: 1s: leaves nothing to measure of a duration of 1s"),
        (
            "warm_up: 100ms\n        cool_down: 100ms",
            "cool_down: 1s",
            "web.cool_down: 1s: leaves nothing to measure",
        ),
        (
            "duration: 1s",
            "duration: 200001us",
            "no flow begins in the time that is measured; make duration longer",
        ),
        ("sizes: websearch", "sizes: {uniform: [5KB, 1KB]}", "is [smallest, largest], and 5KB is above 1KB"),
        ("        load: 30%\n", "", "give sizes, load and duration"),
        (SIZES, "        listed: nowhere.csv\n", "no file of this name"),
        (SIZES, "        listed: to_itself.csv\n", "host h1 sends to itself"),
        (SIZES, "        listed: to_nobody.csv\n", "flow 1 has host h9"),
        ("sizes: websearch", "sizes: {constant: 5KB, exponential: 5KB}", "give one of"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path: Path, old: str, new: str, reason: str) -> None:
    (tmp_path / "to_itself.csv").write_text("h1,h1,20000,0\n", encoding="utf-8")
    (tmp_path / "to_nobody.csv").write_text("h1,h9,20000,0\n", encoding="utf-8")
    assert old in FLOWS
    with pytest.raises(InputError) as caught:
        points(tmp_path, FLOWS.replace(old, new))
    assert reason in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_a_load_that_the_uplinks_of_a_leaf_cannot_carry_is_refused(tmp_path: Path) -> None:
    text = FLOWS.replace("leaf-spine-4", "two-rack-80").replace(
        "load: 30%", "load: 90%\n        pattern: between_racks"
    )
    with pytest.raises(InputError, match="more than the uplinks of leaf1 carry"):
        points(tmp_path, text)


@pytest.mark.system
def test_a_row_has_the_digest_of_a_long_list_of_flows(tmp_path: Path) -> None:
    def listed(count: int) -> object:
        lines = "".join(f"h1,h3,{size},0\n" for size in range(1, count + 1))
        (tmp_path / "flows.csv").write_text(lines, encoding="utf-8")
        run = points(tmp_path, FLOWS.replace(SIZES, "        listed: flows.csv\n"), versions=versions())[
            0
        ].run
        outcome = run_one(run)
        assert outcome.measured["flows_measured"] == count, outcome.measured["error"]
        settings = json.loads(str(outcome.measured["settings_json"]))
        return settings["workload"]["applications"]["web"]["listed"]

    assert listed(1) == [{"source": "h1", "destination": "h3", "bytes": 1, "at_ps": 0}]
    first, other = str(listed(101)), str(listed(102))
    assert first.startswith("101 entries, SHA-256 ")
    assert first.split()[-1] != other.split()[-1]


@pytest.mark.system
def test_flows_end_and_their_slowdowns_are_columns_and_rows(tmp_path: Path) -> None:
    text = FLOWS.replace("duration: 1s", "duration: 1s\n        rows: true")
    outcome = run_one(points(tmp_path, text, versions=versions())[0].run)
    found = outcome.measured
    assert found["status"] == "finished", found["error"]
    assert 0.1 < found["offered_load"] < 0.9
    assert found["flows_measured"] > 0
    assert found["flows_given_up"] == 0
    assert 1 <= found["slowdown_above_10mb_mean"] <= found["slowdown_above_10mb_p99"]
    assert 1 <= found["slowdown_mean"] <= found["slowdown_p99"]
    store = Store(tmp_path / "out", "flows", False)
    store.claim()
    store.write(outcome)
    rows = load_flows(tmp_path / "out", outcome.run_id)
    assert rows == outcome.flows
    assert sum(row["measured"] for row in rows) == found["flows_measured"]
    slowdowns = [row["completion_ps"] / row["ideal_ps"] for row in rows if row["measured"]]
    assert min(slowdowns) >= 1
    assert sum(slowdowns) / len(slowdowns) == pytest.approx(found["slowdown_mean"], rel=1e-5)


CLASSES = """\
name: classes
title: a small flow of a class of its own beside a large one of its host
base:
  topology: leaf-spine-4
  config: [drop_tail, {classes: {urgent: {priority: 5, dscp: [46]}}}]
  workload:
    applications:
      bulk: {kind: flows, listed: bulk.csv, rows: true}
      small: {kind: flows, listed: small.csv, rows: true, dscp: DSCP}
  time_limit: 10s
seeds: [1]
"""


@pytest.mark.system
@pytest.mark.parametrize(("dscp", "least", "most"), [(0, 10, 10_000), (46, 1, 2)])
def test_flows_of_a_class_do_not_wait_for_those_of_a_lower_one_and_rows_say_whose_they_are(
    tmp_path: Path, dscp: int, least: float, most: float
) -> None:
    (tmp_path / "bulk.csv").write_text("h1,h3,3MB,0\n", encoding="utf-8")
    (tmp_path / "small.csv").write_text("h1,h4,20KB,5ms\n", encoding="utf-8")
    outcome = run_one(points(tmp_path, CLASSES.replace("DSCP", str(dscp)), versions=versions())[0].run)
    assert outcome.measured["status"] == "finished", outcome.measured["error"]
    rows = {str(row["application"]): row for row in outcome.flows}
    assert {name: row["dscp"] for name, row in rows.items()} == {"bulk": 0, "small": dscp}
    took, ideal = rows["small"]["completion_ps"], rows["small"]["ideal_ps"]
    assert isinstance(took, int) and isinstance(ideal, int)
    assert least <= took / ideal < most


INCAST = """\
      incast:
        {kind: incast, background: true, client: h1, servers: [h2, h3, h4], size_per_server: 20KB,
         rounds: 1000000, think: 1ms}
  time_limit: 100s
"""


@pytest.mark.system
def test_an_incast_in_the_background_comes_on_top_of_drawn_flows_and_ends_with_them(tmp_path: Path) -> None:
    text = FLOWS.replace("      - name: web\n        kind: flows", "      web:\n        kind: flows")
    text = text.replace("duration: 1s", "duration: 50ms").replace(": 100ms", ": 5ms")

    def measured(text: str) -> dict[str, float]:
        found = run_one(points(tmp_path, text, versions=versions())[0].run).measured
        assert found["status"] == "finished", found["error"]
        return {key: float(found[key]) for key in ("flows", "flows_measured", "offered_load")}

    alone = measured(text)
    on_top = measured(text.replace("  time_limit: 100s\n", INCAST))
    assert {**on_top, "flows": 0} == {**alone, "flows": 0}
    # Three answers at a time, a millisecond and a round's time apart, until the last flow has ended.
    assert on_top["flows"] > alone["flows"] + 3 * 8


CAPTURED = """\
name: captured
title: the flows of a capture in a closed loop
base:
  topology: leaf-spine-4
  config: mark_threshold
  tcp: {algorithm: dctcp, min_rto: 10ms}
  workload: {applications: {captured: {kind: flows, listed: flows.csv, rows: true}}}
  time_limit: 100s
seeds: [1]
"""


@pytest.mark.system
def test_the_flows_of_a_capture_are_sent_again_in_a_closed_loop(tmp_path: Path) -> None:
    capture, listed = tmp_path / "t.pcap", tmp_path / "flows.csv"
    small = ("--maps", "4", "--split", "100KB", "--startup", "1ms", "--heartbeat", "1ms")
    for words in (("shuffle", "-o", str(capture), *small), ("flows", str(capture), "-o", str(listed))):
        done = CliRunner().invoke(trace, words)
        assert done.exit_code == 0, done.output
    outcome = run_one(points(tmp_path, CAPTURED, versions=versions())[0].run)
    assert outcome.measured["status"] == "finished", outcome.measured["error"]
    sent = sorted((row["source"], row["destination"], row["bytes"]) for row in outcome.flows)
    told = read_list(listed)
    assert sent == sorted((one["source"], one["destination"], one["bytes"]) for one in told)
    assert all(row["completion_ps"] >= row["ideal_ps"] for row in outcome.flows)
