"""The published JSON Schemas: fresh, what the loaders accept is accepted, what is wrong is refused by both."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest
from eeon_control import config, data, schemas, topology
from eeon_control.errors import EeonError
from eeon_control.sources import parse_yaml
from eeon_control.targets import load_targets
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

REPOSITORY = Path(__file__).resolve().parents[2]
TARGETS = """\
tick: 1us
tls: {ca: ca.pem, certificate: me.pem, key: me.key}
thrift_remote: allow
switches:
  leaf1: 127.0.0.1:9559?device_id=3
  leaf2: {address: "[::1]:9559", device_id: 7, tls: off, thrift: "192.0.2.1:9090"}
"""


@cache
def validator(kind: str) -> Draft7Validator:
    return Draft7Validator(schemas.schema(kind))


def is_valid(kind: str, text: str) -> bool:
    return validator(kind).is_valid(parse_yaml(text, "x.yaml").value)


@pytest.mark.parametrize("kind", list(schemas.MODELS))
def test_committed_schema_is_what_the_models_say(kind):
    committed = (REPOSITORY / "control_plane" / "schema" / f"{kind}.schema.json").read_text(encoding="utf-8")
    assert committed == schemas.text(kind), "run `make reference`"
    Draft7Validator.check_schema(json.loads(committed))


@pytest.mark.parametrize("name", data.names("examples"))
def test_example_that_ships_is_valid(name):
    text = (data.folder("examples") / f"{name}.yaml").read_text()
    assert is_valid("config", text)


@pytest.mark.parametrize("name", data.names("topologies"))
def test_topology_that_ships_is_valid(name):
    assert is_valid("topology", (data.folder("topologies") / f"{name}.yaml").read_text())


@pytest.mark.parametrize(
    "path",
    [
        *(REPOSITORY / "control_plane" / "examples").glob("*.yaml"),
        *(REPOSITORY / "topologies").glob("*.yaml"),
    ],
    ids=lambda path: path.stem,
)
def test_first_line_leads_the_editor_to_the_schema(path):
    match = re.match(r"# yaml-language-server: \$schema=(\S+)\n", path.read_text())
    assert match is not None
    kind = "config" if path.parent.name == "examples" else "topology"
    assert (
        path.parent / match[1]
    ).resolve() == REPOSITORY / "control_plane" / "schema" / f"{kind}.schema.json"


def test_targets_are_valid():
    assert is_valid("targets", TARGETS)


EVERYTHING = """\
description: every key once
profiles:
  queue:
    a: {buffer: shallow, aqm: drop_tail}
    b: {buffer: 300KB, aqm: {mode: mark_threshold, threshold: auto, l4s_threshold: 9KB, at: dequeue, rtt: 1ms}}
    c:
      buffer: 1 MB
      aqm: {mode: red, min: 5pkt, max: 7pkt, max_probability: 0.1, average_weight: 1/512, ecn: false, protect: ece}
    d: {buffer: deep, aqm: {autored: 500us, protect: ack_syn}}
    e: {buffer: deep, aqm: {red: [50pkt, 150pkt], average_weight: 0.5}}
    f: {buffer: deep, aqm: {mark_threshold: 65KiB}}
    g: {buffer: deep, aqm: }
  eee:
    h: {mode: coalesce, hold: 120us, trigger: [10pkt, 15KB], stall: 0s, sleep: 3us, wake: 5µs}
    i: {mode: standard, by_speed: {10Gbps: {mode: coalesce, hold: 1ms, trigger: 9pkt}}}
phy: {1Gbps: {wake: 17us}, 40Gbps: }
roles: {host_facing: {queue: a, eee: h}, uplink: {queue: b, eee: 120us100+}, spine: , host: {eee: i}}
switches: {leaf1: {queue: c}}
ports: {"leaf1:3": {eee: off}}
routing: {ecmp: true, max_paths: 4, seed: 7, ipv4: true, ipv6: false}
target_settings:
  bmv2:
    queue_depth: auto
    packet_rate: 10kpps
    roles: {uplink: {packet_rate: auto}}
    switches: {leaf2: {queue_depth: 1024pkt}}
    ports: {"leaf1:3": {packet_rate: unlimited}}
"""


def test_every_key_once_is_accepted_by_both():
    text = EVERYTHING.replace(" 40Gbps: }", " 40Gbps: {}}")
    config.from_text(text)
    assert is_valid("config", text)


# What both refuse: (text of the file that breaks, what it breaks it with).
WRONG = [
    ("shallow, aqm: drop_tail", "200frames"),
    ("shallow, aqm: drop_tail", "300"),
    ("buffer: 300KB", "bufer: 300KB"),
    ("drop_tail", "pie"),
    ("mode: mark_threshold", "mode: pie"),
    ("threshold: auto", "threshold: 65pkt"),
    ("at: dequeue", "at: sometimes"),
    ("max_probability: 0.1", "max_probability: 2"),
    ("max_probability: 0.1", "max_probability: often"),
    ("ecn: false", "ecn: 0"),
    ("protect: ece", "protect: all"),
    ("autored: 500us", "autored: 500"),
    ("[50pkt, 150pkt]", "[50pkt]"),
    ("autored: 500us,", "autored: 500us, threshold: 5KB,"),
    ("hold: 120us", "hold: 120"),
    ("mode: coalesce, hold: 120us", "hold: 120us"),
    ("[10pkt, 15KB]", "[]"),
    ("10Gbps: {mode", "fast: {mode"),
    ("phy: {1Gbps", "phy: {1GB"),
    ("uplink: {queue: b", "uplnk: {queue: b"),
    ("host: {eee: i}", "host: {queue: a}"),
    ("queue: a, eee: h", "queue: [a], eee: h"),
    ("    h: {mode", "    standard: {mode"),
    ("seed: 7", "seed: -1"),
    ("max_paths: 4", "max_paths: 0"),
    ("max_paths: 4", "max_paths: 65"),
    ("ecmp: true", "ecmp: maybe"),
    ("ecmp: true", "ecmp: per_flow"),
    ("ecmp: true", "ecmp: 1"),
    ("1024pkt", "1024"),
    ("10kpps", "10Gbps"),
    ("queue_depth: auto", "queue_depth: unlimited"),
    ("routing:", "rooting:"),
]


@pytest.mark.parametrize(("before", "after"), WRONG)
def test_wrong_file_is_refused_by_both(before, after):
    text = EVERYTHING.replace(" 40Gbps: }", " 40Gbps: {}}")
    assert before in text
    text = text.replace(before, after, 1)
    with pytest.raises(EeonError):
        config.from_text(text)
    assert not is_valid("config", text)


# What only the loader can see, because a schema matches values one by one; docs/run/configuration.md has this list.
ONLY_THE_LOADER = [
    ("min: 5pkt, max: 7pkt", "min: 9pkt, max: 7pkt"),
    ("min: 5pkt, max: 7pkt", "min: 5pkt, max: 7KB"),
    ("min: 5pkt, max: 7pkt", "min: 5pkt"),
    ("min: 5pkt, max: 7pkt", "min: 5pkt, max: 7pkt, target_delay: 1ms"),
    ("buffer: 300KB", "buffer: 0B"),
    ("buffer: 300KB", "buffer: 5GB"),
    ("buffer: 300KB", "buffer: 0.3B"),
    ("average_weight: 1/512", "average_weight: 1/500"),
    ("max_probability: 0.1", "max_probability: 150%"),
    ("[10pkt, 15KB]", "[10pkt, 15pkt]"),
    ("mode: standard, by_speed", "mode: standard, hold: 1ms, by_speed"),
    ("mode: coalesce, hold: 1ms, trigger: 9pkt", "mode: coalesce"),
    ("10Gbps: {mode", "1Gbps: {}, 1000Mbps: {mode"),
    ("queue: b", "queue: z"),
    ("ipv4: true, ipv6: false", "ipv4: false, ipv6: false"),
    ("mark_threshold: 65KiB", "mark_threshold: 65KiB, mode: drop_tail"),
]


@pytest.mark.parametrize(("before", "after"), ONLY_THE_LOADER)
def test_what_the_schema_cannot_see_is_refused_by_the_loader(before, after):
    text = EVERYTHING.replace(" 40Gbps: }", " 40Gbps: {}}")
    assert before in text
    with pytest.raises(EeonError):
        config.from_text(text.replace(before, after, 1))


PIECES = st.sampled_from(
    [
        "",
        "~",
        "null",
        "off",
        "auto",
        "0",
        "1",
        "-1",
        "0.5",
        "[]",
        "{}",
        "5pkt",
        "3KB",
        "1ms",
        "10Gbps",
        "7pps",
        "x",
        "true",
    ]
)


@st.composite
def with_a_value_replaced(draw, text: str) -> str:
    """A legal file, some values of which are replaced by others."""
    for _ in range(draw(st.integers(1, 3))):
        values = [match.span(1) for match in re.finditer(r": ([^,{}\[\]\n]+)", text)]
        start, end = draw(st.sampled_from(values))
        text = text[:start] + draw(PIECES) + text[end:]
    return text


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(text=with_a_value_replaced(EVERYTHING.replace(" 40Gbps: }", " 40Gbps: {}}")))
def test_schema_of_configurations_is_never_stricter_than_the_loader(text):
    try:
        config.from_text(text)
    except EeonError:
        return
    assert is_valid("config", text), text


@settings(max_examples=100, deadline=None)
@given(
    text=with_a_value_replaced(
        (data.folder("topologies") / "leaf-spine-4.yaml").read_text().partition("\n")[2]
    )
)
def test_schema_of_topologies_is_never_stricter_than_the_loader(text):
    try:
        topology.from_text(text)
    except EeonError:
        return
    assert is_valid("topology", text), text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tick: 1us", "tick: 1"),
        ("tick: 1us\n", ""),
        ("tls: off", "tls: on"),
        ("device_id: 7", "device_id: -7"),
        ("127.0.0.1:9559?", "127.0.0.1?"),
        ("thrift:", "thrfit:"),
        ("allow", "please"),
        ("key: me.key", "key: 5"),
    ],
)
def test_wrong_targets_are_refused_by_both(tmp_path, before, after):
    assert before in TARGETS
    path = tmp_path / "targets.yaml"
    path.write_text(TARGETS.replace(before, after, 1))
    with pytest.raises(EeonError):
        load_targets(path)
    assert not is_valid("targets", path.read_text())
