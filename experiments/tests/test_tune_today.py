"""`eeon tune --from-targets`: the switches' state as a configuration, and the load from their counters."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from eeon_control import config as configs
from eeon_control import fabric, topology
from eeon_control import program as programs
from eeon_control.errors import FabricError, InputError
from eeon_control.fabric.diff import difference
from eeon_control.fabric.planning import with_defaults
from eeon_control.fabric.read import FabricCounters, FabricObservation, Observation, ReceivedCount
from eeon_control.plan import intended
from eeon_control.sources import Document
from eeon_control.units import Duration
from eeon_experiments.store import Store
from eeon_experiments.tune import files, today
from eeon_experiments.tune.bench import Bench
from eeon_experiments.tune.files import BASELINE
from eeon_experiments.tune.today import METRIC, Load, Today
from eeon_tools.errors import InputError as BadFile
from made_experiments import TEXTS
from test_tune import VERSIONS, made, valley, write

from control_plane.tests.eeon_command import eeon
from control_plane.tests.engine_switches import serving

FABRIC = topology.load("leaf-spine-4")
TICK = Duration(1000)
FLOWS = TEXTS["search under web search"]


def held(config: configs.FabricConfig) -> dict[str, tuple[object, ...]]:
    """Returns the state of switches with this configuration."""
    return with_defaults(intended(FABRIC, config, TICK), programs.load().schema())


def counted(sent: Mapping[str, int], at_seconds: float) -> FabricObservation:
    """Returns a reading with the bytes that each host has sent."""
    switches = {}
    for name in FABRIC.switches:
        received = tuple(
            ReceivedCount(name, host.port.peer.port, "data", sent[host.name] // 1000, sent[host.name])
            for host in FABRIC.hosts.values()
            if host.port.peer.node == name
        )
        switches[name] = Observation(int(at_seconds * 10**12), counters=FabricCounters(received, ()))
    return FabricObservation(switches, {})


def read_back(config: configs.FabricConfig, more: Mapping[str, object]) -> list[str]:
    """Reads what switches with this configuration hold as a configuration, checks that it means the same, and
    returns it in words. `more`: what the search's own file says."""
    there = held(config)
    read, words = today.configuration(FABRIC, there, TICK)
    over = Document.of_value({**read, **more}, "read")
    again = held(configs.from_document(configs.read("drop_tail").merged_with(over)))
    assert all(not difference(there[name], again[name]) for name in there)
    return words


@pytest.mark.parametrize(
    "names",
    [
        ("drop_tail", "eee_off"),
        ("red_ect", "eee_standard"),
        ("red_ack_syn", "eee_120us100"),
        ("mark_threshold", "eee_1ms1000"),
        ("codel", "eee_12us10"),
        ("dctcp", "eee_off"),
    ],
)
def test_what_switches_hold_becomes_a_configuration_that_means_the_same(names):
    words = read_back(configs.load(*names), {})
    assert words and all("ports" in one for one in words)


@pytest.mark.parametrize(
    "aqm",
    [
        "{mode: red, min: 5KB, max: 15KB, max_probability: 2%, average_weight: 1/512, mean_packet: 700B}",
        "{mode: red, min: 5pkt, max: 15pkt, max_probability: 3.3%, by_size: true, ecn: false, protect: ece}",
        "{mode: red, min: 65pkt, max: 65pkt, max_probability: 100%}",
        "{mode: red, min: 5pkt, max: 500pkt, max_probability: 0.00005%}",
        "{mode: red, min: 5pkt, max: 15pkt, max_probability: 33.33333%}",
        "{mode: mark_threshold, threshold: 30KB, l4s_threshold: 5KB, at: dequeue}",
    ],
)
def test_every_key_of_an_aqm_is_read_back(aqm):
    text = f"profiles: {{queue: {{fabric: {{buffer: 300KB, held_packets: outside, aqm: {aqm}}}}}}}\n"
    every = "roles: {host_facing: {queue: fabric}, uplink: {queue: fabric}, spine: {queue: fabric}}\n"
    read_back(configs.from_text(text + every), {})


CLASSES = "classes: {urgent: {priority: 6, dscp: [46]}}\n"


@pytest.mark.parametrize("scope", ["queue", "port"])
def test_what_an_aqm_compares_is_read_back(scope):
    profile = f"profiles: {{queue: {{fabric: {{scope: {scope}}}}}}}\n"
    classes = yaml.safe_load(CLASSES)
    words = read_back(configs.overridden(configs.load("red_ect"), yaml.safe_load(profile) | classes), classes)
    assert all(" ports red " in one for one in words)


def test_queues_with_different_aqms_are_named():
    own = "profiles: {queue: {fabric: {class_aqm: {urgent: drop_tail}}}}\n"
    there = held(configs.overridden(configs.load("red_ect"), yaml.safe_load(own + CLASSES)))
    with pytest.raises(FabricError, match=r"leaf1:1: .* \(by queue: 0 red .*; 6 drop_tail\)"):
        today.configuration(FABRIC, there, TICK)


def test_a_port_that_holds_nothing_is_named():
    with pytest.raises(FabricError, match=r"leaf1:1: has no buffer, AQM or EEE .* topology leaf-spine-4"):
        today.configuration(FABRIC, dict.fromkeys(FABRIC.switches, ()), TICK)


def test_the_load_is_the_payload_that_came_from_each_host_between_two_readings():
    link = int(next(iter(FABRIC.hosts.values())).port.rate) // 8
    before = dict.fromkeys(FABRIC.hosts, 1000)
    after = {"h1": 1000 + link, "h2": 1000, "h3": 1000 + link, "h4": 1000}
    load = today.of_counters(FABRIC, counted(before, 5), counted(after, 7))
    payload = 1460 / 1514
    assert load.seconds == 2
    assert load.hosts == pytest.approx({"h1": payload / 2, "h2": 0, "h3": payload / 2, "h4": 0})
    assert load.words() == "Hosts send 24.11% of their links (h2 0.00% to h1 48.22%), over 2 s"


@pytest.mark.parametrize(
    ("later", "said"),
    [
        ({}, "the counters did not change: no host sent data in two readings"),
        ({"h1": 3000, "h3": 10}, "leaf2: restarted, or loaded its program again, between the two readings"),
    ],
)
def test_counters_that_give_no_load_are_said_to(later, said):
    before = dict.fromkeys(FABRIC.hosts, 1000)
    with pytest.raises(FabricError, match=said):
        today.of_counters(FABRIC, counted(before, 5), counted(before | later, 15))


def prometheus(folder: Path, values: Mapping[str, list[int]]) -> Path:
    """Returns an answer to query_range with these samples of each host's port, one second apart."""
    result = [
        {
            "metric": {
                "__name__": METRIC,
                "switch": host.port.peer.node,
                "port": str(host.port.peer.port),
                "class": "data",
            },
            "values": [[100 + at, str(value)] for at, value in enumerate(values[name])],
        }
        for name, host in FABRIC.hosts.items()
        if name in values
    ]
    path = folder / "range.json"
    path.write_text(json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}))
    return path


def test_a_range_of_prometheus_is_a_load_also_across_a_restart_of_a_counter(tmp_path):
    link = int(next(iter(FABRIC.hosts.values())).port.rate) // 8
    still = [7, 7, 7]
    path = prometheus(tmp_path, {"h1": [5, 5 + link // 2, link // 2], "h2": still, "h3": still, "h4": still})
    load = today.of_range(FABRIC, path)
    assert load.seconds == 2
    assert load.hosts["h1"] == pytest.approx(1460 / 1514 / 2)


def test_a_range_without_a_hosts_port_or_of_another_form_is_refused(tmp_path):
    with pytest.raises(FabricError, match="no counts for the port of h2"):
        today.of_range(FABRIC, prometheus(tmp_path, {"h1": [1, 2]}))
    path = tmp_path / "other.json"
    whole = prometheus(tmp_path, {name: [1, 2] for name in FABRIC.hosts}).read_text()
    summed, unknown = (whole.replace(old, new) for old, new in (('"port": "1", ', ""), ('"2"', '"NaN"')))
    for text in ("[]", "{", '{"data": {"result": [{"metric": {}}]}}', summed, unknown):
        assert text != whole
        path.write_text(text)
        with pytest.raises(BadFile, match="is not Prometheus' answer to query_range"):
            today.of_range(FABRIC, path)
    path.write_text('{"data": {"result": []}}')
    with pytest.raises(BadFile, match=f"has no {METRIC} of class data"):
        today.of_range(FABRIC, path)


def begun(folder: Path, text: str, share: float = 0.37) -> files.Tune:
    there = held(configs.load("red_ect"))
    read, words = today.configuration(FABRIC, there, TICK)
    load = Load(dict.fromkeys(FABRIC.hosts, share), 10.0)
    return today.begun(files.load(write(folder, text)), Today(read, words, load, there, TICK))


def test_what_runs_is_the_baseline_and_its_load_that_of_every_setting(tmp_path):
    tune = begun(tmp_path, FLOWS)
    bench = Bench(tune, Store(tmp_path / "out", "small", quick=False), VERSIONS, made(valley))
    bench.add(BASELINE, tune.held)
    bench.add("t001")
    runs = [bench.points(name, 1)[0].run for name in (BASELINE, "t001")]
    assert [run.parts()[2].settings_of(FABRIC.port("leaf1:1")).queue.aqm.mode for run in runs] == [
        "red",
        "drop_tail",
    ]
    assert all('"load": "37%"' in json.dumps(run.settings) for run in runs)
    today.check(runs[0], tune.today)
    with pytest.raises(FabricError, match=r"leaf1: .* entries differ from those of .*\(port_aqm\)"):
        today.check(runs[1], tune.today)


def test_the_load_of_a_fabric_that_is_almost_idle_is_one_that_a_run_takes(tmp_path):
    load = begun(tmp_path, FLOWS, 3e-7).measured["base"].get(("workload", "applications", "web", "load"))
    assert load == "0.00003%"


def test_a_workload_without_a_load_cannot_take_the_measured_one(tmp_path):
    web = "web: {kind: flows, sizes: websearch, load: 5%, duration: 100ms}"
    said = "no application of kind flows has a load that the measured one, 37"
    with pytest.raises(InputError, match=said):
        begun(tmp_path, FLOWS.replace(web, "x: {kind: incast}"))


@contextlib.contextmanager
def switches(*names: str) -> Iterator[dict[str, str]]:
    """Runs engine switches with this configuration, and yields their addresses by name."""
    with serving(FABRIC) as (_, found):
        fabric.apply_sync(FABRIC, configs.load(*names), found, int(TICK))
        yield found


def search(folder: Path, addresses: Mapping[str, str], *words: str, code: int) -> str:
    path = folder / "targets.yaml"
    path.write_text(f"tick: 1ns\nswitches: {json.dumps(dict(addresses))}\n")
    asked = ("tune", str(write(folder, FLOWS)), "--from-targets", str(path), "--dry-run")
    return eeon(*asked, *words, code=code).output


@pytest.mark.system
def test_a_search_begins_with_switches_that_run_something_else_than_its_file_says(tmp_path):
    busy = prometheus(tmp_path, {name: [0, 10_000_000] for name in FABRIC.hosts})
    with switches("red_ect", "eee_120us100") as addresses:
        done = search(tmp_path, addresses, "--range", str(busy), code=0)
        assert "What runs on 4 switches: 4 ports red 13pkt..38pkt" in done
        assert "Hosts send 7.71% of their links" in done
        assert "baseline, mark_auto, c_rtt_7, sonic_azure" in done
        still = search(tmp_path, addresses, "--over", "10ms", code=1)
        assert "the counters did not change" in still
        addresses["leaf2"] = "127.0.0.1:9"
        silent = search(tmp_path, addresses, "--range", str(busy), code=1)
        assert "leaf2" in silent and "cannot be reached" in silent


@pytest.mark.system
def test_switches_with_classes_that_the_file_does_not_have_are_refused(tmp_path):
    busy = prometheus(tmp_path, {name: [0, 10_000_000] for name in FABRIC.hosts})
    path = tmp_path / "classes.yaml"
    path.write_text("classes: {storage: {priority: 3, dscp: [26]}}\n")
    with switches("red_ect", str(path)) as addresses:
        done = search(tmp_path, addresses, "--range", str(busy), code=1)
    assert "entries differ from those of topology leaf-spine-4" in done
    assert len(done.splitlines()) == 1
