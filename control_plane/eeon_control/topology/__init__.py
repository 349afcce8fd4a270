"""The topology: switches, hosts, links, and their addresses.

    topology = eeon_control.topology.load("leaf-spine-4")     # a packaged name, or a path

topologies/README.md describes the file format. Addresses, MACs, device ids and port roles are computed only
here.
"""

from eeon_control.topology.addresses import mac_number, mac_text
from eeon_control.topology.model import Endpoint, Host, Link, Port, PortRole, Switch, SwitchRole, Topology
from eeon_control.topology.paths import base_rtt
from eeon_control.topology.reader import from_document, from_text, from_value, load

__all__ = [
    "Endpoint",
    "Host",
    "Link",
    "Port",
    "PortRole",
    "Switch",
    "SwitchRole",
    "Topology",
    "base_rtt",
    "from_document",
    "from_text",
    "from_value",
    "load",
    "mac_number",
    "mac_text",
]
