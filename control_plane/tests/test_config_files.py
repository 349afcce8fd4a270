"""Configuration files: levels, presets, merging. For mistakes, see `expected/configuration.yaml`."""

from pathlib import Path

import pytest
from eeon_control import config, data, topology
from eeon_control.errors import InputError, Severity
from eeon_control.units import Duration
from expected_rows import bases
from hypothesis import given
from hypothesis import strategies as st

NS = Duration.parse("1ns")
FABRIC = topology.load("leaf-spine-4")

BASE = bases(Path(__file__).parent / "expected" / "configuration.yaml")["plain"]


def test_overridden_changes_keys_and_checks_them():
    loaded = config.overridden(config.from_text(BASE), {"roles.uplink.eee": "120us100", "routing.seed": 7})
    assert (loaded.roles.uplink.eee, loaded.routing.seed, loaded.roles.spine.queue) == ("120us100", 7, "q")
    with pytest.raises(InputError, match=r"<override>: error: routing.seed: -7"):
        config.overridden(loaded, {"routing.seed": -7})


LEVELS = ("ports.leaf1:3.eee", "switches.leaf1.eee", "roles.uplink.eee")


@given(st.dictionaries(st.sampled_from(LEVELS), st.sampled_from(["standard", "12us10", "120us100", "off"])))
def test_most_specific_level_wins(named):
    loaded = config.overridden(config.from_text(BASE), named)
    for port, levels in (("leaf1:3", LEVELS), ("leaf1:4", LEVELS[1:]), ("leaf2:3", LEVELS[2:])):
        expected = next((named[level] for level in levels if level in named), "off")
        assert loaded.settings_of(FABRIC.port(port)).eee_name == expected


@pytest.mark.parametrize("name", data.names("examples"))
@pytest.mark.parametrize("fabric", ["leaf-spine-4", "leaf-spine-160", "two-rack-80"])
def test_example_that_ships_has_no_errors(name, fabric):
    names = ["drop_tail", name] if name.startswith("eee_") or name == "bmv2" else [name]
    problems = config.check(config.load(*names), topology.load(fabric), NS)
    assert [found for found in problems if found.severity is Severity.ERROR] == []
