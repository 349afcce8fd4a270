"""`eeon config validate`, `explain` and `schema`: for people and for CI, without any switch."""

import json

import eeon_command
import pytest
from eeon_control import schemas

CONFIG = """\
profiles:
  queue:
    q: {buffer: shallow, aqm: mark_threshold}
roles:
  host_facing: {queue: q}
  uplink: {queue: q, eee: standard}
  spine: {queue: q}
"""


def eeon(*arguments: str):
    return eeon_command.eeon("config", *arguments)


@pytest.fixture
def file(tmp_path):
    def write(text: str, name: str = "c.yaml") -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def test_json_is_the_list_of_problems_for_ci(file):
    config = file(CONFIG.replace("eee: standard", "eee: 1ms1000") + "ports: {'leaf1:9': {}}\n")
    result = eeon("validate", "-c", config, "-t", "leaf-spine-4", "-o", "json")
    warning, error = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (warning["file"], warning["line"], warning["key"]) == (config, 6, "roles.uplink.eee")
    assert (warning["value"], warning["severity"]) == ("1ms1000", "warning")
    assert warning["rule"].startswith("a hold of 1ms with ECN marking on a shallow buffer")
    assert (error["line"], error["key"], error["value"]) == (8, "ports.leaf1:9", "leaf1:9")
    assert error["severity"] == "error"


def test_plan_that_the_program_cannot_hold_is_a_problem_too(file):
    topology = file(
        "name: wide\ndefaults: {rate: 10Gbps, delay: 1us}\nleaf_spine: {leaves: 70, hosts_per_leaf: 1, spines: 65}\n",
        "t.yaml",
    )
    result = eeon("validate", "-c", "drop_tail", "-t", topology, "-o", "json")
    [problem] = json.loads(result.stdout)
    assert result.exit_code == 1
    assert "has 65 equal-cost paths" in problem["rule"] and "Set routing.max_paths" in problem["rule"]


def test_explain_tells_the_level_that_won_and_the_line_of_each_value(file):
    config = file(CONFIG + "ports: {'leaf1:3': {eee: 120us100}}\n")
    result = eeon("explain", "leaf1:3", "-c", config, "-t", "leaf-spine-4")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert result.stdout.startswith("leaf1:3  uplink, 10Gbps, to spine1:1\n")
    assert ["ports.leaf1:3.eee", "120us100", "wins", f"{config}:8"] in lines
    assert ["roles.uplink.eee", "standard", "overruled", f"{config}:6"] in lines
    assert ["threshold", "97.5KB", "auto:"] in [line[:3] for line in lines]


def test_explain_as_json(file):
    result = eeon("explain", "h1", "-c", file(CONFIG), "-t", "leaf-spine-4", "-o", "json")
    shown = json.loads(result.stdout)
    assert (shown["port"], shown["role"], shown["rate_bps"]) == ("h1:0", "host", 10**9)
    assert shown["settings"] == [
        {"key": "eee.mode", "value": "off", "from": "preset off", "file": None, "line": None}
    ]


@pytest.mark.parametrize("kind", list(schemas.MODELS))
def test_schema_prints_the_schema(kind):
    result = eeon("schema", kind)
    assert result.exit_code == 0
    assert json.loads(result.stdout) == schemas.schema(kind)
