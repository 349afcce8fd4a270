"""One run as data: RunSettings, in users' units. What a key means is its docstring; docs/experiments.md has
the table."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from eeon_control.config import EEE_PRESETS, Eee
from eeon_control.model_base import Strict, of_text
from eeon_control.units import Duration
from eeon_control.validation import did_you_mean
from eeon_tools.replay.faults import Fault
from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from eeon_experiments.qcn import Dcqcn, Qcn
from eeon_experiments.quantities import DurationText, JitterText, PositiveDurationText
from eeon_experiments.scheduler import Scheduler
from eeon_experiments.tcp import Tcp
from eeon_experiments.workloads import Workload


def _nic(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value == "as_leaf":
        return None
    if value not in EEE_PRESETS:
        known = ("as_leaf", *EEE_PRESETS)
        raise ValueError(f"must be a mapping or one of {', '.join(known)}{did_you_mean(value, known)}")
    return EEE_PRESETS[value]


def _or_off(value: object) -> object:
    return None if value == "off" else value


class Nic(Strict):
    """The hosts' NICs."""

    eee: Annotated[Eee | None, BeforeValidator(_nic)] = None
    """EEE of the hosts' NICs: `as_leaf` (default: what the configuration says for `host`, otherwise as the
    leaf's port at the other end of the link), a preset such as `off` or `120us100`, or a profile."""
    queue: Literal["unlimited", "as_leaf", "fair"] = "unlimited"
    """The NICs' queues: `unlimited` (default; one FIFO), `fair` (flows take turns by bytes, without limit as
    well), or `as_leaf`: buffer limit and AQM of the leaf's port at the other end of the link, as ns-2's links
    have them in both directions. Only `as_leaf` marks or drops."""
    qcn: Annotated[Qcn | None, BeforeValidator(_or_off)] = None
    """Obey the switches' congestion notification messages (docs/models/qcn.md; `{}` has the standard's
    values), or `off`, the default. A flow that a scheduler limits keeps that limiter."""
    dcqcn: Annotated[Dcqcn | None, BeforeValidator(_or_off)] = None
    """DCQCN: receivers answer marked packets with notifications, which limit the senders' flows
    (docs/models/dcqcn.md; `{}` has the published values), or `off`, the default. Not with `qcn`. Data leaves
    with ECT(0): with a TCP that knows no ECN, such as `newreno`, the NICs alone answer marks."""

    @model_validator(mode="after")
    def _one_reaction_point(self) -> Self:
        if self.qcn is not None and self.dcqcn is not None:
            raise ValueError("qcn and dcqcn both limit flows; leave one of them out")
        return self


class Host(Strict):
    """What a host's TCP, driver and buses take for a segment; the same for each."""

    tx_delay: DurationText = Duration(0)
    """From the connection to the NIC's queue. Not with a scheduler."""
    rx_delay: DurationText = Duration(0)
    """From the frame's arrival to the connection."""


_NAME_OR_MAPPING = {"anyOf": [{"type": "string"}, {"type": "object"}]}


def _name_or_mapping(value: object) -> object:
    if not isinstance(value, (str, dict)) or not value:
        raise ValueError("must be the name of one that ships, a file, or a mapping")
    return value


def _listed(value: object) -> object:
    if not isinstance(value, list) or not value:
        raise ValueError("must be a list of names, files or mappings, with at least one")
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
    """The fabric: a name that ships, a file, or the mapping that such a file holds."""
    link_delay: DurationText = Duration(0)
    """One-way latency that is added to every link's own."""
    config: Annotated[
        list[object],
        BeforeValidator(_listed),
        WithJsonSchema({"anyOf": [{"type": "array", "items": _NAME_OR_MAPPING}, {"type": "string"}]}),
    ]
    """Configuration of the switches: names of examples, files, and mappings in the controller's format, later
    ones over earlier ones. An overlay's are appended to those before it."""
    nic: Nic = Nic()
    """What the hosts' NICs do."""
    host: Host = Host()
    """How long hosts take for a segment."""
    tcp: Tcp = Tcp()
    """TCP of all hosts."""
    workload: Workload
    """What hosts do."""
    start_jitter: JitterText = None
    """Transfers that an application of kind `coflows`, `incast`, `scatter_gather` or `phases` begins at the
    same instant begin later by times that the seed draws, uniform below this; without it equal flows stay in
    step, and seeds may differ in nothing. `frame`, the default: the time of a full frame (1514 B) on the
    slowest host's link. 0 for none. The other kinds draw when their transfers begin."""
    scheduler: Scheduler | None = None
    """The scheduler that gives the applications' flows their rates; without it, TCP alone does."""
    faults: list[FaultText] = Field(default_factory=list)
    """Links that fail: `leaf1:3@5ms-20ms` is down from 5 to 20 ms, `spine1@5ms` has every link down from 5 ms
    to the end. The switches at both ends know at once, and no controller withdraws routes. Not with a
    scheduler."""
    time_limit: PositiveDurationText = Duration(3600 * 10**12)
    """Virtual time after which an unfinished run is an error."""
    queue_samples: Annotated[bool, Field(strict=True)] = False
    """Keep the depth of every queue over time beside the row."""
