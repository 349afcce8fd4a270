"""Configuration files: levels, presets, merging, and what mistakes and doubtful settings are told."""

from __future__ import annotations

import re

import pytest
from eeon_control import config, data, topology
from eeon_control.errors import InputError, Severity
from eeon_control.units import DataRate, Duration
from hypothesis import given
from hypothesis import strategies as st

NS, US = Duration.parse("1ns"), Duration.parse("1us")
FABRIC = topology.load("leaf-spine-4")
BASE = """\
profiles:
  queue:
    q: {buffer: 300KB}
roles:
  host_facing: {queue: q}
  uplink: {queue: q}
  spine: {queue: q}
"""


def refused(text: str) -> str:
    with pytest.raises(InputError) as raised:
        config.from_text(text, "c.yaml")
    return str(raised.value)


def checked(text: str, tick: Duration = NS, fabric=FABRIC) -> dict[str, Severity]:
    return {
        str(found): found.severity for found in config.check(config.from_text(text, "c.yaml"), fabric, tick)
    }


def with_queue(aqm: str) -> str:
    return BASE.replace("q: {buffer: 300KB}", "q: {buffer: 300KB, aqm: " + aqm + "}")


def with_eee(profile: str) -> str:
    return BASE.replace("roles:", "  eee:\n    e: " + profile + "\nroles:").replace(
        "host_facing: {queue: q}", "host_facing: {queue: q, eee: e}"
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (BASE + "rotes: 1\n", "c.yaml:8: error: rotes: 1: unknown key"),
        (
            BASE + "x-q: 1\n",
            "x-q: 1: unknown key; there are classes, description, phy, ports, profiles, roles,",
        ),
        (
            BASE.replace("300KB", "300KB, rtt: 1ms"),
            "profiles.queue.q.rtt: 1ms: unknown key; it belongs below profiles.queue.q.aqm",
        ),
        (
            with_queue("{mode: mark_threshold, buffer: 3KB}"),
            "aqm.buffer: 3KB: unknown key; it belongs below profiles.queue.q",
        ),
        (BASE.replace("roles:", "  roles: {}\nroles:"), "profiles.roles: unknown key; it belongs at the top"),
        (
            BASE.replace("300KB", "0pkt"),
            "c.yaml:3: error: profiles.queue.q.buffer: 0pkt: the buffer limit must",
        ),
        (
            BASE.replace("300KB", "200pkt, held_packets: outside"),
            "held_packets: outside goes with a buffer in bytes, and buffer is 200pkt; full frames take 300KB",
        ),
        (BASE.replace("300KB", "300"), "300 is not a number of bytes with a unit"),
        (BASE.replace("300KB", "0B"), "must be above zero"),
        (BASE.replace("300KB", "5GB"), "at most 4294967295 (32 bits)"),
        (
            BASE.replace("uplink: {queue: q}", "uplink: {queue: p}"),
            "c.yaml:6: error: roles.uplink.queue: p: unknown queue profile; there are q",
        ),
        (
            BASE.replace("uplink: {queue: q}", "uplink: {eee: fast}"),
            "there are off, standard, 12us10, 120us100",
        ),
        (BASE + "  host: {queue: q}\n", "roles.host.queue: q: queue profiles are for switch ports"),
        (
            BASE.replace("buffer: 300KB", "buffer: shalow"),
            "is not a number of bytes; write for example 300KB (300000 bytes), 97.5kB or 64KiB, or in packets: "
            "65pkt (did you mean shallow?)",
        ),
        (with_queue("{mode: pie}"), "pie: must be one of 'drop_tail', 'mark_threshold', 'red', 'codel'"),
        (with_queue("{mode: codel, target: 0ms}"), "profiles.queue.q.aqm.target: 0ms: must be above zero"),
        (with_queue("{mode: codel, min: 5pkt}"), "min"),
        (with_queue("{threshold: 3KB}"), "c.yaml:3: error: profiles.queue.q.aqm: the key mode is required"),
        (
            with_queue("{mode: mark_threshold, threshold: 65pkt}"),
            "profiles.queue.q.aqm.threshold: 65pkt: a marking threshold counts bytes; 65pkt of 1500B frames are 97.5KB",
        ),
        (
            with_queue("{mode: red, min: 5pkt, max: 7KB, max_probability: 1}"),
            "profiles.queue.q.aqm: min (5pkt) and max (7KB) must both be bytes or both be packets",
        ),
        (
            with_queue("{mode: red, min: 9KB, max: 7KB, max_probability: 1}"),
            "min (9KB) must not be above max (7KB)",
        ),
        (
            with_queue("{mode: red, min: 12.5pkt, max: 70pkt, max_probability: 1}"),
            "is not a whole number of pkt",
        ),
        (with_queue("{mode: red, min: 9KB, max_probability: 1}"), "give min and max"),
        (
            with_queue("{mode: red, min: 9KB, max: 9KB, target_delay: 1ms, max_probability: 1}"),
            "give either target_delay or min and max",
        ),
        (
            with_queue("{mode: red, min: 1KB, max: 7KB, max_probability: 150%}"),
            "profiles.queue.q.aqm.max_probability: 150%: 150% is not a probability: it must lie between 0% and 100%",
        ),
        (
            with_queue("{mode: red, min: 1KB, max: 7KB, max_probability: 1, average_weight: 0.002}"),
            "the nearest one is 1/512",
        ),
        (
            with_queue("{mode: red, min: 1KB, max: 7KB, max_probability: 1, average_weight: 0}"),
            "a power of two",
        ),
        (
            with_queue("{mode: red, min: 1KB, max: 7KB, max_probability: 1, ecn: maybe}"),
            "must be true or false",
        ),
        (BASE.replace("queue: q", "queue: [q]"), "roles.host_facing.queue: must be text"),
        (BASE.replace("queue: q", "queue: 1"), "roles.host_facing.queue: 1: must be text; put it in quotes"),
        (
            with_queue("{mode: red, min: 1KB, max: 7KB, max_probability: 1, protect: all}"),
            "must be one of 'ect', 'ece' or 'ack_syn'",
        ),
        (with_eee("{mode: coalesce}"), "mode coalesce needs a hold above zero, for example hold: 120us"),
        (with_eee("{mode: standard, hold: 5us}"), "hold belongs to mode coalesce"),
        (with_eee("{mode: coalesce, hold: 5us, trigger: 0pkt}"), "a trigger is at least 1pkt or 1B"),
        (
            with_eee("{mode: coalesce, hold: 5us, trigger: [1pkt, 2pkt]}"),
            "the trigger is given twice in packets",
        ),
        (with_eee("{mode: coalesce, hold: 5us, trigger: []}"), "an empty trigger"),
        (with_eee("{mode: off, wake: 5us}"), "mode off takes no timers"),
        (
            BASE.replace("roles:", "  eee: {standard: {mode: off}}\nroles:"),
            "profiles.eee.standard: this name is a preset; choose another name",
        ),
        (BASE + "routing: {ecmp: per_flow}\n", "routing.ecmp: per_flow: must be true, false or per_packet"),
        (BASE + "routing: {seed: -1}\n", "a seed is a whole number from 0 to 4294967295"),
        (BASE + "routing: {seed: true}\n", "a seed is a whole number"),
        ("profiles: 3", "c.yaml:1: error: profiles: 3: must be a mapping"),
        ("profiles: {eee: 3}", "profiles.eee: 3: must be a mapping"),
    ],
)
def test_mistake_is_told_with_its_place(text, error):
    assert error in refused(text)


def test_check_tells_what_does_not_fit_the_topology():
    text = BASE.replace("  host_facing: {queue: q}\n", "") + (
        "switches:\n  leaf9: {eee: standard}\nports:\n  leaf1:77: {queue: q}\n"
    )
    found = checked(text)
    assert set(found.values()) == {Severity.ERROR}
    assert sorted(line.partition("error: ")[2] for line in found) == [
        "ports.leaf1:77: leaf1:77: topology leaf-spine-4 has no linked switch port of that name; "
        "leaf1 has ports 1, 2, 3, 4; a port is written leaf1:3",
        "roles.host_facing: no queue profile for 4 port(s) of this role (leaf1:1, leaf1:2, leaf2:1, leaf2:2); "
        "name one under roles.host_facing.queue",
        "switches.leaf9: leaf9: topology leaf-spine-4 has no switch of that name (did you mean leaf2?); "
        "it has leaf1, leaf2, spine1, spine2",
    ]


@pytest.mark.parametrize(
    ("aqm", "says"),
    [
        (
            "{mode: mark_threshold, threshold: 300KB}",
            "not below the buffer (300KB): the port drops before it marks",
        ),
        ("{mode: red, min: 300KB, max: 400KB, max_probability: 1, protect: ack_syn}", "this is drop_tail"),
        (
            "{mode: red, min: 30KB, max: 400KB, max_probability: 1, protect: ack_syn}",
            "a full buffer drops before",
        ),
        (
            "{mode: red, min: 10pkt, max: 201pkt, max_probability: 1, protect: ece}",
            "max is 201pkt, above the 200pkt of 1500B that the buffer (300KB) holds",
        ),
        ("{mode: red, min: 30KB, max: 40KB, max_probability: 1}", "only ECT packets are spared"),
        (
            "{mode: red, min: 30KB, max: 40KB, max_probability: 1, ecn: false}",
            "without ECN, RED can only drop",
        ),
        (
            "{mode: red, min: 30KB, max: 40KB, max_probability: 1, protect: ece, average_weight: 1/512}",
            "behaves like drop_tail",
        ),
    ],
)
def test_doubtful_queue_setting_is_a_warning_with_its_reason(aqm, says):
    found = checked(with_queue(aqm))
    assert [severity for line, severity in found.items() if says in line] == [Severity.WARNING]
    assert Severity.ERROR not in found.values()


def test_thresholds_are_held_against_a_buffer_in_packets_in_either_unit():
    def told(aqm: str) -> list[str]:
        return list(checked(with_queue(aqm + ", protect: ece}").replace("buffer: 300KB", "buffer: 200pkt")))

    red = "{mode: red, max_probability: 1, min: 10"
    assert told(red + "pkt, max: 200pkt") == []
    (line,) = told(red + "pkt, max: 201pkt")
    assert "max is 201pkt, above the buffer (200pkt)" in line
    assert told(red + "KB, max: 300KB") == []
    (line,) = told(red + "KB, max: 301KB")
    assert "max is 301KB, above the 300KB that the buffer (200pkt) holds of full frames" in line


@pytest.mark.parametrize(
    ("profile", "tick", "says"),
    [
        ("{mode: standard}", US, "1us tick: wake 16.5us to 17us"),
        ("{mode: coalesce, hold: 120.5us, sleep: 182us, wake: 17us}", US, "1us tick: hold 120.5us to 121us"),
        ("{mode: standard, stall: 1500ps}", NS, "1ns tick: stall 1.5ns to 2ns"),
    ],
)
def test_times_between_two_ticks_are_told_once_for_the_fabric(profile, tick, says):
    assert [str(problem) for problem in config.check(config.from_text(with_eee(profile)), FABRIC, tick)] == [
        f"targets: warning: times are rounded up to this target's {says}"
    ]


def test_times_of_whole_ticks_are_not_told():
    assert checked(with_eee("{mode: standard}"), NS) == {}


@pytest.mark.parametrize(
    "aqm",
    [
        "{mode: drop_tail}",
        "{mode: mark_threshold, threshold: 97.5KB}",
        "{mode: red, min: 30KB, max: 90KB, max_probability: 10%, protect: ack_syn}",
    ],
)
def test_sound_queue_setting_has_no_warning(aqm):
    assert checked(with_queue(aqm)) == {}


@pytest.mark.parametrize(
    ("profile", "tick", "says"),
    [
        ("{mode: coalesce, hold: 1100s}", NS, "the program looks 1099511627.776us ahead at most"),
        ("{mode: coalesce, hold: 1099511.62778s}", US, "the program looks 1099511627.776ms ahead at most"),
    ],
)
def test_timer_that_the_target_cannot_hold_is_an_error(profile, tick, says):
    found = checked(with_eee(profile), tick)
    lines = [line for line, severity in found.items() if severity is Severity.ERROR]
    assert len(lines) == 1
    assert lines[0].startswith("c.yaml:5: error: profiles.eee.e: e: ")
    assert says in lines[0]


def test_timers_of_whole_ticks_are_accepted_on_bmv2():
    assert (
        checked(with_eee("{mode: coalesce, hold: 120us, trigger: 100pkt, sleep: 182us, wake: 17us}"), US)
        == {}
    )


def test_eee_on_a_speed_without_known_timing_is_refused_unless_timers_are_given():
    slow = topology.load("flow-chasing-36")
    [line] = checked(with_eee("{mode: standard}"), NS, slow)
    assert "no EEE timing is known for 300Mbps, only for 100Mbps (100BASE-TX), 1Gbps (1000BASE-T)" in line
    assert checked(with_eee("{mode: standard, sleep: 182us, wake: 16.5us}"), NS, slow) == {}


def test_preset_that_does_not_fit_is_reported_where_it_is_attached():
    text = BASE.replace("uplink: {queue: q}", "uplink: {queue: q, eee: 120us100}")
    (line,) = [line for line in checked(text, Duration.parse("1s")) if "error" in line]
    assert line.startswith("c.yaml:6: error: roles.uplink.eee: 120us100: a byte at 10Gbps takes less than")


def test_later_files_win_key_by_key_and_errors_name_the_file_that_has_the_key(tmp_path):
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text(BASE)
    second.write_text("profiles:\n  queue:\n    q: {buffer: 128KB}\nroles:\n  uplink: {eee: standard}\n")
    loaded = config.load(first, second)
    assert loaded.profiles.queue["q"].buffer == 128_000
    assert (loaded.roles.uplink.queue, loaded.roles.uplink.eee) == ("q", "standard")
    second.write_text("roles:\n  uplink: {eee: nonsense}\n")
    with pytest.raises(InputError, match=re.escape(f"{second}:2: error: roles.uplink.eee: nonsense")):
        config.load(first, second)


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


@given(
    levels=st.fixed_dictionaries(
        {},
        optional={
            level: st.sampled_from(["standard", "12us10", "120us100", "off"])
            for level in ("role", "switch", "port")
        },
    )
)
def test_most_specific_level_wins(levels):
    text = BASE
    if "role" in levels:
        text = text.replace("uplink: {queue: q}", f"uplink: {{queue: q, eee: {levels['role']}}}")
    if "switch" in levels:
        text += f"switches:\n  leaf1: {{eee: {levels['switch']}}}\n"
    if "port" in levels:
        text += f"ports:\n  'leaf1:3': {{eee: {levels['port']}}}\n"
    loaded = config.from_text(text)
    expected = levels.get("port") or levels.get("switch") or levels.get("role") or "off"
    assert loaded.settings_of(FABRIC.port("leaf1:3")).eee_name == expected
    other = levels.get("switch") or levels.get("role") or "off"
    assert loaded.settings_of(FABRIC.port("leaf1:4")).eee_name == other
    assert loaded.settings_of(FABRIC.port("leaf2:3")).eee_name == (levels.get("role") or "off")


@pytest.mark.parametrize("name", data.names("examples"))
@pytest.mark.parametrize("fabric", ["leaf-spine-4", "leaf-spine-160", "two-rack-80"])
def test_example_that_ships_has_no_errors(name, fabric):
    names = ["drop_tail", name] if name.startswith("eee_") or name == "bmv2" else [name]
    problems = config.check(config.load(*names), topology.load(fabric), NS)
    assert [found for found in problems if found.severity is Severity.ERROR] == []


def test_presets_are_the_papers_settings():
    eee = config.from_text(BASE).profiles.eee
    shown = {name: (str(one.hold), str(one.trigger.packets)) for name, one in eee.items() if one.trigger}
    assert shown == {
        "12us10": ("12us", "10pkt"),
        "120us100": ("120us", "100pkt"),
        "500us500": ("500us", "500pkt"),
        "1ms1000": ("1ms", "1000pkt"),
        "10ms1000": ("10ms", "1000pkt"),
        "12us10+": ("12us", "10pkt"),
        "120us100+": ("120us", "100pkt"),
    }
    for name in ("12us10+", "120us100+"):
        fast = eee[name].at(DataRate.parse("10Gbps"))
        assert (str(fast.hold), str(fast.trigger)) == ("1ms", "1000pkt")
        assert eee[name].at(DataRate.parse("1Gbps")) == eee[name.rstrip("+")]


def test_yamls_merge_key_is_named_as_such():
    with pytest.raises(InputError, match="YAML's merge key is not read here; write its keys out"):
        config.from_text("roles: {uplink: {<<: {queue: x}}}")
