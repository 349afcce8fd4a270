"""Files of containerlab as topologies: what is read, what is assumed with a warning, and what is refused."""

from pathlib import Path

import pytest
from eeon_control import config, plan, topology
from eeon_control.units import Duration
from expected_rows import bases

CLOS = bases(Path(__file__).parent / "expected" / "topology.yaml")["containerlab"]


def test_what_is_assumed_and_left_out_is_a_warning():
    clos = topology.from_text(CLOS, "clos.clab.yml")
    (warning,) = config.check(config.load("mark_threshold"), clos, Duration(1000))
    assert str(warning) == (
        "clos.clab.yml: warning: links without rate and delay get rate 10Gbps and delay 500ns; set "
        "`labels: {rate: 25Gbps, delay: 500ns}` on a link, or `defaults` with these keys at the top; "
        "nodes without a link are left out: gnmic"
    )


def test_a_fabric_can_be_planned():
    clos = topology.from_text(CLOS)
    assert plan.intended(clos, config.load("mark_threshold"), Duration(1000)).keys() == clos.switches.keys()


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
    assert (str(found.hosts["h"].ipv4), found.assumed) == ("10.64.1.1", "")


@pytest.mark.parametrize("kind", ["ext-container", "generic_vm", "keysight_ixia-c-one", "spirent_stc"])
def test_containers_machines_and_traffic_generators_are_hosts(kind: str):
    nodes, link = (
        f"{{s: {{kind: x}}, h: {{kind: {kind}}}}}",
        "{type: veth-stitch, endpoints: [s:eth1, h:eth1]}",
    )
    found = topology.from_text(f"name: n\ntopology: {{nodes: {nodes}, links: [{link}]}}")
    assert (list(found.switches), list(found.hosts)) == (["s"], ["h"])
