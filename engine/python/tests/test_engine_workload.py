"""Applications in a twin: starts, waits and reports from Python, and refused descriptions."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from eeon_engine import ConfigError, Program, Twin
from eeon_engine.p4runtime import serve
from made_fabrics import GATES, fabric
from p4rt_client import INSERT, Names, admit_all, primary
from test_engine_twin import route

pytestmark = pytest.mark.system

SECOND = 1_000_000_000_000
HOSTS = 4


@pytest.fixture
def twin(fabric_program: Program, fabric_names: Names) -> Iterator[Twin]:
    """Returns a twin whose switch has routes to all hosts."""
    made = Twin(fabric_program, json.dumps(fabric(HOSTS) | GATES))
    with (
        serve(made.switch("leaf1"), p4info=fabric_names.info) as server,
        primary(server.address, device_id=3) as client,
    ):
        client.write(admit_all(fabric_names))
        for n in range(1, HOSTS + 1):
            client.write((INSERT, route(fabric_names, n)))
        yield made


def coflow(size: int = 1_000_000) -> dict[str, Any]:
    transfers = [{"source": f"h{n}", "destination": "h1", "bytes": size} for n in (2, 3, 4)]
    return {"kind": "coflows", "name": "incast", "coflows": [{"name": "c1", "transfers": transfers}]}


def workload(*applications: dict[str, Any], **more: Any) -> str:
    return json.dumps({"seed": 1, "applications": list(applications)} | more)


def test_a_run_that_ends_before_its_workload_says_so(twin):
    assert not twin.run_workload(1000)
    twin.start_workload(workload(coflow()))
    assert not twin.run_workload(SECOND // 100)
    assert twin.now_ps == SECOND // 100
    told = json.loads(twin.report())["workload"]
    assert told["finished"] is False and told["finished_ps"] is None
    assert twin.run_workload() and json.loads(twin.report())["workload"]["flows"]["finished"] == 3


def test_a_second_workload_is_refused(twin):
    twin.start_workload(workload(coflow()))
    with pytest.raises(ConfigError, match="one workload"):
        twin.start_workload(workload(coflow()))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"seed": -1, "applications": []}', "invalid value"),
        (workload(coflow(0)), r"coflows\[0\].transfers\[0\].bytes: 0: must be 1 to"),
        (workload(coflow(), tcp={"algorithm": "reno"}), 'workload tcp: tcp: "reno" is not known'),
    ],
)
def test_a_description_with_a_mistake_names_it_and_starts_nothing(fabric_program, text, told):
    twin = Twin(fabric_program, json.dumps(fabric(HOSTS)))
    with pytest.raises(ConfigError, match=told):
        twin.start_workload(text)
    assert "workload" not in json.loads(twin.report())
    assert twin.run_to_idle() and twin.now_ps == 0
