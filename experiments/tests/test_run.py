"""Runs of the real twin: the engine runs the P4 program, the controller configures it, hosts run jobs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("eeon_engine", reason="the engine is not built; `make setup` builds it")

from eeon_experiments import store
from eeon_experiments.cli import experiment
from eeon_experiments.columns import MEASURED_NAMES, OF_THE_MACHINE
from eeon_experiments.run import run_one
from eeon_experiments.store import Outcome
from eeon_experiments.versions import versions
from eeon_tools.replay.result import CLASS_NAMES
from made_experiments import TINY, points, write

pytestmark = pytest.mark.system


def outcome(folder: Path, text: str = TINY, **axes: str) -> Outcome:
    found = points(folder, text, versions=versions())
    return run_one(next(point.run for point in found if axes.items() <= point.axes.items()))


def numbers(folder: Path, text: str = TINY, **axes: str) -> dict[str, Any]:
    found = dict(outcome(folder, text, **axes).measured)
    assert found["status"] == "finished", found["error"]
    return found


def test_the_same_run_gives_the_same_numbers_and_every_column(tmp_path: Path) -> None:
    first, second = (numbers(tmp_path, queue="mark", transport="dctcp") for _ in range(2))
    assert {key: one for key, one in first.items() if key not in OF_THE_MACHINE} == {
        key: one for key, one in second.items() if key not in OF_THE_MACHINE
    }
    assert set(first) <= MEASURED_NAMES
    assert MEASURED_NAMES - set(first) == {"error"}
    assert json.loads(first["settings_json"])["tcp"] == {"algorithm": "dctcp", "min_rto": "10ms"}


def test_a_job_has_shares_and_moves_its_bytes(tmp_path: Path) -> None:
    found = numbers(tmp_path, queue="drop_tail", transport="newreno")
    assert found["map_share"] + found["shuffle_share"] + found["reduce_share"] == pytest.approx(1)
    assert found["runtime_seconds"] == found["job_runtime_mean_seconds"] == found["virtual_seconds"]
    assert json.loads(found["job_runtimes_json"]) == {"mapreduce/sort": found["runtime_seconds"]}
    # 8 maps on 4 hosts, 4 reducers: at least one fetch for each pair of different hosts.
    assert found["flows"] >= 12
    assert found["marked_data"] == found["mark_reductions"] == 0
    assert 0 < found["goodput_per_node_runtime_bps"] <= found["throughput_per_node_bps"] < 1e9
    sent = sum(found[f"sent_{name}"] for name in CLASS_NAMES)
    assert sent >= found["data_segments"] > 4_000_000 // 1460 * 3 // 4


def test_a_job_tells_how_long_its_reducers_shuffled(tmp_path: Path) -> None:
    found = numbers(tmp_path, queue="drop_tail", transport="newreno")
    assert 0 < found["reducer_shuffle_mean_seconds"] <= found["shuffle_seconds"] < found["runtime_seconds"]
    assert found["scheduled_flows"] is found["scheduler_decisions"] is None


TRANSFER = """\
name: transfer
title: one transfer of one segment
base:
  topology: leaf-spine-4
  config: drop_tail
  workload:
    applications:
      - {name: one, kind: coflows, coflows: {one: {transfers: [{source: h1, destination: h3, size: 100B}]}}}
  time_limit: 1s
seeds: [1]
"""


def test_what_hosts_take_for_a_segment_is_in_each_way_of_a_transfer(tmp_path: Path) -> None:
    bare = numbers(tmp_path, TRANSFER)["fct_mean_seconds"]
    slow = TRANSFER.replace("  time_limit", "  host: {tx_delay: 2us, rx_delay: 5us}\n  time_limit")
    # SYN, SYN-ACK, data: the handshake's ACK is sent with the data.
    assert numbers(tmp_path, slow)["fct_mean_seconds"] - bare == pytest.approx(3 * 7e-6, abs=1e-9)


def test_a_scheduler_hears_of_every_fetch_and_its_rates_hold(tmp_path: Path) -> None:
    of_hosts = TINY.replace("  config: drop_tail", "  nic: {eee: 'off'}\n  config: drop_tail")
    limited = "  scheduler: {kind: fair, capacity: 1%, floor: 0bps, floor_reserve: 0%}"
    free, slow = (
        numbers(tmp_path, text, queue="drop_tail", transport="newreno")
        for text in (of_hosts, of_hosts.replace("  time_limit", f"{limited}\n  time_limit"))
    )
    assert slow["scheduled_flows"] == slow["flows"] > 12
    assert slow["scheduler_decisions"] >= slow["flows"]
    assert free["shuffle_seconds"] < slow["shuffle_seconds"]
    # Four hosts send at most 10 Mbit/s each.
    assert slow["throughput_per_node_bps"] < 1e7


def test_marks_slow_dctcp_down_where_nothing_is_dropped(tmp_path: Path) -> None:
    found = numbers(tmp_path, queue="mark", transport="dctcp")
    assert found["marked_data"] > 0 and found["mark_reductions"] > 0
    assert found["early_dropped_data"] == 0
    assert found["latency_data_p50_us"] > 24.0  # two links at 1 Gbit/s, a full frame takes 12 us on each


def test_energy_by_speed_adds_up_and_coalescing_saves_some(tmp_path: Path) -> None:
    text = TINY.replace("drop_tail:\n", "drop_tail:\n    coalesced: {config: [eee_120us100]}\n")
    off = numbers(tmp_path, text, queue="drop_tail", transport="dctcp")
    coalesced = numbers(tmp_path, text, queue="coalesced", transport="dctcp")
    for found in (off, coalesced):
        for kind in ("used", "legacy", "ideal"):
            parts = [found[f"energy_{speed}_{kind}_joules"] for speed in ("1g", "10g")]
            assert sum(parts) == pytest.approx(found[f"energy_{kind}_joules"])
    assert off["energy_used_joules"] == pytest.approx(off["energy_legacy_joules"])
    assert (
        coalesced["energy_ideal_joules"] < coalesced["energy_used_joules"] < coalesced["energy_legacy_joules"]
    )
    assert coalesced["wakes"] > 0 == coalesced["phy_violations"] and coalesced["lpi_share_10g"] > 0.5


def test_a_run_that_reaches_its_limit_has_failed_and_says_what_is_unfinished(tmp_path: Path) -> None:
    found = outcome(tmp_path, TINY.replace("time_limit: 60s", "time_limit: 30ms"))
    assert not found.finished
    assert (
        found.measured["error"]
        == "the time limit of 30ms was reached, but these have not finished: mapreduce: sort"
    )


def test_queue_depths_are_kept_where_asked_for(tmp_path: Path) -> None:
    assert outcome(tmp_path).queues is None
    text = TINY.replace("  time_limit: 60s", "  time_limit: 60s\n  queue_samples: true")
    kept = outcome(tmp_path, text).queues
    assert max(max(queue["max_bytes"]) for queue in kept["queues"]) > 10_000


def test_the_command_runs_resumes_and_tells(tmp_path: Path) -> None:
    words = [str(write(tmp_path)), "--quick", "--output", str(tmp_path / "out")]
    done = CliRunner().invoke(experiment, ["run", *words, "--workers", "2"])
    assert done.exit_code == 0, done.output
    assert "0 runs finished, 2 to run" in done.output
    again = CliRunner().invoke(experiment, ["run", *words])
    assert "2 runs finished, 0 to run" in again.output
    told = CliRunner().invoke(experiment, ["status", *words])
    assert "2 runs finished, 0 failed, 0 missing" in told.output
    results = store.load(tmp_path / "out")
    assert [row.axis("transport") for row in results.finished] == ["newreno", "dctcp"]
    assert results.rows[0].quick and results.rows[0].engine_digest == versions().engine
    planned = [point.run.entries for point in points(tmp_path, quick=True)]
    assert [row["entries_digest"] for row in results.rows] == planned


SLOWED = r"its sender slowed down [\d,.]+ us later: window from [\d,]+ B to [\d,]+ B"


def test_one_point_is_traced_by_hop(tmp_path: Path) -> None:
    words = [str(write(tmp_path)), "--quick", "--pcapng", str(tmp_path / "one.pcapng")]
    many = CliRunner().invoke(experiment, ["trace", *words])
    assert (
        many.exit_code == 1
        and "choose one with --only and --seeds: queue=mark, transport=newreno" in many.output
    )
    done = CliRunner().invoke(experiment, ["trace", *words, "--only", "transport=dctcp"])
    assert done.exit_code == 0, done.output
    records = re.search(r"one.pcapng, ([\d,]+) records", done.output)
    assert records and int(records[1].replace(",", "")) > 1000
    assert (tmp_path / "one.pcapng").read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    page = tmp_path / "one.html"
    done = CliRunner().invoke(experiment, ["trace", *words, "--only", "transport=dctcp", "--html", str(page)])
    assert done.exit_code == 0, done.output
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text())
    assert found is not None
    [run] = json.loads(found[1])["runs"]
    after_marks = [one[12] for one in run["details"] if one[3] == "marked"]
    reactions = [text for text in after_marks if re.fullmatch(SLOWED, text)]
    assert reactions and len(reactions) > len(after_marks) / 2
    cut = CliRunner().invoke(experiment, ["trace", *words, "--only", "transport=dctcp", "--hops", "100"])
    assert "events more than the limit of 100 are left out" in cut.output


def test_the_command_names_failed_runs_and_keeps_the_others(tmp_path: Path) -> None:
    text = TINY.replace("{tcp: {algorithm: dctcp}}", "{time_limit: 30ms, tcp: {algorithm: dctcp}}")
    words = [str(write(tmp_path, text)), "--quick", "--output", str(tmp_path / "out"), "--workers", "1"]
    done = CliRunner().invoke(experiment, ["run", *words])
    assert done.exit_code == 1
    assert "1 run failed (the same command tries them again):" in done.output
    assert "queue=mark, transport=dctcp, seed 1: the time limit of 30ms was reached" in done.output
    assert len(store.load(tmp_path / "out").finished) == 1


HOT = """\
name: hot
title: three hosts into one, with and without PFC
base:
  topology: leaf-spine-4
  config:
    - drop_tail
    - profiles: {queue: {edge: {buffer: 60KB, aqm: drop_tail}}}
      roles: {host_facing: {queue: edge}}
      classes: {default: {priority: 3}}
  nic: {eee: "off"}
  tcp: {min_rto: 10ms, delayed_ack: "off"}
  queue_samples: true
  start_jitter: 0s
  workload:
    applications:
      - name: hot
        kind: coflows
        coflows:
          - {name: two, transfers: [{source: h2, destination: h1, size: 4MB}]}
          - {name: three, transfers: [{source: h3, destination: h1, size: 4MB}]}
          - {name: four, transfers: [{source: h4, destination: h1, size: 4MB}]}
  time_limit: 10s
axes:
  pfc:
    without: {}
    lossless: {config: [{profiles: {pfc: {p: {limit: 60KB}}}, classes: {default: {pfc: p}}}]}
seeds: [1]
"""


def test_a_queue_falls_where_packets_are_dropped_and_stays_level_under_pfc(tmp_path: Path) -> None:
    without, lossless = (numbers(tmp_path, HOT, pfc=pfc) for pfc in ("without", "lossless"))
    for column in ("tail_dropped_data", "retransmitted_segments"):
        assert without[column] > 0 == lossless[column], column
    assert lossless["runtime_seconds"] < without["runtime_seconds"]
    assert without["queue_falls"] > lossless["queue_falls"]
    assert lossless["queue_level_share"] > 0.9


def test_cubic_with_ecn_is_marked_and_slows_down(tmp_path: Path) -> None:
    text = HOT.replace("aqm: drop_tail", "aqm: {mark_threshold: 15KB}").replace(
        "tcp: {", "tcp: {algorithm: cubic, ecn: true, "
    )
    found = numbers(tmp_path, text, pfc="without")
    assert found["mark_reductions"] > 0 < found["marked_data"]
    assert numbers(tmp_path, text.replace("ecn: true, ", ""), pfc="without")["mark_reductions"] == 0


INCAST_WITHOUT_DRAWS = """\
name: incast
title: seeds that change nothing
base:
  topology: leaf-spine-4
  config: [drop_tail]
  start_jitter: 0s
  workload: {applications: {i: {kind: incast, client: h1, servers: [h3, h4], size_per_server: 20KB}}}
seeds: [1, 2, 3]
"""


def test_seeds_that_change_nothing_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, INCAST_WITHOUT_DRAWS)
    told = CliRunner().invoke(experiment, ["run", str(path), "--workers", "1", "-o", str(tmp_path / "out")])
    assert told.exit_code == 0, told.output
    assert "warning: seeds 1, 2, 3: the same numbers. This workload has no random draws" in told.stderr


def test_seeds_that_change_something_are_not(tmp_path: Path) -> None:
    path = write(tmp_path, INCAST_WITHOUT_DRAWS.replace("[drop_tail]", "[red_ect]").replace("20KB", "2MB"))
    told = CliRunner().invoke(experiment, ["run", str(path), "--workers", "1", "-o", str(tmp_path / "out")])
    assert told.exit_code == 0 and "the same numbers" not in told.stderr
