"""Applications without tasks: coflows, incast, request and response, open-loop packets."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from eeon_control.model_base import Strict
from eeon_control.sources import KeyPath
from eeon_control.topology import Topology
from eeon_control.units import Bytes, Duration
from eeon_tools.trace.coflow import CoflowReplay
from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from eeon_experiments.quantities import (
    DurationText,
    PositiveDurationText,
    PositiveShareText,
    SizeText,
    SmallSizeText,
)
from eeon_experiments.tcp import Tcp
from eeon_experiments.workloads.base import Application, Broken, Count, differ, unknown_hosts

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

POISSON_FRAME_BYTES = (62, 9014)
"""Limits of a frame; `FRAME_BYTES` in the engine's `workload`."""
_ROUNDING = 1e-9
"""Tolerance of the sum of loads over the whole link rate."""


class Transfer(Strict):
    """One connection that carries bytes one way."""

    source: str
    """The sending host."""
    destination: str
    """The receiving host."""
    size: Annotated[SizeText, Field(serialization_alias="bytes")]
    """Payload."""


class Coflow(Strict):
    """Transfers that belong together. Its name is its key."""

    at: DurationText = Duration(0)
    """Time at which all its connections are opened."""
    transfers: Annotated[list[Transfer], Field(min_length=1)]
    """The transfers of the coflow."""


class CoflowFile(Strict):
    """Coflows of a file in the format of github.com/coflow/coflow-benchmark, in closed loop. A rack of the
    file is a host. Racks are assigned to the leaves in turn. A mapper sends nothing to a reducer on the same
    host. A coflow without transfers between hosts is left out."""

    file: str
    """The file, relative to the experiment's file."""
    first: Count = 1
    """Number of the first coflow to use; the run begins with its arrival."""
    last: Count | None = None
    """Number of the last coflow to use. The default is all that follow."""
    scale: Positive = 1.0
    """Factor applied to the size of every transfer."""
    time_scale: Positive = 1.0
    """Factor applied to the speed of arrivals."""

    def read(self, path: Path, topology: Topology) -> dict[str, object]:
        """Returns the coflows by name, in the form of a workload. Raises CoflowError."""
        taken = CoflowReplay(path, self.first, self.last, self.scale, self.time_scale)
        return {
            f"{coflow['name']}_{ident}": {
                "at": f"{coflow['at_ps']}ps",
                "transfers": [
                    {"source": one["source"], "destination": one["destination"], "size": f"{one['bytes']}B"}
                    for one in coflow["transfers"]
                ],
            }
            for ident, coflow in taken.coflows(list(topology.hosts.values()))
        }


def _form(value: object) -> str:
    named = isinstance(value, dict) and isinstance(value.get("file"), str)
    return "of_a_file" if named or isinstance(value, CoflowFile) else "by_name"


class Coflows(Application):
    """Sets of transfers at given times: permutations, one incast, traces."""

    kind: Literal["coflows"]
    """`coflows`."""
    coflows: Annotated[
        Annotated[dict[str, Coflow], Field(min_length=1), Tag("by_name")]
        | Annotated[CoflowFile, Tag("of_a_file")],
        Discriminator(_form),
    ]
    """Coflows by name, or a list of them with `name`, or a file of them."""

    @property
    def sets(self) -> dict[str, Coflow]:
        """The coflows; `resolve` has replaced a file with its coflows."""
        assert isinstance(self.coflows, dict), "a file has been read"
        return self.coflows

    def broken(self, topology: Topology) -> Iterator[Broken]:
        """Yields hosts that do not exist, or send to themselves."""
        for name, coflow in self.sets.items():
            for index, one in enumerate(coflow.transfers):
                path = ("coflows", name, "transfers", index)
                ends = (((*path, "source"), one.source), ((*path, "destination"), one.destination))
                yield from unknown_hosts(ends, topology)
                yield from differ(one.source, one.destination, (*path, "destination"))


class Incast(Application):
    """A client sends requests to all servers at once, and repeats this when all have responded."""

    kind: Literal["incast"]
    """`incast`."""
    client: str
    """The host that sends requests."""
    servers: Annotated[list[str], Field(min_length=1)]
    """The hosts that respond."""
    size_per_server: Annotated[SizeText, Field(serialization_alias="bytes_per_server")]
    """Size of each server's response."""
    rounds: Count = 1
    """Number of rounds."""
    think: DurationText = Duration(0)
    """Time between the last response and the next request."""

    def broken(self, topology: Topology) -> Iterator[Broken]:
        """Yields hosts that do not exist, and a client among its servers."""
        ends = ((("servers", index), name) for index, name in enumerate(self.servers))
        yield from unknown_hosts(((("client",), self.client), *ends), topology)
        for index, name in enumerate(self.servers):
            yield from differ(self.client, name, ("servers", index))


class Rpc(Application):
    """Requests and responses of host pairs at random times: latency as an application sees it."""

    kind: Literal["rpc"]
    """`rpc`."""
    pairs: list[Annotated[list[str], Field(min_length=2, max_length=2)]] | None = None
    """Pairs of client and server."""
    random_pairs: Count | None = None
    """Number of random pairs, drawn from the seed, instead of `pairs`."""
    request: SmallSizeText
    """Size of a request."""
    response: SizeText
    """Size of a response."""
    mean_interval: PositiveDurationText
    """Mean time between the requests of a pair; exponential, drawn from the seed."""
    connection: Literal["persistent", "new"] = "persistent"
    """One connection for all requests of a pair, or a new one for each."""

    @model_validator(mode="after")
    def _one_way_to_give_pairs(self) -> Self:
        if (self.pairs is None) == (self.random_pairs is None):
            raise ValueError("give either pairs or random_pairs")
        return self

    def broken(self, topology: Topology) -> Iterator[Broken]:
        """Yields hosts that do not exist, pairs of one host, and unlimited requests in the foreground."""
        if not self.background:
            yield ("background",), "must be true: requests are sent until the other applications end"
        for index, (client, server) in enumerate(self.pairs or []):
            ends = ((("pairs", index, 0), client), (("pairs", index, 1), server))
            yield from unknown_hosts(ends, topology)
            yield from differ(client, server, ("pairs", index))


def _frame(size: Bytes) -> Bytes:
    low, high = POISSON_FRAME_BYTES
    if not low <= size <= high:
        raise ValueError(f"must be {low} to {high} bytes: Ethernet, IPv6 and UDP headers take {low}")
    return size


class PoissonFlow(Strict):
    """Frames from one host to another."""

    source: str
    """The sending host."""
    destination: str
    """The receiving host."""
    load: PositiveShareText
    """Share of the source's link rate, for example 10%."""
    frame: Annotated[SmallSizeText, AfterValidator(_frame)]
    """Size of each frame without FCS, from 62B, with the IPv6 and UDP headers alone, to 9014B."""


class Poisson(Application):
    """UDP frames with exponential gaps, drawn from the seed, without responses."""

    kind: Literal["poisson"]
    """`poisson`."""
    flows: Annotated[list[PoissonFlow], Field(min_length=1)]
    """The flows: source, destination and load."""
    duration: PositiveDurationText
    """Time for which frames are sent."""

    def broken(self, topology: Topology) -> Iterator[Broken]:
        """Yields hosts that do not exist or send to themselves, a time without frames, and TCP settings."""
        if self.tcp is not None:
            yield ("tcp",), "has no effect on UDP frames; leave it out"
        frames = 0.0
        for index, flow in enumerate(self.flows):
            path = ("flows", index)
            ends = (((*path, "source"), flow.source), ((*path, "destination"), flow.destination))
            yield from unknown_hosts(ends, topology)
            yield from differ(flow.source, flow.destination, (*path, "destination"))
            if flow.source in topology.hosts:
                port = topology.hosts[flow.source].port
                in_all = int(port.rate) * int(self.duration) / (8 * 10**12 * (flow.frame + port.overhead))
                frames += flow.load * in_all
        if 0 < frames < 1:
            yield ("duration",), f"is time for {frames:.3g} frames on average; make it longer, or load larger"

    def beyond_links(self, loads: defaultdict[str, float]) -> Iterator[Broken]:
        """Adds its loads to those of sources in `loads`, and yields those that exceed the source's link."""
        for index, flow in enumerate(self.flows):
            loads[flow.source] += flow.load
            if loads[flow.source] > 1 + _ROUNDING:
                yield (
                    ("flows", index, "load"),
                    f"makes {loads[flow.source]:.4g} times the link rate of {flow.source}; the loads of one "
                    "source may add up to 100%",
                )

    def longest_frames(self, path: KeyPath, of_run: Tcp) -> Iterator[tuple[KeyPath, Bytes]]:
        """Yields the frames of each flow."""
        for index, flow in enumerate(self.flows):
            yield (*path, "flows", index, "frame"), flow.frame
