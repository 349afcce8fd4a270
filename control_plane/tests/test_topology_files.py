"""Topology files: the packaged ones, the derived values, and the message about every mistake."""

import re
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
    assert [one.device_id for one in loaded.switches.values()] == [*range(1, leaves + spines + 1)]
    rates = {port.role: int(port.rate) for port in loaded.ports()}
    assert rates == {
        PortRole.HOST_FACING: host_rate,
        PortRole.UPLINK: uplink_rate,
        PortRole.SPINE: uplink_rate,
    }


def test_every_topology_that_ships_is_in_the_test_above_and_has_the_stated_delay():
    shown = test_topology_that_ships_has_the_papers_shape.pytestmark[0].args[1]
    assert data.names("topologies") == sorted(name for name, *_ in shown)
    for name in data.names("topologies"):
        assert {link.delay for link in topology.load(name).links} == {Duration.parse("500ns")}


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
