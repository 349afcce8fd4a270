"""The form of the topology file: its keys and their values. `builder` checks their combination.
topologies/README.md describes the file."""

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from eeon_control.model_base import Strict, of_text, positive, text_schema
from eeon_control.topology.addresses import Addressing
from eeon_control.topology.model import Endpoint, SwitchRole
from eeon_control.units import Bytes, DataRate, Duration

_NODE = r"[A-Za-z][A-Za-z0-9_-]{0,62}"
_NODE_NAME = re.compile(_NODE)
_ENDPOINT = re.compile(rf"({_NODE}):(?:eth)?([0-9]{{1,6}})")

# Preamble and SFD 8, FCS 4, inter-frame gap 12 (IEEE 802.3 clauses 3.1.1, 4.4.2).
DEFAULT_OVERHEAD = Bytes(24)
FASTEST = DataRate.parse("10Tbps")
"""The maximum rate of a link: six times the rate of IEEE P802.3dj."""
LONGEST = Duration.parse("1s")
"""The maximum delay of a link: more than to a geostationary satellite and back."""


def _node_name(text: object) -> str:
    if not isinstance(text, str) or not _NODE_NAME.fullmatch(text):
        raise ValueError("a node name starts with a letter and has up to 63 letters, digits, - and _")
    return text


def endpoint(text: object) -> Endpoint:
    """Parses one end of a link in the form of the files. Raises ValueError with the rule."""
    match = _ENDPOINT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError("write an endpoint as node:port, for example leaf1:3 or leaf1:eth3")
    return Endpoint(match[1], int(match[2]))


NodeName = Annotated[
    str, BeforeValidator(_node_name), WithJsonSchema({"type": "string", "pattern": f"^{_NODE}$"})
]
EndpointText = Annotated[
    Endpoint,
    *of_text(
        endpoint,
        {"type": "string", "pattern": f"^{_ENDPOINT.pattern}$", "examples": ["leaf1:3", "leaf1:eth3"]},
    ),
]
_rate = positive(DataRate, FASTEST, what="a link's rate ", hint=", for example 10Gbps")
_delay = positive(Duration, LONGEST, what="a link's delay ", hint=" (5 m of cable take 25ns, 1 km 5us)")
RateText = Annotated[DataRate, *of_text(_rate, text_schema(DataRate, examples=["10Gbps"]))]
DelayText = Annotated[Duration, *of_text(_delay, text_schema(Duration, examples=["500ns"]))]
BytesText = Annotated[Bytes, *of_text(Bytes.parse, text_schema(Bytes, examples=["24B"]))]


class LinkValues(Strict):
    """Rate, delay and overhead of a link. Keys that are left out come from the file's `defaults`."""

    rate: RateText | None = None
    """Bit rate of each direction."""
    delay: DelayText | None = None
    """Propagation delay of each direction; 25ns for 5 m of cable."""
    overhead: BytesText | None = None
    """Bytes that a frame occupies on the wire in addition to those that a switch sees. The default is 24B:
    preamble and SFD 8, FCS 4, inter-frame gap 12 (IEEE 802.3 clauses 3.1.1, 4.4.2)."""


class LinkFile(LinkValues):
    """One link of the long form."""

    endpoints: Annotated[list[EndpointText], Field(min_length=2, max_length=2)]
    """The two ends, each written node:port. Switch ports are 0 to 508."""


class NodeFile(Strict):
    """One node of the long form."""

    kind: Literal["switch", "host"]
    """A host has exactly one link, to a switch."""
    role: SwitchRole | None = None
    """Of a switch: `leaf` or `spine`. A switch with hosts is a leaf; any other is a spine unless this key is
    `leaf`."""


class LeafSpineFile(Strict):
    """The compact form of two tiers: every leaf has the same hosts and one link to every spine."""

    leaves: Annotated[int, Field(strict=True, ge=1)]
    """Number of leaves."""
    hosts_per_leaf: Annotated[int, Field(strict=True, ge=1)]
    """Number of hosts per leaf, on its ports 1, 2, ..."""
    spines: Annotated[int, Field(strict=True, ge=0)]
    """Number of spines; each has one link to every leaf."""
    host_link: LinkValues = LinkValues()
    """Links between hosts and leaves."""
    uplink: LinkValues = LinkValues()
    """Links between leaves and spines."""


class ClosFile(Strict):
    """The compact form of three tiers: pods of leaves and aggregation switches, joined by spines.

    In a pod every leaf has one link to every aggregation switch. The uplinks of the aggregation switches go
    to the spines in turn, so that the spines' numbers of links differ by at most one.
    """

    pods: Annotated[int, Field(strict=True, ge=1)]
    """Number of pods."""
    leaves_per_pod: Annotated[int, Field(strict=True, ge=1)]
    """Number of leaves per pod."""
    hosts_per_leaf: Annotated[int, Field(strict=True, ge=1)]
    """Number of hosts per leaf, on its ports 1, 2, ..."""
    aggregations_per_pod: Annotated[int, Field(strict=True, ge=1)]
    """Number of aggregation switches per pod."""
    uplinks_per_aggregation: Annotated[int, Field(strict=True, ge=1)]
    """Number of links from each aggregation switch to spines."""
    spines: Annotated[int, Field(strict=True, ge=1)]
    """Number of spines."""
    host_link: LinkValues = LinkValues()
    """Links between hosts and leaves."""
    uplink: LinkValues = LinkValues()
    """Links between leaves and aggregation switches."""
    spine_link: LinkValues = LinkValues()
    """Links between aggregation switches and spines."""


class TopologyFile(Strict):
    """The switches, hosts and links of a fabric, either as `nodes` and `links` or in a compact form,
    `leaf_spine` or `clos`."""

    name: NodeName
    """Name of the fabric."""
    description: str = ""
    """Description of the fabric, in one line."""
    addressing: Addressing = Addressing()
    """The prefixes from which addresses are assigned."""
    defaults: LinkValues = LinkValues()
    """Rate, delay and overhead of links that give none."""
    nodes: dict[NodeName, NodeFile] | None = None
    """Switches and hosts, by name."""
    links: list[LinkFile] | None = None
    """Links, each with its two endpoints."""
    leaf_spine: LeafSpineFile | None = None
    """Two tiers, in short."""
    clos: ClosFile | None = None
    """Three tiers, in short."""
