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
TOLD = Path(__file__).parent / "expected"
BASE = bases(TOLD / "configuration.yaml")["plain"]


def test_a_later_file_with_another_mode_takes_no_keys_of_the_earlier_one(tmp_path):
    first, second, third = files = [tmp_path / name for name in ("a.yaml", "b.yaml", "c.yaml")]
    first.write_text(BASE)
    aqm = "profiles:\n  queue:\n    q:\n      aqm: {%s}\n"
    eee = "  eee:\n    slow: {%s}\nroles:\n  uplink: {eee: slow}\n"
    red = "mode: red, target_delay: 500us, max_probability: 100%, protect: ece"
    hold = "mode: coalesce, hold: 1ms, trigger: 1000pkt"
    codel, off = "mode: codel, target: 500us, interval: 20ms", 'mode: "off"'
    second.write_text(aqm % red + eee % hold)
    third.write_text(aqm % codel + eee % off)
    loaded = config.load(*files)
    assert loaded.profiles.queue["q"].aqm.mode == "codel"
    assert loaded.profiles.eee["slow"].hold is None
    assert not loaded.document.has(("profiles", "queue", "q", "aqm", "protect"))
    third.write_text(aqm % "protect: ack_syn")
    merged = config.load(*files).profiles.queue["q"].aqm
    assert (merged.mode, merged.protect) == ("red", "ack_syn")


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


def test_a_threshold_without_a_unit_is_not_offered_packets_which_would_be_refused():
    with pytest.raises(InputError, match=r"write for example 300KB \(300000 bytes\), 97\.5kB or 64KiB$"):
        config.from_text("profiles: {queue: {q: {buffer: 300KB, aqm: {mark_threshold: 50}}}}")


def test_what_a_later_file_replaces_is_not_explained_by_the_earlier_one():
    first = config.from_text(bases(TOLD / "explanation.yaml")["levels"], "a.yaml")
    changed = config.overridden(first, {"profiles.queue.own.aqm": "drop_tail"})
    found = config.explain(changed, FABRIC.port("leaf1:3"))
    [aqm] = [one for one in found.settings if one.key == "aqm"]
    assert (aqm.value, str(aqm.place)) == ("drop_tail", "<override>")
    assert not changed.document.has(("profiles", "queue", "own", "aqm", "autored"))
