"""Files of containerlab as topologies: what is read of them, what is assumed and said, and what has no place."""

from __future__ import annotations

import pytest
from eeon_control import config, plan, topology
from eeon_control.errors import InputError
from eeon_control.units import Duration

CLOS = """\
name: clos01
prefix: ""
mgmt: {network: clos, ipv4-subnet: 172.20.20.0/24}
topology:
  defaults: {kind: nokia_srlinux}
  groups:
    clients: {kind: linux}
  kinds:
    nokia_srlinux: {image: srlinux}
    linux: {image: network-multitool}
  nodes:
    leaf1: {type: ixrd3}
    leaf2:
    spine1: {kind: arista_ceos}
    client1: {group: clients}
    client2: {kind: linux}
    gnmic: {kind: linux, cmd: --config x}
  links:
    - endpoints: ["leaf1:e1-49", "spine1:eth1"]
      labels: {rate: 100Gbps, delay: 1us}
    - endpoints: ["leaf2:ethernet-1/49", "spine1:eth2_1"]
    - endpoints: ["client1:eth1", "leaf1:e1-1"]
    - type: veth
      endpoints:
        - {node: client2, interface: eth1}
        - {node: leaf2, interface: ethernet-1/1/3}
"""


def told(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        topology.from_text(text, "f.clab.yml")
    return [str(problem) for problem in caught.value.problems]


def test_a_fabric_of_containerlab_has_its_switches_hosts_and_links():
    clos = topology.from_text(CLOS)
    assert {name: switch.role.value for name, switch in clos.switches.items()} == {
        "leaf1": "leaf",
        "leaf2": "leaf",
        "spine1": "spine",
    }
    assert {name: host.leaf for name, host in clos.hosts.items()} == {"client1": "leaf1", "client2": "leaf2"}
    assert [(str(one.a), str(one.b), str(one.rate), str(one.delay)) for one in clos.links] == [
        ("leaf1:49", "spine1:1", "100Gbps", "1us"),
        ("leaf2:49", "spine1:66", "10Gbps", "500ns"),
        ("client1:1", "leaf1:1", "10Gbps", "500ns"),
        ("client2:1", "leaf2:193", "10Gbps", "500ns"),
    ]
    assert plan.intended(clos, config.load("mark_threshold"), Duration(1000)).keys() == clos.switches.keys()


def test_what_is_assumed_and_left_out_is_a_warning():
    clos = topology.from_text(CLOS, "clos.clab.yml")
    (warning,) = config.check(config.load("mark_threshold"), clos, Duration(1000))
    assert str(warning) == (
        "clos.clab.yml: warning: a containerlab file says no rate and delay: rate 10Gbps and delay 500ns are "
        "assumed; give `labels: {rate: 25Gbps, delay: 500ns}` of a link, or the same as `defaults` at the top; "
        "nodes without a link are left out: gnmic"
    )


def test_a_fabric_that_was_read_is_kept_without_assumptions():
    clos = topology.from_text(CLOS)
    again = topology.from_value(dict(clos.document), "revision 1")
    assert (again.links, again.hosts, again.assumed) == (clos.links, clos.hosts, "")


def test_nodes_at_the_top_with_defaults_need_no_assumption():
    found = topology.from_text(
        "name: sonic\ndefaults: {rate: 25Gbps, delay: 500ns}\naddressing: {ipv4: 10.64.0.0/12}\n"
        "nodes: {s: {kind: sonic-vm}, h: {kind: linux}, g: {kind: linux}}\n"
        "links: [{endpoints: [s:Ethernet0, h:eth1]}, {endpoints: [s:Ethernet4, g:eth1], rate: 10Gbps}]\n"
    )
    assert [port.name for port in found.ports()] == ["s:0", "s:4"]
    assert [str(port.rate) for port in found.ports()] == ["25Gbps", "10Gbps"]
    assert (str(found.hosts["h"].ipv4), found.assumed) == ("10.64.1.1", "")


@pytest.mark.parametrize("kind", ["ext-container", "generic_vm", "keysight_ixia-c-one", "spirent_stc"])
def test_containers_machines_and_traffic_generators_are_hosts(kind: str):
    found = topology.from_text(
        f"name: n\ntopology: {{nodes: {{s: {{kind: x}}, h: {{kind: {kind}}}}}, links: [{{type: veth-stitch, endpoints: [s:eth1, h:eth1]}}]}}"
    )
    assert (list(found.switches), list(found.hosts)) == (["s"], ["h"])


def test_a_switch_with_one_link_may_be_meant_as_a_host():
    links = "  - endpoints: [s:eth1, h:eth1]\n  - endpoints: [s:eth2, firewall:eth1]\n"
    said = topology.from_text(nodes(links, ", firewall: {kind: paloalto_panos}")).assumed
    assert "switches with one link, which may be meant as hosts, kind linux: firewall" in said
    assert "may be meant" not in topology.from_text(nodes("  - endpoints: [s:eth1, h:eth1]\n")).assumed


def test_an_interface_of_a_host_has_any_name():
    (link,) = topology.from_text(nodes("  - endpoints: [s:eth1, h:to-s]\n")).links
    assert (str(link.a), str(link.b)) == ("s:1", "h:0")


def test_a_bridge_without_a_link_is_left_out():
    said = topology.from_text(nodes("  - endpoints: [s:eth1, h:eth1]\n", ", b: {kind: bridge}")).assumed
    assert "nodes without a link are left out: b" in said


def test_a_lab_without_hosts_says_that_nothing_is_routed():
    text = "name: n\ntopology: {nodes: {a: {kind: x}, b: {kind: x}}, links: [{endpoints: [a:e1-1, b:e1-1]}]}"
    assert "no node has kind linux, a host: no switch is a leaf" in topology.from_text(text).assumed


@pytest.mark.parametrize(
    ("interface", "number"),
    [
        ("eth3", 3),
        ("e1-49", 49),
        ("ethernet-1/49", 49),
        ("e1-3-2", 131),
        ("ethernet-1/3/2", 131),
        ("Ethernet48", 48),
        ("Ethernet1/7", 7),
        ("Ethernet3/2", 131),
        ("eth3_2", 131),
        ("swp5", 5),
        ("ge-0/0/4", 4),
        ("Gi0/0/0/6", 6),
        ("1/1/3", 3),
        ("1/1/c3/2", 131),
        ("5", 5),
    ],
)
def test_a_ports_number_is_that_of_its_interface(interface: str, number: int):
    found = topology.from_text(
        f"name: n\ntopology: {{nodes: {{s: {{kind: x}}, h: {{kind: linux}}}}, links: [{{endpoints: ['s:{interface}', h:eth1]}}]}}"
    )
    assert [port.number for port in found.ports()] == [number]


def test_a_labs_name_becomes_a_fabrics():
    text = "topology: {nodes: {a: {kind: x}, b: {kind: x}}, links: [{endpoints: [a:e1-1, b:e1-1]}]}"
    for given, name in (("02-two.srls", "clab-02-two-srls"), ("my.lab", "my-lab"), ("ab_c-1", "ab_c-1")):
        assert topology.from_text(f"name: {given}\n{text}").name == name


def nodes(links: str, more: str = "") -> str:
    return f"name: n\ntopology:\n  nodes: {{s: {{kind: x}}, h: {{kind: linux}}{more}}}\n  links:\n{links}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            nodes("  - endpoints: [s:mgmt, h:eth1]\n"),
            "links[0].endpoints[0]: s:mgmt: no port's number is known",
        ),
        (nodes("  - endpoints: [s:e2-1, h:eth1]\n"), "s:e2-1: no port's number is known"),
        (nodes("  - endpoints: [s:e1-99-1, h:eth1]\n"), "s:e1-99-1: no port's number is known"),
        (
            nodes("  - endpoints: [s:eth600, h:eth1]\n"),
            "f.clab.yml:5: error: links[0].endpoints[0]: s:600: ports are",
        ),
        (nodes("  - endpoints: [t:eth1, h:eth1]\n"), "unknown node 't'"),
        (nodes("  - endpoints: [s:eth1, host:veth-x]\n"), "host:veth-x: leads out of the fabric; remove"),
        (nodes("  - endpoints: [s:eth1]\n"), "a link of a fabric is one of type veth, with two endpoints"),
        (
            nodes("  - {type: mgmt-net, endpoint: {node: s, interface: eth1}}\n"),
            "links[0]: mgmt-net: leads out of the fabric, whose links join two nodes; remove it",
        ),
        (
            nodes("  - endpoints: [s:eth1, b:eth1]\n", ", b: {kind: bridge}"),
            "nodes.b: b: kind bridge is a bridge of the lab's machine: it forwards by MAC address",
        ),
        (
            nodes("  - endpoints: [s:eth1, b:to-s]\n", ", b: {kind: ovs-bridge}"),
            "nodes.b: b: kind ovs-bridge is a bridge of the lab's machine",
        ),
        (
            nodes("  - endpoints: [s:eth1, m:eth1]\n", ", m: {kind: host}"),
            "nodes.m: m: kind host is the machine that runs the lab. Remove its links; a host of the fabric",
        ),
        (nodes("  - 7\n"), "a link is a mapping with endpoints"),
        (nodes("    []\n"), "a fabric needs links"),
        ("name: n\ntopology: {nodes: [s, h], links: []}", "topology.nodes: must be a mapping, of names"),
        (nodes("{{ range . }}\n  - x\n"), "this is a template: give what it makes"),
        (
            nodes("  - endpoints: [s:eth1, h:eth1]\n  - endpoints: [s:eth2, h:eth2]\n"),
            "nodes.h: h: kind linux is a host, which has exactly one link; this one has 2",
        ),
        (
            nodes("  - endpoints: [s:eth1, i:eth1]\n", ", i: {image: y}"),
            "nodes.i: i: no kind here, in its group",
        ),
        (
            nodes("  - endpoints: [s:eth1, h:eth1]\n    labels: {rate: fast}\n"),
            "f.clab.yml:6: error: links[0].rate: fast: 'fast' is not a bit rate",
        ),
        (
            nodes(
                "  - endpoints: [s:eth1, h:eth1]\n  - endpoints: [s:Ethernet1, h2:eth1]\n",
                ", h2: {kind: linux}",
            ),
            "f.clab.yml:6: error: links[1].endpoints[0]: s:1: this port already has a link (f.clab.yml:5)",
        ),
        (
            nodes("  - endpoints: [s.1:eth1, h:eth1]\n", ", s.1: {kind: x}"),
            "a node's name is a letter followed by letters, digits, - and _",
        ),
    ],
)
def test_what_has_no_place_is_refused_where_it_stands(text: str, says: str):
    assert any(says in line for line in told(text)), told(text)
