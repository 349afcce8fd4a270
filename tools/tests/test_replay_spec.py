"""The conversion of a topology and a configuration to the engine's fabric."""

import pytest
from eeon_control import config as configs
from eeon_control import topology as topologies
from eeon_tools.errors import UnavailableError
from eeon_tools.replay.spec import fabric_spec

TOPOLOGY = topologies.load("leaf-spine-4")


def test_every_node_and_link_is_there_with_its_rate() -> None:
    spec = fabric_spec(TOPOLOGY, configs.load("drop_tail"), seed=3)
    assert [switch["name"] for switch in spec["switches"]] == list(TOPOLOGY.switches)
    assert [host["name"] for host in spec["hosts"]] == list(TOPOLOGY.hosts)
    assert sorted(link["rate_bps"] for link in spec["links"]) == [10**9] * 4 + [10**10] * 4
    assert spec["seed"] == 3
    assert {
        end["port"] for link in spec["links"] for end in (link["a"], link["b"]) if end["node"] == "h1"
    } == {0}


def test_without_eee_no_transmitter_sleeps() -> None:
    spec = fabric_spec(TOPOLOGY, configs.load("drop_tail", "eee_off"), seed=1)
    assert not any("eee" in end for link in spec["links"] for end in (link["a"], link["b"]))
    assert all(host["nic"]["eee"] is None for host in spec["hosts"])


def test_coalescing_reaches_switch_ports_and_nics() -> None:
    spec = fabric_spec(TOPOLOGY, configs.load("drop_tail", "eee_120us100"), seed=1)
    switch_ends = [
        end for link in spec["links"] for end in (link["a"], link["b"]) if end["node"] not in TOPOLOGY.hosts
    ]
    assert all(end["eee"] == {"stall_ps": 0} for end in switch_ends)
    assert spec["hosts"][0]["nic"]["eee"] == {
        "stall_ps": 0, "hold_ps": 120_000_000, "trigger_packets": 100, "trigger_bytes": 0,
    }  # fmt: skip
    assert {phy["rate_bps"]: (phy["sleep_ps"], phy["wake_ps"], phy["watts"]) for phy in spec["phy"]} == {
        10**9: (182_000_000, 16_500_000, 0.5),
        10**10: (2_880_000, 4_480_000, 2.5),
    }


def test_quanta_of_classes_reach_the_switches() -> None:
    classes = {"bulk": {"priority": 1, "dscp": [10], "quantum": "1500B"}}
    config = configs.overridden(configs.load("drop_tail"), {"classes": classes})
    assert fabric_spec(TOPOLOGY, config, seed=1)["quanta"] == [{"priority": 1, "bytes": 1500}]
    assert "quanta" not in fabric_spec(TOPOLOGY, configs.load("drop_tail"), seed=1)


def test_nics_have_the_queues_of_the_classes_whether_one_is_lossless_or_not() -> None:
    classes = {"urgent": {"priority": 5, "dscp": [46]}}
    config = configs.overridden(configs.load("drop_tail"), {"classes": classes})
    assert fabric_spec(TOPOLOGY, config, seed=1)["nic_classes"] == {
        "dscp": [{"dscp": 46, "priority": 5}],
        "default_priority": 0,
        "pausable": [],
    }
    one = configs.overridden(configs.load("drop_tail"), {"classes": {"default": {"priority": 3}}})
    assert "nic_classes" not in fabric_spec(TOPOLOGY, one, seed=1)


def test_eee_at_a_speed_without_known_power_is_refused() -> None:
    slow = topologies.load("flow-chasing-36")
    text = """
profiles:
  queue: {q: {buffer: 300KB, aqm: {mode: drop_tail}}}
  eee: {mine: {mode: standard, sleep: 200us, wake: 30us}}
roles:
  host_facing: {queue: q, eee: mine}
  uplink: {queue: q}
  spine: {queue: q}
"""
    with pytest.raises(UnavailableError, match="power of a 300Mbps PHY is not known"):
        fabric_spec(slow, configs.from_text(text), seed=1)


def test_different_timings_at_one_speed_are_refused() -> None:
    text = """
profiles:
  queue: {q: {buffer: 300KB, aqm: {mode: drop_tail}}}
  eee: {mine: {mode: standard, sleep: 5us, wake: 5us}}
roles:
  host_facing: {queue: q}
  uplink: {queue: q, eee: standard}
  spine: {queue: q, eee: mine}
"""
    with pytest.raises(UnavailableError, match="different EEE sleep or wake times"):
        fabric_spec(TOPOLOGY, configs.from_text(text), seed=1)
