"""Flows in an experiment's file: the engine's input, flow files, refusals, and a run."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from eeon_experiments.cli.numbers import show_advice
from eeon_experiments.cli.run import _tell_drawn
from eeon_experiments.results import Results, Row
from eeon_experiments.run import run_one
from eeon_experiments.store import Store, load_flows
from eeon_experiments.versions import versions
from eeon_experiments.workloads import flow_files
from eeon_experiments.workloads.flow_files import read_list, read_points
from hypothesis import given, settings
from hypothesis import strategies as st
from made_experiments import points

from control_plane.tests.eeon_command import eeon
from control_plane.tests.expected_rows import bases

BASES = bases(Path(__file__).parent / "expected" / "workloads.yaml")
FLOWS, LISTED = BASES["flows"], BASES["listed"].replace("$", "flows.csv")


def test_where_the_rest_of_the_advice_is_keeps_the_form(capsys):
    show_advice([str(number) for number in range(12)], "my file.yaml", quick=True)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "warning: and 2 more: eeon experiment show 'my file.yaml' --quick --json"


def test_a_distribution_in_another_encoding_is_told_what_to_do(tmp_path):
    (tmp_path / "own.cdf").write_text("0 0\n5 1\n", encoding="utf-16")
    with pytest.raises(ValueError, match="is not UTF-8 at byte 0; save it as UTF-8"):
        read_points(tmp_path / "own.cdf")


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
def test_the_same_flows_are_read_from_each_form(flows):
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


def test_a_file_of_one_long_line_is_refused_as_a_list(tmp_path):
    (tmp_path / "flows.csv").write_text("0" + "x" * 200_000, encoding="utf-8")
    with pytest.raises(ValueError, match="line 1: is not `source"):
        read_list(tmp_path / "flows.csv")


def test_a_list_of_too_many_flows_is_refused_before_all_of_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(flow_files, "_MAX_FLOWS", 2)
    (tmp_path / "flows.csv").write_text("h1,h3,5,0\n" * 2 + "h1,h3,5,0\nno flow\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 3: exceeds the limit of 2"):
        read_list(tmp_path / "flows.csv")


@pytest.mark.system
def test_a_row_has_the_digest_of_a_long_list_of_flows(tmp_path):
    def listed(count: int) -> object:
        lines = "".join(f"h1,h3,{size},0\n" for size in range(1, count + 1))
        (tmp_path / "flows.csv").write_text(lines, encoding="utf-8")
        outcome = run_one(points(tmp_path, LISTED, versions=versions())[0].run)
        assert outcome.measured["flows_measured"] == count, outcome.measured["error"]
        assert outcome.measured["offered_load"] is None
        settings = json.loads(str(outcome.measured["settings_json"]))
        return settings["workload"]["applications"]["web"]["listed"]

    assert listed(1) == [{"source": "h1", "destination": "h3", "bytes": 1, "at_ps": 0}]
    first, other = str(listed(101)), str(listed(102))
    assert first.startswith("101 entries, SHA-256 ")
    assert first.split()[-1] != other.split()[-1]


@pytest.mark.system
def test_flows_end_and_their_slowdowns_are_columns_and_rows(tmp_path):
    text = FLOWS.replace("duration: 1s", "duration: 1s\n        rows: true\n        dscp: 46")
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
    assert {(row["application"], row["dscp"]) for row in rows} == {("web", 46)}
    assert sum(row["measured"] for row in rows) == found["flows_measured"]
    slowdowns = [row["completion_ps"] / row["ideal_ps"] for row in rows if row["measured"]]
    assert min(slowdowns) >= 1
    assert sum(slowdowns) / len(slowdowns) == pytest.approx(found["slowdown_mean"], rel=1e-5)


@pytest.mark.parametrize(
    ("drawn", "told"),
    [(0.018, "for example 0.018, not 0.9, with seed 7"), (2.0, "2, not 0.9"), (0.6, None), (None, None)],
)
def test_a_run_is_told_whose_few_flows_are_another_load(capsys, drawn, told):
    shown = '{"workload": {"applications": {"x": {"kind": "rpc"}, "f": {"kind": "flows", "load": "90%"}}}}'
    _tell_drawn(
        Results([Row({"status": "finished", "seed": 7, "offered_load": drawn, "settings_json": shown})])
    )
    said = capsys.readouterr().err
    assert told in said if told else said == ""


@pytest.mark.system
def test_the_flows_of_a_capture_are_a_list_for_an_experiment(tmp_path):
    capture, listed = tmp_path / "t.pcap", tmp_path / "flows.csv"
    small = ("--maps", "4", "--split", "100KB", "--startup", "1ms", "--heartbeat", "1ms")
    for words in (("shuffle", "-o", str(capture), *small), ("flows", str(capture), "-o", str(listed))):
        eeon("trace", *words, code=0)
    told = read_list(listed)
    assert len(told) == len(listed.read_text().splitlines()) - 1 > 4
    assert len(points(tmp_path, LISTED)) == 1
