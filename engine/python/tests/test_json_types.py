"""The JSON between Rust and Python has one definition, in Rust; Python's types are made from its schema."""

import functools
import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from eeon_engine import LiveSwitch, Port, Program, Switch, json_documents
from made_fabrics import fabric
from test_engine_workload import HOSTS, SECOND, coflow, twin

ENGINE = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ENGINE / "schema/schema.json").read_text())
PROBE = ENGINE / "simple_switch/tests/p4/probe.json"
EEON = ENGINE.parent / "p4src/compiled/eeon.json"

__all__ = ["twin"]  # the fixture

WORKLOAD = """
{"seed": 1, "tcp": {"algorithm": "dctcp"}, "applications": [
  {"kind": "mapreduce", "name": "hadoop", "jobs": [
    {"name": "sort", "maps": 6, "reducers": 3,
     "input_bytes": 6000000, "shuffle_bytes": 6000000, "output_bytes": 6000000}]},
  {"kind": "rpc", "name": "probes", "pairs": [["h1", "h2"]], "request_bytes": 100, "response_bytes": 100,
   "mean_interval_ps": 10000000000, "connection": "persistent", "duration_ps": 1000000000000},
  {"kind": "incast", "name": "queries", "client": "h1", "servers": ["h2", "h3"],
   "bytes_per_server": 10000, "rounds": 5, "think_ps": 1000000000},
  {"kind": "poisson", "name": "frames", "duration_ps": 10000000000,
   "flows": [{"source": "h1", "destination": "h2", "load": 0.1, "frame_bytes": 1000}]}]}
"""


@functools.cache
def definitions() -> dict[str, Any]:
    """Returns the schema's definitions, which allow no other members."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return {
        defined: schema | {"unevaluatedProperties": False} if "properties" in schema else schema
        for defined, schema in SCHEMA["$defs"].items()
    }


def check(document: object, name: str) -> None:
    """Checks that the document has exactly the members in the schema, with the schema's types."""
    whole = {"$ref": f"#/$defs/{name}", "$defs": definitions()}
    jsonschema.Draft202012Validator(whole).validate(document)


@pytest.mark.system
def test_the_python_types_in_the_repository_are_those_of_the_schema():
    pytest.importorskip("datamodel_code_generator", reason="`make setup` installs it")
    sys.path.insert(0, str(ENGINE / "schema"))
    import python_types

    is_fresh = (ENGINE / "python/eeon_engine/json_types.py").read_text() == python_types.python_types()
    assert is_fresh, "json_types.py is not of engine/schema/schema.json: run `make reference` and commit both"


@pytest.mark.system
def test_a_report_with_every_kind_of_application_is_of_its_type(twin):
    workload = json.loads(WORKLOAD)
    workload["applications"].insert(0, coflow(1000))
    check(workload, "WorkloadSpec")
    json_documents.start_workload(twin, workload)
    assert twin.run_workload(100 * SECOND)
    report = json_documents.twin_report(twin)
    check(report, "Report")
    assert len(report["hosts"]) == HOSTS
    kinds = [application["kind"] for application in report["workload"]["applications"]]
    assert kinds == ["coflows", "mapreduce", "rpc", "incast", "poisson"]


def test_a_fabric_is_read_with_every_member_that_its_type_has(fabric_program):
    full: Any = fabric(HOSTS)
    full |= {"tick_ps": 1000, "cpu_port": 510, "drop_port": 511, "gate_register": None}
    full |= {
        "recirculation_delay_ps": 1,
        "queue_limit_packets": 64,
        "priorities": 8,
        "class_gate_register": None,
        "timer_register": None,
        "nic_classes": {"dscp": [{"dscp": 26, "priority": 3}], "default_priority": 0, "pausable": [3]},
        "quanta": [{"priority": 3, "bytes": 6_000}],
    }
    full |= {"queue_samples": {"period_ps": 1000, "max": 2}}
    eee = {"stall_ps": 0, "hold_ps": 0, "trigger_packets": 0, "trigger_bytes": 0}
    aqm = {"mode": "mark_threshold", "threshold_bytes": 1, "l4s_threshold_bytes": 1, "at_dequeue": False}
    full["nic"] = {"eee": eee, "buffer_bytes": 1_000_000, "aqm": aqm}
    timings = {"watts": 0.5, "lpi_fraction": 0.1, "sleep_ps": 182_000_000, "wake_ps": 16_500_000}
    full["phy"] = [{"rate_bps": full["links"][0]["rate_bps"], **timings}]
    full["links"][0]["a"]["eee"] = {"stall_ps": 0}
    full["hosts"][0] |= {"ipv6": "fd00::1", "nic": {}}
    full["host_delay"] = {"tx_ps": 0, "rx_ps": 0}
    scheduler = {"kind": "fca", "order": "remaining", "work_conserving": False, "preempt": False}
    scheduler |= {"mice_bytes": 0, "floor_bps": 1000, "floor_reserve_ppm": 1000, "capacity_ppm": 900_000}
    scheduler |= {"report_delay_ps": 1, "decide_delay_ps": 2, "enforce_delay_ps": 3}
    full["scheduler"] = None
    full["faults"] = [{"node": full["hosts"][0]["name"], "port": None, "at_ps": 1, "until_ps": None}]
    for name, given in (("FabricSpec", full), ("SchedulerSpec", scheduler)):
        assert set(given) == set(SCHEMA["$defs"][name]["properties"])
    # A scheduler is for NICs that do not sleep.
    for spec in (full, fabric(HOSTS, scheduler=scheduler)):
        check(spec, "FabricSpec")
        json_documents.make_twin(fabric_program, spec)


@pytest.mark.slow
@pytest.mark.parametrize(("program", "tells"), [(PROBE, {"action", "set"}), (EEON, {"table", "select"})])
def test_a_journey_and_the_counts_of_a_switch_are_of_their_types(program, tells):
    switch = Switch(Program(program.read_bytes(), for_tracing=True), ports=[Port(n) for n in range(8)])
    ip = bytes(12) + bytes.fromhex("0800 4500 0028 0000 0000 4011 66b5 0a000101 0a000102") + bytes(20)
    events = set()
    for tag, frame in enumerate((ip, b"\xff" * 80, bytes(60)), start=1):
        switch.follow(tag)
        switch.inject(1, frame, tag=tag)
        switch.advance_to(switch.now_ps + SECOND)
        journey = json_documents.take_journey(switch)
        check(journey, "Journey")
        for step in journey["steps"]:
            if step["step"] in ("parsed", "ingress"):
                events |= {event["event"] for event in step["events"]}
    assert tells <= events
    check(switch.stats(), "SwitchStats")
    check(switch.port_stats(1), "PortStats")


def test_the_counts_of_a_live_switch_are_of_their_type():
    check(LiveSwitch(interfaces=[]).io_counts(), "LiveCounts")
