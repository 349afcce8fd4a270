"""The configuration as a whole: profiles, where they are attached, routing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PlainValidator, PrivateAttr, model_validator

from eeon_control.config.queues import U32_MAX, Queue, Strict
from eeon_control.sources import Document
from eeon_control.topology.model import Port, PortRole
from eeon_control.units import Bytes, Duration, Packets, parse_size


@dataclass(frozen=True)
class Trigger:
    """How much may be held before a sleeping link is woken early; None means that this trigger is off."""

    packets: Packets | None = None
    bytes: Bytes | None = None


def _trigger(value: object) -> Trigger:
    """`10pkt`, `15KB`, or a list with one of each."""
    items = value if isinstance(value, list) else [value]
    found: dict[str, Any] = {}
    for item in items:
        size = parse_size(item)
        key = "packets" if isinstance(size, Packets) else "bytes"
        if size < 1:
            raise ValueError("a trigger is at least 1pkt or 1B; leave it out to wake by the hold timer alone")
        if size > U32_MAX:
            raise ValueError(f"a trigger is at most {U32_MAX} (32 bits)")
        if key in found:
            raise ValueError(f"the trigger is given twice in {key}")
        found[key] = size
    if not found:
        raise ValueError("an empty trigger; write for example 10pkt, 15KB or [10pkt, 15KB]")
    return Trigger(**found)


DurationText = Annotated[Duration, PlainValidator(Duration.parse)]
TriggerText = Annotated[Trigger, PlainValidator(_trigger)]


class Eee(Strict):
    """Energy-Efficient Ethernet of a transmitter.

    `off`: the link never sleeps. `standard`: it sleeps when idle and wakes at the next packet. `coalesce`:
    the first packet that finds it asleep starts the `hold` timer; it wakes when the timer ends or `trigger`
    packets (or bytes) are held. `stall`: idle time before going to sleep. `sleep`, `wake`: Ts and Tw instead
    of those of the link speed's PHY (topology.phy).
    """

    mode: Literal["off", "standard", "coalesce"]
    hold: DurationText | None = None
    trigger: TriggerText | None = None
    stall: DurationText = Duration(0)
    sleep: DurationText | None = None
    wake: DurationText | None = None

    @model_validator(mode="after")
    def _keys_fit_mode(self) -> Self:
        if self.mode == "coalesce":
            if not self.hold:
                raise ValueError("mode coalesce needs a hold above zero, for example hold: 120us")
        elif self.hold is not None or self.trigger is not None:
            key = "hold" if self.hold is not None else "trigger"
            raise ValueError(
                f"{key} belongs to mode coalesce; in mode {self.mode} a link does not hold packets"
            )
        if self.mode == "off" and (self.stall or self.sleep is not None or self.wake is not None):
            raise ValueError("mode off takes no timers")
        return self


class Attachment(Strict):
    """Names of the profiles that a role, a switch or a port uses; one left out is inherited."""

    queue: str | None = None
    eee: str | None = None


class Profiles(Strict):
    """Named profiles."""

    queue: dict[str, Queue] = Field(default_factory=dict)
    eee: dict[str, Eee] = Field(default_factory=dict)


class Roles(Strict):
    """Attachments by port role; `host` is the hosts' own NICs (a twin has them, a real fabric may not)."""

    host_facing: Attachment = Attachment()
    uplink: Attachment = Attachment()
    spine: Attachment = Attachment()
    host: Attachment = Attachment()


def _seed(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= U32_MAX:
        raise ValueError(f"a seed is a whole number from 0 to {U32_MAX}")
    return value


class Routing(Strict):
    """`ecmp`: spread flows over all shortest paths, or use the first one only. `seed`: every switch's hash
    seed is derived from it; another seed gives another, equally good, spread."""

    ecmp: Annotated[bool, Field(strict=True)] = True
    seed: Annotated[int, BeforeValidator(_seed)] = 1


@dataclass(frozen=True)
class PortSettings:
    """What one port does: its profiles by name and value."""

    queue_name: str
    queue: Queue
    eee_name: str
    eee: Eee


class FabricConfig(Strict):
    """A whole configuration. `eee` profiles include the presets (presets.py), whose names are reserved."""

    description: str = ""
    profiles: Profiles = Profiles()
    roles: Roles = Roles()
    switches: dict[str, Attachment] = Field(default_factory=dict)
    ports: dict[str, Attachment] = Field(default_factory=dict)
    routing: Routing = Routing()

    _document: Document = PrivateAttr()

    @property
    def document(self) -> Document:
        """The files this was read from, for errors that point into them."""
        return self._document

    def settings_of(self, port: Port) -> PortSettings:
        """The most specific profile of each kind: port, then switch, then role.

        A host's NIC has no switch or port level. Raises KeyError when no level names a queue profile, which
        `check` reports for every switch port beforehand.
        """
        queue_name = self.attached(port, "queue")
        eee_name = self.attached(port, "eee") or "off"
        if queue_name is None:
            raise KeyError(f"no queue profile for port {port.name}")
        return PortSettings(
            queue_name, self.profiles.queue[queue_name], eee_name, self.profiles.eee[eee_name]
        )

    def eee_of(self, port: Port) -> Eee:
        """The EEE profile of a switch port or a host's NIC; `off` where nothing is attached."""
        return self.profiles.eee[self.attached(port, "eee") or "off"]

    def attached(self, port: Port, kind: Literal["queue", "eee"]) -> str | None:
        """Name of the profile of one kind that applies to a port, or None."""
        levels = [getattr(self.roles, port.role.value)]
        if port.role is not PortRole.HOST:
            levels = [self.ports.get(port.name), self.switches.get(port.node), *levels]
        names = (getattr(level, kind) for level in levels if level is not None)
        return next((str(name) for name in names if name is not None), None)
