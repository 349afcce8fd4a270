"""Topology files: the packaged ones, the derived values, and the message about every mistake."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest
from eeon_control import data, topology
from eeon_control.errors import DataNotFound, InputError
from eeon_control.topology import PortRole, SwitchRole, phy
from eeon_control.units import Duration
from expected_rows import bases

_BASES = bases(Path(__file__).parent / "expected" / "topology.yaml")
TINY, CLOS = _BASES["tiny"], _BASES["pods"]


@pytest.mark.parametrize(
    ("name", "leaves", "spines", "hosts", "host_rate", "uplink_rate"),
    [
        ("leaf-spine-4", 2, 2, 4, 10**9, 10**10),
        ("leaf-spine-160", 4, 2, 160, 10**9, 10**10),
        ("two-rack-24", 2, 1, 24, 10**9, 10**10),
        ("two-rack-50", 2, 1, 50, 10**9, 10**10),
        ("two-rack-80", 2, 1, 80, 10**9, 10**10),
        ("flow-chasing-36", 4, 2, 36, 3 * 10**8, 3 * 10**8),
    ],
)
def test_topology_that_ships_has_the_papers_shape(name, leaves, spines, hosts, host_rate, uplink_rate):
    loaded = topology.load(name)
    assert loaded.name == name
    roles = [switch.role for switch in loaded.switches.values()]
    assert (roles.count(SwitchRole.LEAF), roles.count(SwitchRole.SPINE)) == (leaves, spines)
    assert len(loaded.hosts) == hosts
    assert len(loaded.links) == hosts + leaves * spines
    rates = {port.role: int(port.rate) for port in loaded.ports()}
    assert rates == {
        PortRole.HOST_FACING: host_rate,
        PortRole.UPLINK: uplink_rate,
        PortRole.SPINE: uplink_rate,
    }


def test_every_topology_that_ships_is_in_the_test_above():
    assert data.names("topologies") == [
        "flow-chasing-36",
        "leaf-spine-160",
        "leaf-spine-4",
        "two-rack-24",
        "two-rack-50",
        "two-rack-80",
    ]


def test_compact_form_numbers_ports_hosts_and_devices_as_its_readme_says():
    loaded = topology.load("leaf-spine-4")
    assert [(str(link.a), str(link.b)) for link in loaded.links] == [
        ("leaf1:1", "h1:0"),
        ("leaf1:2", "h2:0"),
        ("leaf1:3", "spine1:1"),
        ("leaf1:4", "spine2:1"),
        ("leaf2:1", "h3:0"),
        ("leaf2:2", "h4:0"),
        ("leaf2:3", "spine1:2"),
        ("leaf2:4", "spine2:2"),
    ]
    assert {name: one.device_id for name, one in loaded.switches.items()} == {
        "leaf1": 1,
        "leaf2": 2,
        "spine1": 3,
        "spine2": 4,
    }


def test_addresses_follow_from_leaf_and_port_order():
    loaded = topology.load("leaf-spine-160")
    host = loaded.hosts["h121"]  # the first of leaf 4
    assert (host.mac, host.ipv4, host.ipv6) == (
        "02:00:00:00:04:01",
        IPv4Address("10.0.4.1"),
        IPv6Address("fd00:0:0:4::1"),
    )
    assert (host.leaf, host.gateway_mac, host.port.rate) == ("leaf4", "02:01:00:00:00:04", 10**9)
    assert str(loaded.hosts["h160"].ipv4) == "10.0.4.40"
    assert loaded.switches["spine2"].mac == "02:01:00:00:00:06"
    macs = [one.mac for one in (*loaded.hosts.values(), *loaded.switches.values())]
    assert len(set(macs)) == len(macs)


def test_long_form_derives_roles_and_accepts_interface_names():
    loaded = topology.from_text(TINY)
    assert loaded.switches["leaf1"].role is SwitchRole.LEAF
    assert [port.number for port in loaded.switches["leaf1"].ports] == [1, 7]
    assert str(loaded.hosts["h2"].ipv4) == "10.0.1.2"
    assert loaded.links[0].overhead == 24
    assert loaded.port("leaf1:7").peer.node == "h2"
    assert loaded.port("leaf1:2") is None
    assert loaded.port("h1:0") is None


def test_a_file_may_be_given_by_path(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(TINY)
    assert topology.load(path).name == "tiny"
    with pytest.raises(DataNotFound, match="not one of the topologies that ship: flow-chasing-36, "):
        topology.load("mine")


def test_file_that_is_too_large_or_deep_or_not_text_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"f\.yaml: error: not YAML: nested more than 24 levels deep"):
        topology.from_text("[" * 5000, "f.yaml")
    path = tmp_path / "big.yaml"
    path.write_text("#" * (1 << 20) + "\n")
    with pytest.raises(InputError, match="the limit is"):
        topology.load(path)
    path.write_bytes(b"name: \xff\n")
    with pytest.raises(InputError, match="not UTF-8"):
        topology.load(path)
    with pytest.raises(DataNotFound):
        topology.load(tmp_path)


def test_phy_times_are_those_of_thesis_table_2_1():
    times = {one.name: (str(one.wake), str(one.sleep)) for one in phy.KNOWN}
    assert times == {
        "100BASE-TX": ("30.5us", "200us"),
        "1000BASE-T": ("16.5us", "182us"),
        "10GBASE-T": ("4.48us", "2.88us"),
    }
    # Table 2.1, efficiency of a single 1500-byte frame: frame / (frame + Tw + Ts)
    for one, percent in zip(phy.KNOWN, (34.2, 5.7, 14.0), strict=True):
        frame = 1500 * 8 * 10**12 / one.rate
        assert 100 * frame / (frame + one.wake + one.sleep) == pytest.approx(percent, abs=0.06)
    assert phy.of_rate(topology.load("flow-chasing-36").links[0].rate) is None


def test_examples_in_the_topologies_readme_are_legal():
    readme = Path(data.folder("topologies") / "README.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)
    assert [topology.from_text(block).name for block in blocks] == ["tiny", "leaf-spine-4", "pods"]


def test_delay_of_every_topology_is_the_stated_assumption():
    for name in data.names("topologies"):
        assert {link.delay for link in topology.load(name).links} == {Duration.parse("500ns")}


def test_three_tiers_are_pods_joined_by_spines():
    fabric = topology.from_text(CLOS)
    assert [len(fabric.switches), len(fabric.hosts), len(fabric.links)] == [6 + 4 + 4, 12, 12 + 12 + 12]
    peers = {name: [str(port.peer) for port in one.ports] for name, one in fabric.switches.items()}
    assert peers["leaf4"] == ["h7:0", "h8:0", "agg3:1", "agg4:1"]
    assert peers["agg3"] == ["leaf4:3", "leaf5:3", "leaf6:3", "spine3:2", "spine4:2", "spine1:3"]
    assert peers["spine1"] == ["agg1:4", "agg2:5", "agg3:6"]
    rates = {str(port.rate) for port in fabric.switches["agg1"].ports}
    assert rates == {"10Gbps", "100Gbps"}
    assert [leaf.name for leaf in fabric.leaves] == [f"leaf{number}" for number in range(1, 7)]


def test_addresses_are_taken_from_the_prefixes_that_are_given():
    host = topology.from_text(CLOS).hosts["h8"]
    assert (str(host.ipv4), str(host.ipv6)) == ("172.16.4.2", "2001:db8:0:4::2")


def test_more_than_255_leaves_go_on_in_the_next_16_bits():
    fabric = topology.from_text(
        "name: wide\ndefaults: {rate: 10Gbps, delay: 500ns}\n"
        "leaf_spine: {leaves: 300, hosts_per_leaf: 1, spines: 1}\n"
    )
    host = fabric.hosts["h300"]
    assert (str(host.ipv4), str(host.ipv6), host.mac) == ("10.1.44.1", "fd00:0:0:12c::1", "02:00:00:01:2c:01")
    assert (
        len({one.ipv4 for one in fabric.hosts.values()})
        == len({one.mac for one in fabric.hosts.values()})
        == 300
    )


def test_a_round_trip_needs_two_hosts():
    one = topology.from_text(
        "name: one\ndefaults: {rate: 1Gbps, delay: 1us}\nleaf_spine: {leaves: 1, hosts_per_leaf: 1, spines: 0}\n"
    )
    assert topology.base_rtt(one) is None
    two = topology.from_text(
        "name: two\ndefaults: {rate: 1Gbps, delay: 1us}\nleaf_spine: {leaves: 1, hosts_per_leaf: 2, spines: 0}\n"
    )
    # Two links, each 2 x 1us and 1514 + 60 + 2 x 24 bytes.
    assert str(topology.base_rtt(two)) == "29.952us"
