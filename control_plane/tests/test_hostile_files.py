"""Malformed files: they are read, or refused with the place of the error, and have no other effect."""

import contextlib
from pathlib import Path

import pytest
from eeon_control import config, data, plan, topology
from eeon_control.errors import DataNotFound, EeonError
from eeon_control.targets import load_targets
from eeon_control.units import Duration
from expected_rows import bases
from hypothesis import given
from hypothesis import strategies as st

CONFIG = (data.folder("examples") / "red_ect.yaml").read_text()
TOPOLOGY = (data.folder("topologies") / "leaf-spine-4.yaml").read_text()
_FOLDER = Path(__file__).parent / "expected"
EVERY_KIND = bases(_FOLDER / "configuration.yaml")["everything"]
_TOPOLOGIES = bases(_FOLDER / "topology.yaml")
FABRIC = topology.load("leaf-spine-4")
TICK = Duration.parse("1ns")
PIECES = st.one_of(
    st.sampled_from(["", *":{}[],\n~'\"%|>#\x00é"]),
    st.sampled_from(
        ["  ", "- ", "&a ", "*a", "!!int ", "null", "on", "-1", "1e400", ".inf", "9" * 30, "<<: ", "? "]
    ),
    st.text(max_size=4),
)


@st.composite
def damaged(draw, text: str) -> str:
    """Returns a valid file with up to six pieces replaced."""
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(PIECES) + text[end:]
    return text


@pytest.mark.parametrize("whole", [CONFIG, EVERY_KIND], ids=["example", "every kind of key"])
@given(data=st.data())
def test_damaged_configuration_is_read_or_refused(whole, data):
    with contextlib.suppress(EeonError):
        loaded = config.from_text(data.draw(damaged(whole)))
        problems = config.check(loaded, FABRIC, TICK)
        if not [one for one in problems if one.severity == "error"]:
            for port in FABRIC.ports():
                config.explain(loaded, port)
                loaded.bmv2_queue(port)
        plan.intended(FABRIC, loaded, TICK)


@pytest.mark.parametrize(
    "whole", [TOPOLOGY, _TOPOLOGIES["tiny"], _TOPOLOGIES["pods"]], ids=["compact", "long", "three tiers"]
)
@given(data=st.data())
def test_damaged_topology_is_read_or_refused(whole, data):
    with contextlib.suppress(EeonError):
        topology.base_rtt(topology.from_text(data.draw(damaged(whole))))


@given(
    text=damaged("tick: 1ns\nswitches:\n  leaf1: 127.0.0.1:9559\n  leaf2: 127.0.0.1:9560?device_id=2\n")
    | damaged(
        "tick: 1us\nthrift_remote: allow\ntls: {ca: ca.pem, certificate: c.pem, key: c.key}\n"
        "switches:\n  leaf1: {address: 'h:1', device_id: 3, thrift: 'h:2', tls: {server_name: x}}\n  s: {address: 'h:4', tls: off}\n"
    )
)
def test_damaged_targets_are_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("targets") / "targets.yaml"
    path.write_text(text, encoding="utf-8", errors="replace", newline="")
    with contextlib.suppress(EeonError):
        load_targets(path)


SECTIONS = ["profiles", "roles", "ports", "switches", "routing"]
NAMES = ["q", "uplink", "leaf1:1"]
KEYS = [*SECTIONS, *NAMES, "queue", "eee", "buffer", "aqm", "mode", "min", "max", "hold", "trigger", "seed"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["300KB", "1ms", "red", "q", "off", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(value=st.dictionaries(st.sampled_from(SECTIONS), JSON, max_size=4))
def test_values_of_the_wrong_shape_are_refused(value):
    base = config.from_text("profiles: {queue: {q: {buffer: 1MB}}}")
    with contextlib.suppress(EeonError):
        config.overridden(base, value)


def test_a_folder_is_not_called_missing(tmp_path):
    with pytest.raises(DataNotFound, match="this is a folder; a YAML file is needed"):
        topology.load(tmp_path)
