"""The topology file's shape: which keys there are and what each value looks like. What they mean together is
checked in `builder`. The prose description is topologies/README.md."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator

from eeon_control.topology.model import Endpoint, SwitchRole
from eeon_control.units import Bytes, DataRate, Duration

_NODE = r"[A-Za-z][A-Za-z0-9_-]{0,62}"
_NODE_NAME = re.compile(_NODE)
_ENDPOINT = re.compile(rf"({_NODE}):(?:eth)?([0-9]{{1,6}})")

# Preamble and SFD 8, FCS 4, inter-frame gap 12 (IEEE 802.3 clauses 3.1.1, 4.4.2).
DEFAULT_OVERHEAD = Bytes(24)


def _node_name(text: object) -> str:
    if not isinstance(text, str) or not _NODE_NAME.fullmatch(text):
        raise ValueError("a node's name is a letter followed by letters, digits, - and _ (at most 63)")
    return text


def _endpoint(text: object) -> Endpoint:
    match = _ENDPOINT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError("an endpoint is written node:port, for example leaf1:3 or leaf1:eth3")
    return Endpoint(match[1], int(match[2]))


def _positive_rate(text: object) -> DataRate:
    rate = DataRate.parse(text)
    if rate <= 0:
        raise ValueError("a link's rate must be above zero, for example 10Gbps")
    return rate


def _positive_delay(text: object) -> Duration:
    delay = Duration.parse(text)
    if delay <= 0:
        raise ValueError("a link's delay must be above zero (5 m of cable take 25ns)")
    return delay


NodeName = Annotated[str, BeforeValidator(_node_name)]
EndpointText = Annotated[Endpoint, PlainValidator(_endpoint)]
RateText = Annotated[DataRate, PlainValidator(_positive_rate)]
DelayText = Annotated[Duration, PlainValidator(_positive_delay)]
BytesText = Annotated[Bytes, PlainValidator(Bytes.parse)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class LinkValues(_Strict):
    """Rate, delay and overhead of a link; what is left out comes from the file's `defaults`."""

    rate: RateText | None = None
    delay: DelayText | None = None
    overhead: BytesText | None = None


class LinkFile(LinkValues):
    """One link of the long form."""

    endpoints: Annotated[list[EndpointText], Field(min_length=2, max_length=2)]


class NodeFile(_Strict):
    """One node of the long form."""

    kind: Literal["switch", "host"]
    role: SwitchRole | None = None


class LeafSpineFile(_Strict):
    """The compact form: every leaf has the same hosts and one link to every spine."""

    leaves: Annotated[int, Field(strict=True, ge=1)]
    hosts_per_leaf: Annotated[int, Field(strict=True, ge=1)]
    spines: Annotated[int, Field(strict=True, ge=0)]
    host_link: LinkValues = LinkValues()
    uplink: LinkValues = LinkValues()


class TopologyFile(_Strict):
    """The whole file: `leaf_spine`, or `nodes` and `links`."""

    name: NodeName
    description: str = ""
    defaults: LinkValues = LinkValues()
    nodes: dict[NodeName, NodeFile] | None = None
    links: list[LinkFile] | None = None
    leaf_spine: LeafSpineFile | None = None
