"""The settings of one run (RunSettings), in users' units. Docstrings explain the keys; docs/experiments.md
has the table."""

import math
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from eeon_control.config import EEE_PRESETS, Eee
from eeon_control.model_base import Strict, of_text
from eeon_control.sources import KeyPath
from eeon_control.units import Bytes, Duration
from eeon_control.validation import did_you_mean
from eeon_tools.replay.faults import Fault
from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from eeon_experiments.qcn import Dcqcn, Qcn
from eeon_experiments.quantities import DurationText, JitterText, PositiveDurationText, none_for
from eeon_experiments.scheduler import Scheduler
from eeon_experiments.tcp import Tcp
from eeon_experiments.workloads import Workload
from eeon_experiments.workloads.flows import Flows
from eeon_experiments.workloads.transfers import Poisson


def _nic(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value == "as_leaf":
        return None
    if value not in EEE_PRESETS:
        known = ("as_leaf", *EEE_PRESETS)
        raise ValueError(f"must be a mapping or one of {', '.join(known)}{did_you_mean(value, known)}")
    return EEE_PRESETS[value]


class Nic(Strict):
    """The hosts' NICs."""

    eee: Annotated[Eee | None, BeforeValidator(_nic)] = None
    """EEE of the hosts' NICs: `as_leaf` (the default: the configuration's settings for `host`, otherwise
    those of the leaf's port at the other end of the link), a preset such as `off` or `120us100`, or a
    profile."""
    queue: Literal["unlimited", "as_leaf", "fair"] = "unlimited"
    """The NICs' queues: `unlimited` (the default: one FIFO), `fair` (flows take turns by bytes, also without
    limit), or `as_leaf`: the buffer limit and AQM of the leaf's port at the other end of the link, because
    ns-2's links have them in both directions. Only `as_leaf` marks or drops."""
    qcn: Annotated[Qcn | None, none_for("off")] = None
    """React to the switches' congestion notification messages (docs/models/qcn.md; `{}` has the standard's
    values), or `off`, the default. A flow that a scheduler limits keeps the scheduler's limiter."""
    dcqcn: Annotated[Dcqcn | None, none_for("off")] = None
    """DCQCN: receivers answer marked packets with notifications, which limit the senders' flows
    (docs/models/dcqcn.md; `{}` has the published values), or `off`, the default. Not with `qcn`. Data is sent
    with ECT(0): with a TCP without ECN, such as `newreno`, only the NICs react to marks."""

    @model_validator(mode="after")
    def _one_reaction_point(self) -> Self:
        if self.qcn is not None and self.dcqcn is not None:
            raise ValueError("qcn and dcqcn both limit flows; leave one of them out")
        return self


class Host(Strict):
    """The time that a host's TCP, driver and buses need for a segment; the same for every segment."""

    tx_delay: DurationText = Duration(0)
    """Time from the connection to the NIC's queue. Not with a scheduler."""
    rx_delay: DurationText = Duration(0)
    """Time from the frame's arrival to the connection."""


_NAME_OR_MAPPING = {"anyOf": [{"type": "string"}, {"type": "object"}]}


def _name_or_mapping(value: object) -> object:
    if not isinstance(value, (str, dict)) or not value:
        raise ValueError("must be a name from the package, a file, or a mapping")
    return value


def _listed(value: object) -> object:
    if not isinstance(value, list) or not value:
        raise ValueError("must be a list of at least one name, file or mapping")
    return [_name_or_mapping(one) for one in value]


_FAULT = {
    "type": "string",
    "pattern": "^[^@:]+(:[0-9]+)?@.+$",
    "examples": ["leaf1:3@5ms-20ms", "spine1@5ms"],
}
FaultText = Annotated[Fault, *of_text(Fault.parse, _FAULT)]


class RunSettings(Strict):
    """One run of the twin."""

    topology: Annotated[object, BeforeValidator(_name_or_mapping), WithJsonSchema(_NAME_OR_MAPPING)]
    """The fabric: the name of a topology that ships, a file, or the mapping of such a file."""
    link_delay: DurationText = Duration(0)
    """One-way latency that is added to the delay of every link."""
    config: Annotated[
        list[object],
        BeforeValidator(_listed),
        WithJsonSchema({"anyOf": [{"type": "array", "items": _NAME_OR_MAPPING}, {"type": "string"}]}),
    ]
    """Configuration of the switches: names of examples, files, and mappings in the controller's format. Later
    ones override earlier ones. Those of an overlay are appended."""
    nic: Nic = Nic()
    """The hosts' NICs."""
    host: Host = Host()
    """The time that hosts need for a segment."""
    tcp: Tcp = Tcp()
    """TCP of all hosts."""
    workload: Workload
    """The applications of the hosts."""
    start_jitter: JitterText = None
    """Upper limit of random delays, uniform and drawn from the seed, of transfers that an application of kind
    `coflows`, `incast`, `scatter_gather` or `phases` starts at the same instant. Without such delays, equal
    flows stay in step, and runs of different seeds may be equal. `frame`, the default, is the time of a full
    frame (1514 B) on the slowest host's link; 0 disables the delay. The other kinds of applications draw
    the start times of their transfers."""
    scheduler: Scheduler | None = None
    """The scheduler that assigns rates to the applications' flows. The default is TCP alone."""
    faults: list[FaultText] = Field(default_factory=list)
    """Links that fail: with `leaf1:3@5ms-20ms` the link is down from 5 to 20 ms, with `spine1@5ms` every link
    of spine1 is down from 5 ms to the end. The switches at both ends know at once, and no controller
    withdraws routes. Not with a scheduler."""
    time_limit: PositiveDurationText = Duration(3600 * 10**12)
    """Virtual time after which an unfinished run is an error."""
    queue_samples: Annotated[bool, Field(strict=True)] = False
    """Store the depth of every queue over time, in addition to the row."""

    def advice(self) -> list[str]:
        """Returns advice about allowed but unusual settings: one sentence each, with its key."""
        found = []
        taken: dict[str, float] = {}
        for name, application in self.workload.applications.items():
            place = f"workload.applications.{name}"
            tcp = application.effective_tcp(self.tcp)
            of_tcp = "tcp" if application.tcp is None else f"{place}.tcp"
            found += [f"{of_tcp}: {one}" for one in tcp.advice()]
            found += [f"{place}: {one}" for one in application.advice(int(tcp.mss))]
            if isinstance(application, Flows):
                taken[name] = application.taken(int(tcp.mss))
        together = math.fsum(taken.values())
        if max(taken.values(), default=0.0) <= 1 < together:
            found.append(
                f"workload.applications: with headers and handshakes, the loads of {' and '.join(taken)} "
                f"together need {together:.3g} times the link of a host that sends for all of "
                "them, so queues grow while flows start"
            )
        return list(dict.fromkeys(found))

    def can_be_marked(self) -> bool:
        """Returns whether some application sends ECN-capable packets."""
        sending = (one for one in self.workload.applications.values() if not isinstance(one, Poisson))
        return self.nic.dcqcn is not None or any(one.effective_tcp(self.tcp).uses_ecn for one in sending)

    def longest_frames(self) -> Iterator[tuple[KeyPath, Bytes]]:
        """Yields the length of each application's longest frames, with the key that sets it."""
        for name, application in self.workload.applications.items():
            yield from application.longest_frames(("workload", "applications", name), self.tcp)
