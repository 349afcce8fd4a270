"""Queries: a host of another rack gathers responses from its whole rack (partition and aggregate)."""

from collections.abc import Iterator
from typing import Annotated, Literal

from eeon_control.topology import Topology
from pydantic import Field

from eeon_experiments.engine_form import Form
from eeon_experiments.quantities import PositiveDurationText, SizeText
from eeon_experiments.workloads.base import Application, Broken, Count, unknown_hosts

_ENDLESS = "is required unless the application is in the background: the run would never end"


class ScatterGather(Application):
    """Scatter and gather. A rack is the hosts of one leaf."""

    kind: Literal["scatter_gather"]
    """`scatter_gather`."""
    clients: Annotated[list[str], Field(min_length=1)] | None = None
    """The hosts that send queries. The default is all hosts. For each query, a random host of another rack
    gathers responses from the hosts of its own rack."""
    request: SizeText | None = None
    """Size of each request; default 280B."""
    response: SizeText
    """Size of each server's response to the gathering host."""
    answer: SizeText
    """Size of the gathering host's response to the client."""
    mean_interval: PositiveDurationText
    """Mean time between a client's queries; exponential, drawn from the seed."""
    queries: Count | None = None
    """Number of queries per client. It may be left out for an application in the background."""

    def broken(self, topology: Topology) -> Iterator[Broken]:
        """Yields hosts that do not exist, racks with one host, and unlimited queries in the foreground."""
        clients = enumerate(self.clients or [])
        yield from unknown_hosts(((("clients", index), name) for index, name in clients), topology)
        leaves = racks(topology).values()
        if len(leaves) < 2 or min(map(len, leaves)) < 2:
            yield ("kind",), f"needs two leaves with two hosts each; topology {topology.name} lacks them"
        if self.queries is None and not self.background:
            yield ("queries",), _ENDLESS

    def _own(self, topology: Topology, seed: int) -> Form:
        hosts = {"clients": self.clients or list(topology.hosts), "racks": [*racks(topology).values()]}
        return {**super()._own(topology, seed), **hosts, "queries": self.queries}


def racks(topology: Topology) -> dict[str, list[str]]:
    """Returns the names of hosts by leaf, in the order of the topology."""
    found: dict[str, list[str]] = {}
    for host in topology.hosts.values():
        found.setdefault(host.port.peer.node, []).append(host.name)
    return found
