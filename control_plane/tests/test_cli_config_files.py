"""`eeon config validate`, `explain` and `schema`: for people and for CI, without any switch."""

from __future__ import annotations

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


def test_valid_configuration_says_what_thresholds_it_leaves_to_the_rule(file):
    path = file(CONFIG)
    result = eeon("validate", "-c", path, "-t", "leaf-spine-4")
    assert result.exit_code == 0
    assert result.stdout == (
        f"{path} on leaf-spine-4: valid; 72 entries on 4 switches\n"
        "queue profile q: threshold auto is 30KB at 1Gbps, 97.5KB at 10Gbps\n"
    )


def test_mistake_of_the_schema_hides_no_switch_and_port_that_is_not_there(file):
    path = file(
        CONFIG.replace("buffer", "bufer")
        + 'switches: {leaf9: {queue: q}, leaf1: {queue: q}}\nports: {"leaf1:99": {queue: q}}\n'
    )
    result = eeon("validate", "-c", path, "-t", "leaf-spine-4")
    assert result.exit_code == 1
    assert "unknown key (did you mean buffer?)" in result.stderr
    assert "switches.leaf9" in result.stderr and "has no switch of that name" in result.stderr
    assert "leaf1:99: topology leaf-spine-4 has no linked switch port of that name" in result.stderr
    assert "switches.leaf1:" not in result.stderr


def test_problems_of_all_files_are_told_at_once(file):
    config = file(CONFIG.replace("buffer", "bufer").replace("eee: standard", "eee: standrad"))
    topology = file(
        "name: x\nleaf_spine: {leaves: 1, hosts_per_leaf: 1, spines: 0, host_link: {rate: 3}}", "t.yaml"
    )
    targets = file("tick: 0us\nswitches: {}\n", "targets.yaml")
    result = eeon("validate", "-c", config, "-t", topology, "-T", targets)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert (
        f"{config}:3: error: profiles.queue.q.bufer: shallow: unknown key (did you mean buffer?)"
        in result.stderr
    )
    assert f"{config}:6: error: roles.uplink.eee: standrad: unknown eee profile" in result.stderr
    assert "(did you mean standard?)" in result.stderr
    assert (
        f"{topology}:2: error: leaf_spine.host_link.rate: 3: 3 is not a bit rate with a unit" in result.stderr
    )
    assert f"{targets}:1: error: tick: 0us: must be above zero" in result.stderr


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
    assert json.loads(eeon("validate", "-c", file(CONFIG), "-t", "leaf-spine-4", "-o", "json").stdout) == []


def test_strict_makes_warnings_errors(file):
    config = file(CONFIG.replace("eee: standard", "eee: 1ms1000"))
    arguments = ("validate", "-c", config, "-t", "leaf-spine-4")
    assert eeon(*arguments).exit_code == 0
    assert "valid" in eeon(*arguments).stdout
    strict = eeon(*arguments, "--strict")
    assert (strict.exit_code, strict.stdout) == (1, "")
    assert "warning: roles.uplink.eee: 1ms1000: a hold of 1ms" in strict.stderr


def test_targets_give_the_tick_and_are_held_against_the_topology(file):
    config = file(CONFIG)
    targets = file("tick: 1us\nswitches: {leaf1: '127.0.0.1:1'}\n", "targets.yaml")
    result = eeon("validate", "-c", config, "-t", "leaf-spine-4", "-T", targets)
    assert result.exit_code == 1
    assert f"{targets}: error: no target for leaf2, spine1, spine2" in result.stderr
    assert (
        "times are rounded up to this target's 1us tick: sleep 2.88us to 3us, wake 4.48us to 5us"
        in result.stderr
    )


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


def test_explain_of_a_port_that_is_not_there_suggests_one():
    result = eeon("explain", "leef1:3", "-c", "drop_tail", "-t", "leaf-spine-4")
    assert result.exit_code == 1
    assert "leef1:3: leaf-spine-4 has no such port or host (did you mean leaf1:3?)" in result.stderr


@pytest.mark.parametrize("kind", list(schemas.MODELS))
def test_schema_prints_the_schema(kind):
    result = eeon("schema", kind)
    assert result.exit_code == 0
    assert json.loads(result.stdout) == schemas.schema(kind)
