"""Flows whose sizes come from a distribution and whose times come from a load, or both from a list: for
slowdowns by size class."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from decimal import ROUND_FLOOR, Context
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal, Self, cast

from eeon_control.model_base import Strict
from eeon_control.topology import PortRole, Topology
from eeon_control.units import Duration
from eeon_control.validation import did_you_mean
from pydantic import BeforeValidator, Field, model_validator

from eeon_experiments.engine_form import Form, engine_form
from eeon_experiments.quantities import DurationText, PositiveDurationText, PositiveShareText, SizeText
from eeon_experiments.workloads.base import Application, Broken, Flag
from eeon_experiments.workloads.flow_files import shipped_points
from eeon_experiments.workloads.queries import racks

if TYPE_CHECKING:
    from eeon_engine.json_types import DrawnSpec, SizesSpec

_NAMES_SHOWN = 8
_ROUNDING = 1e-9
_LIMIT = Context(prec=3, rounding=ROUND_FLOOR)
"""Digits of a limit that a message names; a limit that is rounded up would be refused as well."""
_PACKET_BYTES = 78
"""Bytes that a packet takes on a link beside its payload: TCP and IPv4 without options, Ethernet with FCS,
preamble and gap."""
_PACKETS_WITHOUT_DATA = 3
"""Packets without data that a flow's sender sends: SYN, ACK and FIN."""

HostNumber = Annotated[int, Field(strict=True, ge=0)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Point = Annotated[list[Annotated[float, Field(ge=0, allow_inf_nan=False)]], Field(min_length=2, max_length=2)]


class Lognormal(Strict):
    """Lognormal sizes."""

    mean: SizeText
    """Mean."""
    sigma: Positive
    """Standard deviation of the logarithm."""


class Pareto(Strict):
    """Pareto's sizes."""

    mean: SizeText
    """Mean."""
    shape: Positive
    """Exponent of the tail, above 1."""


class Sizes(Strict):
    """Flow sizes: one of these keys, or the name of a distribution that ships (`websearch`, `datamining`,
    `fb_hadoop`, `ali_storage_2019`, `google_rpc_2008`), or a file, relative to the experiment's file, with
    one line `bytes probability` per size, in fractions or in percent."""

    points: Annotated[list[Point], Field(min_length=2)] | None = None
    """Cumulative distribution: pairs of bytes and the share of flows with at most that size, up to 1. Between
    two points, the size is linear in the share."""
    constant: SizeText | None = None
    """Size of all flows."""
    uniform: Annotated[list[SizeText], Field(min_length=2, max_length=2)] | None = None
    """Smallest and largest size."""
    exponential: SizeText | None = None
    """Mean."""
    lognormal: Lognormal | None = None
    """Mean and sigma."""
    pareto: Pareto | None = None
    """Mean and shape."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError(f"give one of {', '.join(type(self).model_fields)}")
        if self.uniform is not None and self.uniform[0] > self.uniform[1]:
            raise ValueError(
                f"uniform is [smallest, largest], and {self.uniform[0]} is above {self.uniform[1]}"
            )
        return self

    def mean_bytes(self) -> float:
        spec = self.engine()
        if "points" not in spec:
            (of,) = spec.values()
            return float(cast("dict[str, float]", of)["mean_bytes"])
        points = [[spec["points"][0][0], 0.0], *spec["points"]]
        return math.fsum(
            (size + last) / 2 * (share - before) for (last, before), (size, share) in pairwise(points)
        )

    def engine(self) -> SizesSpec:
        if self.exponential is not None:
            return {"exponential": {"mean_bytes": float(self.exponential)}}
        if self.lognormal is not None:
            return {"lognormal": {"mean_bytes": float(self.lognormal.mean), "sigma": self.lognormal.sigma}}
        if self.pareto is not None:
            return {"pareto": {"mean_bytes": float(self.pareto.mean), "shape": self.pareto.shape}}
        if self.points is not None:
            return {"points": self.points}
        low, high = self.uniform or (self.constant, self.constant)
        assert low is not None and high is not None, "one of the sizes is given"
        return {"points": [[float(low), 0.0], [float(high), 1.0]]}


class LognormalGaps(Strict):
    """Lognormal times between flows, which makes them arrive in bursts."""

    lognormal: Annotated[float, Field(ge=0, le=4)]
    """Standard deviation of the logarithm, at most 4."""


def _gaps(value: object) -> object:
    """Refuses any other value in a single line."""
    sigma = value.get("lognormal") if isinstance(value, dict) and len(value) == 1 else None
    if value in ("poisson", "fixed") or (isinstance(sigma, int | float) and 0 <= sigma <= 4):
        return value
    raise ValueError("must be poisson, fixed, or {lognormal: SIGMA} with SIGMA from 0 to 4")


class ListedFlow(Strict):
    """One flow of a list."""

    source: str | HostNumber
    """The sending host: its name, or its number in the fabric's order, from 0."""
    destination: str | HostNumber
    """The receiving host."""
    bytes: Annotated[int, Field(strict=True, ge=1, lt=2**63)]
    """Payload."""
    at_ps: Annotated[int, Field(strict=True, ge=0, lt=2**63)]
    """Start time in picoseconds."""


def _named(value: object) -> object:
    return {"points": shipped_points(value)} if isinstance(value, str) else value


def _listed(value: object) -> object:
    if isinstance(value, str):
        raise ValueError("no file of this name is beside the experiment's; give a file of flows")
    return value


def _name(host: str | int, names: list[str]) -> str:
    return host if isinstance(host, str) else names[host]


class Flows(Application):
    """Flows that start at given times, independently of each other, each over its own connection. A run ends
    when all measured flows have ended."""

    kind: Literal["flows"]
    """`flows`."""
    listed: Annotated[list[ListedFlow], Field(min_length=1), BeforeValidator(_listed)] | None = None
    """A file of flows, relative to the experiment's file, instead of the keys that describe random flows: CSV
    with source, destination, bytes and start (with its unit, or in seconds), HPCC's `flow.txt`, or htsim's
    connection matrix (`.cm`, start in picoseconds). In the last two, hosts are numbers in the fabric's order,
    from 0; ports, classes and priorities are ignored."""
    sizes: Annotated[Sizes, BeforeValidator(_named)] | None = None
    """Flow sizes: the name of a distribution that ships, a file, or one of [Sizes](#sizes)."""
    load: PositiveShareText | None = None
    """Payload of the flows that each sending host starts, as a percentage of its link's rate."""
    pattern: Literal["all_to_all", "permutation", "between_racks", "to_one_rack"] = "all_to_all"
    """Destinations of each host's flows: any other host, always the same random host, any host of another
    rack, or, from the other racks, the hosts of one rack. A rack is the hosts of one leaf."""
    rack: str | None = None
    """The leaf whose hosts `to_one_rack` sends to; the first by default."""
    gaps: Annotated[Literal["poisson", "fixed"] | LognormalGaps, BeforeValidator(_gaps)] = "poisson"
    """Times between the flows of a host: exponential, constant from a random moment on, or lognormal."""
    duration: PositiveDurationText | None = None
    """Time during which flows start."""
    warm_up: DurationText = Duration(0)
    """Flows that start before this time are sent but not measured."""
    cool_down: DurationText = Duration(0)
    """Flows that start within this time before the end are sent but not measured."""
    rows: Flag = False
    """Store one row per flow: `runs/ID.flows.csv.xz`."""

    @model_validator(mode="after")
    def _list_or_drawn(self) -> Self:
        drawn = {"sizes", "load", "pattern", "rack", "gaps", "duration"} & self.model_fields_set
        if self.listed is not None and drawn:
            raise ValueError(f"a list of flows has no {', '.join(sorted(drawn))}; leave them or `listed` out")
        if self.listed is None and not {"sizes", "load", "duration"} <= self.model_fields_set:
            raise ValueError("give sizes, load and duration, or a list of flows")
        if self.rack is not None and self.pattern != "to_one_rack":
            raise ValueError("rack is for the pattern to_one_rack")
        return self

    def broken(self, topology: Topology) -> Iterator[Broken]:
        """Yields hosts and leaves that do not exist, a load that exceeds the leaves' uplinks, and times that
        leave nothing to measure."""
        leaves = racks(topology)
        if self.rack is not None and self.rack not in leaves:
            yield ("rack",), f"topology {topology.name} has no leaf of that name; it has {', '.join(leaves)}"
            return
        if unknown := self._unknown_host(topology):
            yield ("listed",), unknown
            return
        yield from self._beyond_uplinks(topology)
        if self.duration is not None and self.warm_up + self.cool_down >= self.duration:
            key = "warm_up" if self.warm_up else "cool_down"
            yield (key,), f"leaves nothing to measure of a duration of {self.duration}; make it shorter"

    def taken(self, mss: int) -> float:
        """Returns the share of its senders' links that drawn flows take with headers and handshakes, because
        `load` counts payload only; 0 for a list."""
        if self.sizes is None or self.load is None:
            return 0.0
        mean = max(self.sizes.mean_bytes(), 1.0)
        packets = max(mean / mss, 1.0) + _PACKETS_WITHOUT_DATA
        return self.load * (1 + packets * _PACKET_BYTES / mean)

    def advice(self, mss: int) -> Iterator[str]:
        """Yields a sentence if the flows need more than their senders' links."""
        taken = self.taken(mss)
        if taken > 1 and self.sizes is not None and self.load is not None:
            mean = max(self.sizes.mean_bytes(), 1.0)
            yield (
                f"load {self.load:.4g} is the payload alone; with headers and handshakes, flows of "
                f"{mean:.0f}B on average need {taken:.3g} times the link, so queues grow while flows start; "
                f"at most {self.load / taken:.3g} fits"
            )

    def _unknown_host(self, topology: Topology) -> str:
        """Returns a message about the first flow with an end that is not a host; empty if there is none."""
        names = list(topology.hosts)
        for number, one in enumerate(self.listed or (), 1):
            for end in (one.source, one.destination):
                if isinstance(end, int) and end >= len(names):
                    return (
                        f"flow {number} has host number {end}; topology {topology.name} has {len(names)} "
                        "hosts, from 0"
                    )
                if isinstance(end, str) and end not in topology.hosts:
                    more = ", ..." if len(names) > _NAMES_SHOWN else ""
                    return (
                        f"flow {number} has host {end}{did_you_mean(end, names)}; topology {topology.name} "
                        f"has {', '.join(names[:_NAMES_SHOWN])}{more}"
                    )
        return ""

    def _beyond_uplinks(self, topology: Topology) -> Iterator[Broken]:
        """Yields the first leaf whose hosts send or receive, on average, more over its uplinks than these can
        carry."""
        leaves = racks(topology)
        if self.load is None or self.pattern == "permutation" or len(leaves) < 2:
            return
        uplinks: Counter[str] = Counter()
        for port in topology.ports():
            if port.role is PortRole.UPLINK:
                uplinks[port.node] += int(port.rate)
        receivers = {leaf: len(names) for leaf, names in leaves.items()}
        if self.pattern == "to_one_rack":
            rack = self.rack or next(iter(leaves))
            receivers = {rack: receivers[rack]}
        all_receivers = sum(receivers.values())
        elsewhere = {leaf: all_receivers - receivers.get(leaf, 0) for leaf in leaves}
        each = {}  # what a leaf's hosts send to one receiver of another leaf, at a load of 1
        for leaf, names in leaves.items():
            choices = len(topology.hosts) - 1 if self.pattern == "all_to_all" else elsewhere[leaf]
            rate = sum(int(topology.hosts[name].port.rate) for name in names)
            each[leaf] = rate / choices if choices else 0.0
        by_all = math.fsum(each.values())
        for leaf, one in each.items():
            most = max(one * elsewhere[leaf], (by_all - one) * receivers.get(leaf, 0))
            if uplinks[leaf] and self.load * most > uplinks[leaf] * (1 + _ROUNDING):
                yield (
                    ("load",),
                    f"is more than the uplinks of {leaf} carry; with this pattern, the limit is "
                    f"{_LIMIT.create_decimal(100 * uplinks[leaf] / most * (1 + _ROUNDING)):f}%",
                )
                return

    def _own(self, topology: Topology, seed: int) -> Form:
        spec = engine_form(self, ("kind", "warm_up", "cool_down", "rows"))
        if self.listed is None:
            return {**spec, "drawn": self._drawn(topology)}
        names = list(topology.hosts)
        ends = ({"source": _name(one.source, names), "destination": _name(one.destination, names)}
                for one in self.listed)  # fmt: skip
        return {**spec, "list": [{**vars(one), **two} for one, two in zip(self.listed, ends, strict=True)]}

    def _drawn(self, topology: Topology) -> DrawnSpec:
        assert self.sizes is not None and self.load is not None and self.duration is not None, "checked"
        leaves = racks(topology)
        return {
            "racks": [*leaves.values()],
            "pattern": self.pattern,
            "to_rack": [*leaves].index(self.rack) if self.rack is not None else 0,
            "sizes": self.sizes.engine(),
            "load": self.load,
            "gaps": self.gaps
            if isinstance(self.gaps, str)
            else {"lognormal": {"sigma": self.gaps.lognormal}},
            "duration_ps": int(self.duration),
        }
