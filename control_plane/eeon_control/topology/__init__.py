"""What is there: switches, hosts, links, and the addresses that follow from them.

    topology = eeon_control.topology.load("leaf-spine-4")     # a name that ships, or a path

The file format is described in topologies/README.md. Addresses, MACs, device ids and port roles are computed
here, once, and by nobody else.
"""

from eeon_control.topology.model import (
    Endpoint,
    Host,
    Link,
    Port,
    PortRole,
    Switch,
    SwitchRole,
    Topology,
)
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
]
