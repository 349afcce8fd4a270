"""Links and switches that fail in a twin, in the notation of users: `leaf1:3@5ms-20ms`, `spine1@5ms`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from eeon_control.errors import UnitError
from eeon_control.topology import Topology
from eeon_control.units import Duration
from eeon_control.validation import did_you_mean

if TYPE_CHECKING:
    from eeon_engine.json_types import FaultSpec, FaultyLinkReport, Report, TrafficReport

FORM = "NODE[:PORT]@TIME[-TIME]"
_EXAMPLES = "leaf1:3@5ms-20ms, or spine1@5ms"
_LONGEST = Duration(1000 * 10**12)  # the engine's limit for every time in its spec


@dataclass(frozen=True)
class Fault:
    """The link at a port, or every link of a node, is down from `at` until `until`, or until the end of the
    run."""

    node: str
    port: int | None
    at: Duration
    until: Duration | None

    @classmethod
    def parse(cls, text: object) -> Fault:
        """Parses `leaf1:3@5ms-20ms`. Raises ValueError for any other form."""
        place, sign, times = str(text).partition("@")
        node, colon, port = place.partition(":")
        first, dash, last = times.partition("-")
        if not (sign and node and first and bool(colon) == port.isdecimal() and bool(dash) == bool(last)):
            raise ValueError(f"must be {FORM}, for example {_EXAMPLES}")
        try:
            at, until = Duration.parse(first), Duration.parse(last) if last else None
        except UnitError as error:
            raise ValueError(str(error)) from None
        if until is not None and until <= at:
            raise ValueError(f"comes back at {until}, but fails at {at}; give a later end")
        if (until or at) > _LONGEST:
            raise ValueError(f"{until or at} is longer than {_LONGEST}, the longest time of a twin")
        return cls(node, int(port) if port else None, at, until)

    def check(self, topology: Topology) -> None:
        """Raises ValueError if the fabric has no such link."""
        switch = topology.switches.get(self.node)
        if switch is None and self.node not in topology.hosts:
            known = [*topology.switches, *topology.hosts]
            raise ValueError(f"{topology.name} has no node {self.node}{did_you_mean(self.node, known)}")
        if self.port is None:
            return
        if switch is None:
            raise ValueError(f"{self.node} is a host, which has one link: write {self.node}@{self.at}")
        numbers = [port.number for port in switch.ports]
        if self.port not in numbers:
            raise ValueError(
                f"{self.node} has no link at port {self.port}; it has {', '.join(map(str, numbers))}"
            )

    def engine(self) -> FaultSpec:
        until_ps = None if self.until is None else int(self.until)
        return {"node": self.node, "port": self.port, "at_ps": int(self.at), "until_ps": until_ps}

    def __str__(self) -> str:
        port = "" if self.port is None else f":{self.port}"
        until = "" if self.until is None else f"-{self.until}"
        return f"{self.node}{port}@{self.at}{until}"


@dataclass(frozen=True)
class Transmitter:
    """One direction of a link, from `node` to `peer`; a host has no port."""

    node: str
    port: int | None
    peer: str

    @property
    def name(self) -> str:
        """`leaf1:3 to spine1`, `h1 to leaf1`."""
        port = "" if self.port is None else f":{self.port}"
        return f"{self.node}{port} to {self.peer}"


@dataclass(frozen=True)
class FaultyLink(Transmitter):
    """One direction of a link that was to fail. `down_ms`: its time down; `lost`: the packets that it lost,
    by class; `control` are pauses and congestion messages."""

    down_ms: float
    lost: Mapping[str, int]

    @classmethod
    def of(cls, report: FaultyLinkReport, topology: Topology) -> FaultyLink:
        port = None if report["node"] in topology.hosts else report["port"]
        return cls(report["node"], port, report["peer"], report["down_ps"] / 10**9, report["lost"])


def lost_by_class(report: Report | TrafficReport) -> Counter[str]:
    """Returns the losses of all links by class; empty for a live fabric, whose reports have no faults."""
    found: Counter[str] = Counter()
    for link in cast("list[FaultyLinkReport]", report.get("faults", [])):
        found.update(link["lost"])
    return found
