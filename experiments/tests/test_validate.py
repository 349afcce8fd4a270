"""`make validate` without ns-3: lists, slowdowns, bands and tables of made-up runs, and the page."""

import json
import tomllib
from typing import Any

import pytest
from eeon_experiments import files, folder, shipped
from eeon_experiments.expand import expand
from made_experiments import VERSIONS

HERE = shipped.folder() / "validate"
compare = folder.module(HERE, "compare")
assert compare is not None
PAGE = shipped.folder().parent / "docs" / "validation.md"


def _flow(number: int, size: int, completion_ps: int | None = 2000, **other: object) -> dict[str, object]:
    row = {"source": "h1", "destination": "h2", "bytes": size, "at_ps": number, "measured": True}
    return {**row, "completion_ps": completion_ps, "ideal_ps": 1000, **other}


def _case(flows: int, marked: int, **slowdowns: float) -> dict[str, Any]:
    """Returns a case of 2.0 to 2.4 in the twin's mean slowdowns, and 100 to 120 marks."""
    summary = {"mean": 2.0, "p50": 1.5, "p99": 9.0}
    ours = [summary, {**summary, "mean": 2.4}]
    one = {"name": "up to 10 kB", "flows": flows, "twin": ours, "ns3": {**summary, **slowdowns}}
    return {"classes": [one], "twin": [{"marked": 100}, {"marked": 120}], "ns3": {"marked": marked}}


BANDS = {"dctcp": {"least_flows": 30, "mean": 0.1, "marked": 0.2}, "incast": {"least_flows": 1, "p99": 0.1}}


def test_a_list_names_hosts_by_their_places():
    rows = [_flow(5, 1460), _flow(7, 3, source="h2", destination="h3", measured=False)]
    assert compare.flow_lines(rows, ["h1", "h2", "h3"]) == "0 1 1460 5 1\n1 2 3 7 0\n"


def test_a_host_that_the_other_fabric_does_not_have_is_refused():
    with pytest.raises(ValueError, match="h2 is not one of the 1 hosts"):
        compare.flow_lines([_flow(0, 1)], ["h1"])


def test_flows_are_in_the_class_of_their_size_and_those_not_measured_in_none():
    sizes = [10_000, 10_001, 1_000_000, 10_000_001]
    rows = [*(_flow(0, size) for size in sizes), _flow(0, 1, None, measured=False)]
    slower = [{**row, "ideal_ps": 500} for row in rows]
    found = compare.by_class([rows, slower], [3000, 4000, 5000, 6000, None])
    assert [one["name"] for one in found] == ["up to 10 kB", "10 to 100 kB", "100 kB to 1 MB", "above"]
    assert [one["flows"] for one in found] == [1, 1, 1, 1]
    assert [[run["mean"] for run in one["twin"]] for one in found] == [[2.0, 4.0]] * 4
    assert [one["ns3"]["p99"] for one in found] == [3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize(("ours", "theirs", "where"), [(None, 1, "the twin"), (1, None, "ns-3")])
def test_a_flow_without_an_end_is_named(ours, theirs, where):
    with pytest.raises(ValueError, match=f"flow 0, 500 bytes, has not ended in {where}"):
        compare.by_class([[_flow(0, 500, ours)]], [theirs])


def test_lists_of_different_lengths_are_not_compared():
    with pytest.raises(ValueError, match="2 flows in the list, 1 in ns-3"):
        compare.by_class([[_flow(0, 1), _flow(1, 1)]], [1])


def test_quantiles_are_values_that_occurred():
    found = compare.summary([float(number) for number in range(100, 0, -1)])
    assert found == {"mean": 50.5, "p50": 50.0, "p99": 99.0}
    assert compare.summary([4.0]) == {"mean": 4.0, "p50": 4.0, "p99": 4.0}


def test_the_mean_depth_is_over_all_ports_and_whole_periods():
    one = {"switch": "leaf1", "port": 1, "max_bytes": [10, 20, 1000]}
    depths = {"period_ps": 10**9, "queues": [one, {**one, "port": 9}]}
    # Two whole periods of 1 ms; the other port was always empty.
    assert compare.mean_depth(depths, {("leaf1", 1), ("leaf1", 2)}, 0.0025) == 7.5


@pytest.mark.parametrize(
    ("ours", "theirs", "far"), [([4, 5], 4.5, 0), ([4, 5], 10, 0.5), ([4, 5], 3, 0.25), ([0], 0, 0)]
)
def test_a_number_is_far_from_the_nearer_end_of_a_range(ours, theirs, far):
    assert compare.beyond(ours, theirs) == far


@pytest.mark.parametrize(
    ("name", "case", "told"),
    [
        ("dctcp_45", _case(30, 81, mean=2.6), []),
        (
            "dctcp_45",
            _case(30, 79, mean=2.7),
            [
                "dctcp_45, up to 10 kB: mean slowdown 2.00 to 2.40 and 2.70, more than 10% apart",
                "dctcp_45, packets marked 100.00 to 120.00 and 79.00, more than 20% apart",
            ],
        ),
        ("dctcp_45", _case(29, 100, mean=9.0), []),  # a class with few flows
        ("incast_ecn", _case(8, 1, mean=9.0, p50=9.0, p99=9.9), []),  # only p99 has a band
        (
            "incast_ecn",
            _case(8, 1, p99=10.1),
            ["incast_ecn, up to 10 kB: p99 slowdown 9.00 to 9.00 and 10.10, more than 10% apart"],
        ),
    ],
)
def test_what_is_outside_its_band_is_named_with_both_numbers(name, case, told):
    assert compare.outside({name: case}, BANDS) == told


def test_ns3_is_told_what_the_twin_is_told():
    runs = expand(files.load(HERE / "twin.yaml"), VERSIONS)
    told = {
        " ".join(filter(None, point.axes.values())): compare.ns3_settings(point.run.settings)
        for point in runs
    }
    fabric = "leaves=2 hosts=8 spines=2 host_bps=10000000000 uplink_bps=40000000000 delay_ps=502000"
    ports = "buffer_bytes=3000000 drop_not_ect=0 threshold_bytes=20000"
    times = "min_rto_ps=10000000000 initial_rto_ps=20000000000 delayed_ack_ps=1000000000"
    whole = f"algorithm=cubic {fabric} {ports} window_bytes=4194304 {times} limit_ps=20000000000000"
    assert told["cubic_65 502ns"] == whole.split()
    assert {"leaves=1", "hosts=9", "spines=0", "threshold_bytes=30280"} < {*told["incast ecn"]}
    assert "threshold_bytes=0" in told["all vegas"]


def test_the_page_shows_the_kept_run_and_the_kept_run_is_within_its_bands():
    kept = json.loads((HERE / "measured.json").read_text(encoding="utf-8"))
    bands = tomllib.loads((HERE / "bands.toml").read_text(encoding="utf-8"))
    page = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in compare.tables(kept["cases"]) if line and line not in page] == []
    assert kept["commit"][:12] in PAGE.read_text(encoding="utf-8")
    assert compare.outside(kept["cases"], bands) == []
