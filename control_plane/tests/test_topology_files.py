"""Topology files: what ships, what follows from a file, and what every mistake is told."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest
from eeon_control import data, topology
from eeon_control.errors import DataNotFound, InputError
from eeon_control.topology import PortRole, SwitchRole, phy
from eeon_control.units import Duration

TINY = """\
name: tiny
defaults: {rate: 1Gbps, delay: 500ns}
nodes:
  leaf1: {kind: switch}
  h1: {kind: host}
  h2: {kind: host}
links:
  - endpoints: ["leaf1:1", "h1:0"]
  - endpoints: ["leaf1:eth7", "h2:0"]
"""


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


def edited(old: str, new: str) -> str:
    assert old in TINY
    return TINY.replace(old, new)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (edited("name: tiny\n", "name: tiny\nspeed: 3\n"), "f.yaml:2: error: speed: 3: unknown key"),
        (
            edited("{kind: host}\n  h2", "{kind: hst}\n  h2"),
            "f.yaml:5: error: nodes.h1.kind: hst: must be one of 'switch' or 'host'",
        ),
        (
            edited("  h2: {kind: host}", "  h1: {kind: host}"),
            "f.yaml:6: error: nodes.h1: the key is given twice (first on line 5)",
        ),
        (edited('"h1:0"', '"h9:0"'), "f.yaml:8: error: links[0].endpoints[1]: h9:0: unknown node 'h9'"),
        (
            edited("leaf1:eth7", "leaf1:1"),
            "f.yaml:9: error: links[1].endpoints[0]: leaf1:1: this port already has a link (f.yaml:8)",
        ),
        (
            edited("leaf1:eth7", "leaf1:510"),
            "f.yaml:9: error: links[1].endpoints[0]: leaf1:510: ports are 0 to 508 "
            "(510 is the CPU port, 511 the drop port)",
        ),
        (
            edited("leaf1:eth7", "leaf1"),
            "an endpoint is written node:port, for example leaf1:3 or leaf1:eth3",
        ),
        (
            edited('  - endpoints: ["leaf1:eth7", "h2:0"]\n', ""),
            "f.yaml:6: error: nodes.h2: h2: a host has exactly one link; this one has 0",
        ),
        (
            edited('"h2:0"]', '"h2:0"]\n  - endpoints: ["leaf1:9", "h2:1"]'),
            "f.yaml:6: error: nodes.h2: h2: a host has exactly one link; this one has 2",
        ),
        (edited("leaf1:eth7", "h1:1"), "a host's link goes to a switch"),
        (edited('"h2:0"', '"leaf1:8"'), "a link joins two different nodes"),
        (
            edited("rate: 1Gbps", "rate: 0Gbps"),
            "f.yaml:2: error: defaults.rate: 0Gbps: a link's rate must be above zero and at most 10Tbps, for "
            "example 10Gbps",
        ),
        (edited("delay: 500ns", "delay: 0ns"), "a link's delay must be above zero"),
        (edited("delay: 500ns", "delay: 500s"), "500s: a link's delay must be above zero and at most 1s"),
        (
            edited("rate: 1Gbps", "rate: 10000Tbps"),
            "10000Tbps: a link's rate must be above zero and at most",
        ),
        (edited("rate: 1Gbps", "rate: 1000"), "1000 is not a bit rate with a unit"),
        (edited("rate: 1Gbps, ", ""), "f.yaml:8: error: links[0].rate: no rate here and none in defaults"),
        (
            edited("leaf1: {kind: switch}", "leaf1: {kind: switch, role: spine}"),
            "f.yaml:4: error: nodes.leaf1.role: spine: leaf1 has hosts, so it is a leaf",
        ),
        (edited("h1: {kind: host}", "h1: {kind: host, role: leaf}"), "only switches have a role"),
        (
            edited("  h1:", "  leaf2: {kind: switch}\n  h1:"),
            "f.yaml:5: error: nodes.leaf2: leaf2: no path leads from leaf1 to leaf2; a fabric is one connected piece",
        ),
        (edited("  h1:", "  1leaf: {kind: switch}\n  h1:"), "a node's name is a letter followed by"),
        ("name: x\n", "a topology needs nodes and links, leaf_spine, or clos"),
        (
            TINY + "leaf_spine: {leaves: 1, hosts_per_leaf: 1, spines: 1}\n",
            "use either leaf_spine, or nodes and links",
        ),
        (
            "name: x\nleaf_spine: {leaves: 510, hosts_per_leaf: 1, spines: 1}",
            "f.yaml:2: error: leaf_spine.leaves: 510: at most 508 (ports of a spine)",
        ),
        (
            "name: x\nleaf_spine: {leaves: 2, hosts_per_leaf: 1, spines: 0}",
            "several leaves need at least one spine",
        ),
        ("name: x\nleaf_spine: {leaves: 2, hosts_per_leaf: 1, spines: 1.5}", "leaf_spine.spines: 1.5"),
        (
            "name: x\nleaf_spine: {leaves: 2, hosts_per_leaf: 1, spines: 1}",
            "no rate here and none in defaults",
        ),
        ("", "f.yaml: error: the file is empty"),
        ("- 1", "the top level must be a mapping"),
        ("a: [", "f.yaml:1: error: not YAML"),
        ("a:\n\tb: 1", "found character '\\t' that cannot start any token; indent with spaces"),
        (
            "%YAML 1.1\n---\nname: x",
            "f.yaml:1: error: %YAML 1.1: files here are YAML 1.2, in which `yes`, `on`",
        ),
        (
            'name: x\nleaf_spine: {leaves: "2", hosts_per_leaf: 1, spines: 1}',
            "leaf_spine.leaves: 2: must be a whole number; write it without quotes, and without a 0 in front",
        ),
        (
            "name: x\nleaf_spine: {leaves: 010, hosts_per_leaf: 1, spines: 1}",
            "leaf_spine.leaves: 010: must be a whole number; write it without quotes, and without a 0 in front",
        ),
        ("name: x\nnodes: {}\nlinks: {}", "links: must be a list, such as [a, b]"),
        ("a: !!python/object:os.system x", "is not used here"),
        ("? [a]\n: 1", "a key must be plain text"),
        ("[" * 5000, "f.yaml: error: not YAML: nested more than 24 levels deep"),
        (
            "a: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\n"
            "d: &d [*c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d]\nf: [*e, *e, *e, *e, *e, *e, *e]\n",
            "more than 100000 values",
        ),
    ],
)
def test_mistake_is_told_with_its_place(text, error):
    with pytest.raises(InputError) as raised:
        topology.from_text(text, "f.yaml")
    assert error in str(raised.value)


def test_all_mistakes_are_told_at_once_in_file_order():
    text = edited("rate: 1Gbps", "rate: 10").replace("kind: switch", "kind: swtch")
    with pytest.raises(InputError) as raised:
        topology.from_text(text, "f.yaml")
    assert [problem.place.line for problem in raised.value.problems] == [2, 4]


def test_file_that_is_too_large_or_not_text_is_refused(tmp_path):
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


CLOS = """\
name: pods
addressing: {ipv4: 172.16.0.0/12, ipv6: "2001:db8::/40"}
defaults: {rate: 10Gbps, delay: 500ns}
clos:
  pods: 2
  leaves_per_pod: 3
  hosts_per_leaf: 2
  aggregations_per_pod: 2
  uplinks_per_aggregation: 3
  spines: 4
  host_link: {rate: 1Gbps}
  spine_link: {rate: 100Gbps}
"""


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


@pytest.mark.parametrize(
    ("before", "after", "error"),
    [
        ("172.16.0.0/12", "10.0.0.0/24", "addressing.ipv4: 10.0.0.0/24: too long: at most /16"),
        ("172.16.0.0/12", "10.0.0.1/8", "addressing.ipv4: 10.0.0.1/8: a prefix is written like 10.0.0.0/8"),
        ('"2001:db8::/40"', "10.0.0.0/8", "addressing.ipv6: 10.0.0.0/8: a prefix is written like fd00::/48"),
        ("hosts_per_leaf: 2", "hosts_per_leaf: 255", "clos.hosts_per_leaf: 255: at most 254"),
        ("spines: 4", "spines: 0", "clos.spines: 0: input should be greater than or equal to 1"),
        ("pods: 2", "pods: 30000", "f.yaml:5: error: clos.pods: 30000: at most 4095 (prefixes for leaves)"),
        ("pods: 2", "pods: 30000", "a compact form stands for at most 200000"),
        (
            "clos:",
            "leaf_spine: {leaves: 1, hosts_per_leaf: 1, spines: 0}\nclos:",
            "leaf_spine, or clos, not both",
        ),
        ("clos:", "nodes: {}\nclos:", "nodes: use either clos, or nodes and links, not both"),
        ("pods: 2", "pods: 2\n  aggs_per_pod: 3", "unknown key (did you mean leaves_per_pod?)"),
    ],
)
def test_mistake_in_a_fabric_of_three_tiers_is_told(before, after, error):
    with pytest.raises(InputError) as raised:
        topology.from_text(CLOS.replace(before, after), "f.yaml")
    assert error in str(raised.value)


def test_mistakes_of_the_schema_hide_none_of_the_links():
    text = """
name: two-mistakes-of-each-kind
nodes:
  leaf1: {kind: swich, role: leaf}
  h1: {kind: host}
  h2: {kind: host}
links:
  - {endpoints: ["leaf1:1", "h1:1"], rate: fast}
  - {endpoints: ["leaf1:1", "h2:1"], rate: 1Gbps}
  - {endpoints: ["leaf1:2", "h9:1"], rate: 1Gbps}
  - {endpoints: ["leaf1:700", "h2:2"], rate: 1Gbps}
  - {endpoints: [7, "h2:3"], rate: 1Gbps}
defaults: {delay: 1us}
"""
    with pytest.raises(InputError) as error:
        topology.from_text(text, "t.yaml")
    told = [(one.place.line, one.rule) for one in error.value.problems]
    lines = [line for line, _ in told]
    assert {4, 8, 9, 10, 11, 12} <= set(lines), told
    assert any("already has a link" in rule for line, rule in told if line == 9)
    assert any("unknown node 'h9'" in rule for line, rule in told if line == 10)
    assert len(set(told)) == len(told)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '{"hosts": {"h1": {}}, "switches": {"s1": {}}, "links": [["h1", "s1-p1"]]}',
            "is a topology.json of the P4 tutorials; `eeon lab up` runs it",
        ),
        (
            '{"program": "a.p4", "topology": {"links": [["h1", "s1"]], "hosts": {"h1": {}}}}',
            "is p4-utils' p4app.json; `eeon lab up` runs a topology.json of the P4 tutorials",
        ),
    ],
    ids=["tutorials", "p4-utils"],
)
def test_files_of_other_tools_are_named_as_such_with_the_next_step(text: str, says: str):
    with pytest.raises(InputError) as caught:
        topology.from_text(text)
    (problem,) = caught.value.problems
    assert problem.rule.startswith(says)
