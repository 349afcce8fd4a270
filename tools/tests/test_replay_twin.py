"""Replays through a real twin: the engine runs the P4 program, the controller configures it over
P4Runtime."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from eeon_control import topology as topologies
from eeon_tools.cli.demo import demo
from eeon_tools.cli.replay import replay as replay_command
from eeon_tools.demo import runs as demo_runs
from eeon_tools.errors import ReplayError, TraceError
from eeon_tools.replay.result import RunResult
from eeon_tools.replay.twin_run import ReplaySettings, replay
from eeon_tools.trace import manifest as manifests
from eeon_tools.trace.generate import Workload, generate
from eeon_tools.trace.senders import SenderSettings
from made_jobs import peak_kib, small_job
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

pytestmark = pytest.mark.system


def run(trace: Path, *config: str, **options: object) -> RunResult:
    return replay(ReplaySettings("test", trace, "leaf-spine-4", config, **options))  # type: ignore[arg-type]


def comparable(result: RunResult) -> RunResult:
    return dataclasses.replace(result, wall_seconds=0.0)


def test_a_trace_that_congests_nothing_is_delivered_whole(small_trace: Path) -> None:
    manifest = manifests.read(small_trace)
    assert manifest is not None
    result = run(small_trace, "drop_tail", speed=0.05)
    assert {name: found.delivered for name, found in result.packets.items()} == manifest.packets
    assert result.total().dropped == 0
    assert result.reordered == 0
    # Two links at 1 Gbit/s are on every path, and a full frame takes 12 us on each.
    data = result.latency_us["data"]
    assert data.p50 is not None and data.p50 > 24.0


def test_the_same_replay_gives_the_same_result(incast: Path) -> None:
    first, second = (run(incast, "red_ect", "eee_120us100") for _ in range(2))
    assert comparable(first) == comparable(second)


def test_a_replay_does_not_depend_on_how_soon_its_switches_answer(
    small_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for deadline in (
        "finsy.p4client._DEFAULT_RPC_TIMEOUT",
        "eeon_control.fabric.session.ANSWER_SECONDS",
        "eeon_control.fabric.session.LOAD_SECONDS",
    ):
        monkeypatch.setattr(deadline, 1e-6)
    assert run(small_trace, "drop_tail", speed=0.05).total().delivered > 0


def test_coalescing_saves_energy_and_costs_latency(incast: Path) -> None:
    off, standard, coalesced = (
        run(incast, "mark_threshold", f"eee_{eee}") for eee in ("off", "standard", "120us100")
    )
    assert off.energy_joules.used == pytest.approx(off.energy_joules.legacy)
    assert off.energy_joules.used > standard.energy_joules.used > coalesced.energy_joules.used
    assert coalesced.energy_joules.used > coalesced.energy_joules.ideal
    assert off.wakes == 0 < coalesced.wakes < standard.wakes
    assert {result.phy_violations for result in (off, standard, coalesced)} == {0}
    medians = [result.latency_us["ack"].p50 for result in (off, standard, coalesced)]
    assert None not in medians
    assert medians == sorted(medians)  # type: ignore[type-var]


def test_ipv6_goes_the_same_way(tmp_path: Path) -> None:
    path = tmp_path / "six.pcapng"
    manifest = generate(path, topologies.load("leaf-spine-4"), small_job(), SenderSettings(ipv6=True), 7)
    result = run(path, "drop_tail")
    assert result.total().delivered + result.total().tail_dropped == sum(manifest.packets.values())


def test_a_manifest_of_another_file_is_refused(small_trace: Path) -> None:
    content = bytearray(small_trace.read_bytes())
    content[-1] ^= 1
    small_trace.write_bytes(content)
    with pytest.raises(TraceError, match=r"manifest\.json: \$\.sha256: belongs to another file"):
        run(small_trace, "drop_tail")


def test_the_command_prints_a_table_and_writes_json_and_a_page(incast: Path, tmp_path: Path) -> None:
    command = [str(incast), "-c", "mark_threshold", "-c", "eee_standard"]
    command += ["--json", str(tmp_path / "a" / "r.json"), "--html", str(tmp_path / "r.html")]
    done = CliRunner().invoke(replay_command, command)
    assert done.exit_code == 0, done.output
    assert "deepest queue" in done.output
    document = json.loads((tmp_path / "a" / "r.json").read_text())
    assert document["packets"]["data"]["marked"] > 0
    assert (tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>")


def test_a_run_that_delivers_late_says_that_its_joules_are_of_more_time(incast: Path, tmp_path: Path) -> None:
    late = tmp_path / "late.yaml"
    roles = ", ".join(f"{role}: {{eee: late}}" for role in ("host_facing", "uplink", "spine", "host"))
    late.write_text(f"profiles: {{eee: {{late: {{mode: coalesce, hold: 20ms}}}}}}\nroles: {{{roles}}}\n")
    page = tmp_path / "r.html"
    for eee, overtime in (("eee_standard", False), (str(late), True)):
        done = CliRunner().invoke(
            replay_command, [str(incast), "-c", "mark_threshold", "-c", eee, "--html", str(page)]
        )
        assert done.exit_code == 0, done.output
        assert ("not its joules" in done.output, "not its joules" in page.read_text()) == (overtime, overtime)


def test_drops_that_no_queue_had_to_do_with_are_told_with_their_reasons(tmp_path: Path) -> None:
    trace = tmp_path / "t.pcap"
    whole = Ether() / IP(src="10.0.1.1", dst="10.0.2.1") / UDP()
    wrong, away = whole.copy(), whole.copy()
    wrong[IP].chksum, away[IP].dst = 1, "10.0.2.99"
    wrpcap(str(trace), [wrong, whole, away, wrong])
    words = [str(trace), "-t", "leaf-spine-4", "-c", "drop_tail"]
    done = CliRunner().invoke(replay_command, [*words, "--json", str(tmp_path / "r.json")])
    assert (
        "note: drop_tail: other drops: 2 malformed, 1 no route; `eeon explain t.pcap --first" in done.output
    )
    result = json.loads((tmp_path / "r.json").read_text())
    assert result["other_drops"] == {"malformed": 2, "no_route": 1}
    assert result["packets"]["other"]["other_dropped"] == 3


def test_warnings_of_the_configurations_are_told_once(tmp_path: Path) -> None:
    trace, small = tmp_path / "t.pcap", tmp_path / "small.yaml"
    wrpcap(str(trace), Ether() / IP(src="10.0.1.1", dst="10.0.2.1") / UDP())
    small.write_text("profiles: {queue: {q: {buffer: 1KB, aqm: drop_tail}}}\nroles: {uplink: {queue: q}}\n")
    words = [str(trace), "-t", "leaf-spine-4", "-c", str(small), "--compare", f"{small}+eee_standard"]
    told = CliRunner().invoke(replay_command, words).stderr
    assert told.count("warning: profiles.queue.q.buffer: 1KB: is smaller than a full frame") == 1


def test_transmitters_whose_power_is_not_known_are_told_and_are_not_without_energy(tmp_path: Path) -> None:
    trace, fabric = tmp_path / "t.pcap", tmp_path / "fast.yaml"
    wrpcap(str(trace), Ether() / IP(src="10.0.1.1", dst="10.0.2.1") / UDP())
    form = "name: fast\nleaf_spine: {{leaves: 2, hosts_per_leaf: 1, spines: 1, host_link: {{rate: {0}}}, "
    form += "uplink: {{rate: 25Gbps}}}}\ndefaults: {{delay: 1us}}\n"
    words = [str(trace), "-t", str(fabric), "-c", "drop_tail"]
    note = "note: drop_tail: the power of 4 transmitters is not known; the energy is of the others"
    fabric.write_text(form.format("10Gbps"))
    assert note in CliRunner().invoke(replay_command, words).stdout
    fabric.write_text(form.format("25Gbps"))
    compared = CliRunner().invoke(replay_command, [*words, "--compare", "eee_off"]).stdout
    assert "0.0" not in compared and note not in compared


# `make test` runs it from wheels: release/tests/test_wheels.py.
@pytest.mark.nightly
def test_the_demo_writes_twelve_runs_and_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_runs, "JOB", dataclasses.replace(demo_runs.JOB, maps=8))
    done = CliRunner().invoke(demo, ["-o", str(tmp_path)])
    assert (tmp_path / "summary.json").exists(), done.output
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [(one["aqm"], one["eee"]) for one in summary["runs"]] == [
        (one.aqm, one.eee) for one in demo_runs.RUNS
    ]
    assert (
        len({json.dumps({name: p["sent"] for name, p in one["packets"].items()}) for one in summary["runs"]})
        == 1
    )
    assert (tmp_path / "report.html").exists()
    assert done.exit_code == 0, done.output


def test_a_fabric_beyond_the_engines_limits_ends_in_a_message_with_the_place(
    tmp_path: Path, incast: Path
) -> None:
    held = tmp_path / "held.yaml"
    held.write_text("profiles:\n  eee: {long: {mode: coalesce, hold: 1050s}}\nroles:\n  host: {eee: long}\n")
    with pytest.raises(ReplayError, match=r"cannot run this fabric: .*longer than 1000 s"):
        replay(ReplaySettings("held", incast, "leaf-spine-4", ("drop_tail", str(held))))


def test_a_result_that_could_not_be_written_is_known_before_the_run(
    tmp_path: Path, incast: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eeon_tools.replay.twin_run.replay", lambda *_: pytest.fail("it ran"))
    (tmp_path / "file").write_text("")
    words = [str(incast), "-c", "drop_tail", "--json", str(tmp_path / "file" / "result.json")]
    done = CliRunner().invoke(replay_command, words)
    assert done.exit_code == 1
    assert str(tmp_path / "file") in done.output


_PEAK_OF_A_REPLAY = """
import sys
from pathlib import Path
from eeon_tools.replay.twin_run import ReplaySettings, replay
replay(ReplaySettings("peak", Path(sys.argv[1]), "leaf-spine-4", ("mark_threshold",)))
"""


@pytest.mark.nightly
def test_memory_of_a_replay_does_not_grow_with_its_length(
    made_trace: Callable[[Workload, int], Path],
) -> None:
    def peak(maps: int) -> int:
        return peak_kib(_PEAK_OF_A_REPLAY, made_trace(dataclasses.replace(demo_runs.JOB, maps=maps), 1))[0]

    assert peak(240) < peak(24) + 30_000
