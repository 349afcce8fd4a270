"""The whole configuration: profiles, their attachment, routing, settings of single targets."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, WithJsonSchema, model_validator

from eeon_control.config.classes import Classes, default_priority, priority_of
from eeon_control.config.pfc import PfcProfiles, Thresholds, Watchdog, thresholds
from eeon_control.config.presets import EEE_PRESETS
from eeon_control.config.queues import Queue
from eeon_control.config.target_settings import Bmv2Queue, Bmv2QueueValues, TargetSettings, bmv2_values
from eeon_control.model_base import U32_MAX, RateText, Strict, no_speed_twice, whole
from eeon_control.port_settings import Aqm
from eeon_control.port_settings.eee import Eee, PhyTimes
from eeon_control.sources import Document, KeyPath
from eeon_control.topology.model import Port, PortRole
from eeon_control.units import Bytes, DataRate, Duration

Kind = Literal["queue", "eee"]

EeeName = Annotated[
    str,
    WithJsonSchema({"anyOf": [{"enum": list(EEE_PRESETS)}, {"type": "string"}], "examples": ["120us100"]}),
]


class Attachment(Strict):
    """The profiles of a port role, a switch or a port; an omitted key is inherited."""

    queue: str | None = None
    """Name of a queue profile."""
    eee: EeeName | None = None
    """Name of an EEE profile, or a preset."""


class HostAttachment(Strict):
    """The EEE profile of the hosts' own NICs."""

    eee: EeeName | None = None
    """Name of an EEE profile, or a preset."""


class Profiles(Strict):
    """Named profiles."""

    queue: dict[str, Queue] = Field(default_factory=dict)
    """Queue profiles by name: buffer limit and AQM."""
    eee: Annotated[
        dict[str, Eee],
        Field(
            default_factory=dict, json_schema_extra={"propertyNames": {"not": {"enum": list(EEE_PRESETS)}}}
        ),
    ]
    """EEE profiles by name. The presets exist already and cannot be redefined."""
    pfc: PfcProfiles
    """PFC profiles by name, for classes that are lossless."""


class PortRoles(Strict):
    """Profiles by port role, the least specific level."""

    host_facing: Attachment = Attachment()
    """A leaf's ports to hosts."""
    uplink: Attachment = Attachment()
    """A leaf's ports to other switches."""
    spine: Attachment = Attachment()
    """A spine's ports."""
    host: HostAttachment = HostAttachment()
    """The hosts' own NICs. Only the hosts of a twin have EEE."""


ECMP_PATHS_LIMIT = 64  # max_group_size of the program's ecmp_selector


def _checked_ecmp(value: object) -> object:
    if value is True or value is False or value == "per_packet":
        return value
    raise ValueError("must be true, false or per_packet")


class Routing(Strict):
    """Shortest paths between the leaves' prefixes, with ECMP."""

    ecmp: Annotated[bool | Literal["per_packet"], BeforeValidator(_checked_ecmp)] = True
    """`true`: spread flows over all shortest paths. `per_packet`: spread packets, which reorders flows.
    `false`: use the first path."""
    max_paths: Annotated[int, *whole(1, ECMP_PATHS_LIMIT, "max_paths")] | None = None
    """Maximum number of shortest paths to a destination; the default is all of them. If there are more, the
    choice differs by switch and destination."""
    seed: Annotated[int, *whole(0, U32_MAX, "a seed")] = 1
    """The seed from which every switch's hash seed is derived. Another seed gives a different, equally good
    spread of flows."""
    ipv4: Annotated[bool, Field(strict=True)] = True
    """Whether IPv4 routes are installed."""
    ipv6: Annotated[bool, Field(strict=True)] = True
    """Whether IPv6 routes are installed."""

    @model_validator(mode="after")
    def _some_family(self) -> Self:
        if not self.ipv4 and not self.ipv6:
            raise ValueError("ipv4 and ipv6 are both off: no packet would be routed")
        return self


@dataclass(frozen=True)
class PortSettings:
    """The settings of one port: its profiles by name and value, the EEE profile at the port's speed.

    `queue_aqms`: the AQM of each priority in use; empty if the port has one AQM, `queue.aqm`.
    """

    queue_name: str
    queue: Queue
    eee_name: str
    eee: Eee
    queue_aqms: dict[int, Aqm]

    @property
    def aqms(self) -> tuple[Aqm, ...]:
        """The AQMs in use: those of the queues in use, or that of the port."""
        return tuple(self.queue_aqms.values()) or (self.queue.aqm,)

    def aqm_at(self, priority: int) -> Aqm:
        return self.queue_aqms.get(priority, self.queue.aqm)


class FabricConfig(Strict):
    """The configuration of an E-EON fabric: profiles for queues and EEE, their attachment to ports, routing,
    and settings of single targets. Every quantity has a unit (300KB, 65pkt, 120us, 10Gbps)."""

    description: str = ""
    """The purpose of this configuration, in one line."""
    profiles: Profiles = Profiles(eee={}, pfc={})
    """Named settings, which the keys below attach to ports."""
    phy: Annotated[dict[RateText, PhyTimes], BeforeValidator(no_speed_twice)] = Field(default_factory=dict)
    """EEE times of PHYs by link speed, for all profiles that give no times, presets included. The default is
    the times of IEEE 802.3az-2010 for 100BASE-TX, 1000BASE-T and 10GBASE-T."""
    roles: PortRoles = PortRoles()
    """Profiles by port role, the least specific level."""
    switches: dict[str, Attachment] = Field(default_factory=dict)
    """Profiles of a switch's ports; more specific than roles."""
    ports: dict[str, Attachment] = Field(default_factory=dict)
    """Profiles of a port, written `leaf1:3`; more specific than switches and roles."""
    classes: Annotated[Classes, Field(default_factory=dict)]
    """Traffic classes by name: the mapping from DSCP and PCP to a port's eight queues. `default` has the
    packets of no other class. Without classes every port has one queue."""
    routing: Routing = Routing()
    """Routes and ECMP."""
    target_settings: TargetSettings = TargetSettings()
    """Settings that only one kind of target has."""

    _document: Document = PrivateAttr()

    @property
    def document(self) -> Document:
        """The files of this configuration, for errors that refer to them."""
        return self._document

    @cached_property
    def _at_speed(self) -> dict[tuple[str, DataRate], Eee]:
        return {}

    @cached_property
    def _settings(self) -> dict[tuple[str, str, DataRate], PortSettings]:
        return {}

    def settings_of(self, port: Port) -> PortSettings:
        """Returns the most specific profile of each kind: port, then switch, then role. Equal ports share an
        object.

        A host's NIC has no switch or port level. Raises KeyError if no level names a queue profile, which
        `check` reports for every switch port beforehand.
        """
        queue = self.attached(port, "queue")
        eee = self.attached(port, "eee") or "off"
        if queue is None:
            raise KeyError(f"no queue profile for port {port.name}")
        found = self._settings.get((queue, eee, port.rate))
        if found is None:
            profile = self.profiles.queue[queue]
            found = PortSettings(queue, profile, eee, self.eee_at(eee, port.rate), self._queue_aqms(profile))
            self._settings[queue, eee, port.rate] = found
        return found

    def _queue_aqms(self, profile: Queue) -> dict[int, Aqm]:
        if not self.classes or profile.scope == "port":
            return {}
        own = {priority_of(self.classes, name): aqm for name, aqm in profile.class_aqm.items()}
        return {priority: own.get(priority, profile.aqm) for priority in sorted(self.priorities_in_use)}

    def eee_of(self, port: Port) -> Eee:
        """Returns the EEE profile of a switch port or a host's NIC at its speed; `off` without attachment."""
        return self.eee_at(self.attached(port, "eee") or "off", port.rate)

    def eee_at(self, name: str, rate: DataRate) -> Eee:
        """Returns an EEE profile by name, for links of one speed."""
        found = self._at_speed.get((name, rate))
        if found is None:
            found = self._at_speed[name, rate] = self.profiles.eee[name].at(rate, self.phy.get(rate))
        return found

    @cached_property
    def watchdogs(self) -> dict[int, Watchdog]:
        """The watchdogs, the reactions to endless pauses, of those lossless priorities that have one."""
        found = {priority: self.profiles.pfc[name].watchdog for priority, name in self.lossless.items()}
        return {priority: one for priority, one in found.items() if one is not None}

    @cached_property
    def lossless(self) -> dict[int, str]:
        """The names of the PFC profiles by lossless priority, without unknown names."""
        found = {one.priority: one.pfc for one in self.classes.values() if one.pfc is not None}
        return {priority: name for priority, name in found.items() if name in self.profiles.pfc}

    @cached_property
    def priorities_in_use(self) -> dict[int, list[str]]:
        """The names of classes by priority, including an implicit `default`."""
        found: dict[int, list[str]] = {}
        for name, one in self.classes.items():
            found.setdefault(one.priority, []).append(name)
        if self.classes and "default" not in self.classes:
            found.setdefault(default_priority(self.classes), []).append("default")
        return found

    @cached_property
    def quanta(self) -> dict[int, Bytes]:
        """The quanta of queues that share a port by weight, by priority, the highest first. Other queues are
        strict. `check` refuses two quanta for one queue."""
        found = {one.priority: one.quantum for one in self.classes.values() if one.quantum is not None}
        return dict(sorted(found.items(), reverse=True))

    def pfc_at(self, port: Port, priority: int) -> Thresholds:
        """Returns a lossless priority's thresholds at a switch port. Raises PlanError for a contradiction."""
        eee = self.eee_of(port)
        sleep = Duration(0) if eee.mode == "off" else Duration(sum(eee.timers(port.rate)))
        profile = self.profiles.pfc[self.lossless[priority]]
        return thresholds(profile, port, sleep, len(self.lossless))

    def levels(self, port: Port, kind: Kind) -> list[tuple[KeyPath, str | None]]:
        """Returns the places that may name a port's profile of a kind, most specific first, with names."""
        role = port.role.value
        levels = [(("roles", role, kind), getattr(self.roles, role))]
        if port.role is not PortRole.HOST:
            of_port, of_switch = self.ports.get(port.name), self.switches.get(port.node)
            levels[:0] = [(("ports", port.name, kind), of_port), (("switches", port.node, kind), of_switch)]
        return [(path, getattr(level, kind, None)) for path, level in levels]

    def attached(self, port: Port, kind: Kind) -> str | None:
        """Returns the name of the profile of one kind that applies to a port, or None."""
        return next((name for _, name in self.levels(port, kind) if name is not None), None)

    def bmv2_queue(self, port: Port) -> Bmv2QueueValues | None:
        """Returns the settings of BMv2's own queue of a switch port; None if the configuration has none."""
        levels = self.bmv2_levels(port)
        return bmv2_values(levels, port, self.settings_of(port).queue.buffer) if levels else None

    def bmv2_levels(self, port: Port) -> list[Bmv2Queue]:
        """Returns the configured levels of BMv2's own queue of a switch port, most specific first."""
        bmv2 = self.target_settings.bmv2
        if bmv2 is None:
            return []
        levels = [bmv2.ports.get(port.name), bmv2.switches.get(port.node)]
        levels += [getattr(bmv2.roles, port.role.value), bmv2]
        return [level for level in levels if level is not None]
