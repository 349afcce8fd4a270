"""The address of each switch, the protection of connections to it, and the length of a tick of its
timestamps.

A targets file is YAML:

    tick: 1ns                       # BMv2: 1us
    clock: real                     # virtual: a twin's, which stands still between requests
    role: eeon                      # if another controller writes to the switches, too
    foreign: keep                   # or delete: its entries in this controller's tables
    topology: /run/eeon/eeon/topology.yaml     # of these switches; its links may be slower than planned
    tls: {ca: ca.pem, certificate: controller.pem, key: controller.key}
    switches:
      leaf1: 127.0.0.1:9559         # optionally 127.0.0.1:9559?device_id=1
      leaf2: unix:/run/eeon/eeon/leaf2.p4rt
      spine1:
        address: 192.0.2.7:9559
        device_id: 7
        tls: {server_name: spine1.example.net}
        thrift: 127.0.0.1:9090

`device_id` defaults to the switch's id in the topology. A switch's `tls` overrides the file's key by key;
`tls: off` is a plain connection. File names are relative to the targets file. Thrift has neither encryption
nor passwords, so addresses of other machines are refused without `thrift_remote: allow`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from eeon_control import data
from eeon_control import tls as tls_files
from eeon_control.errors import FabricError, InputError, Problem
from eeon_control.model_base import Strict, of_text, positive, text_schema
from eeon_control.sources import Document, read_yaml
from eeon_control.tls import Tls
from eeon_control.topology import Topology
from eeon_control.units import Duration
from eeon_control.validation import checked

_HOST_AND_PORT = r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):\d{1,5}"
# A socket in this machine's file system; unix(7) allows 107 bytes.
_UNIX = r"unix:/[A-Za-z0-9_./-]{1,100}"
_TARGET = re.compile(
    rf"(?P<address>{_UNIX}|(?:grpc://)?(?P<host_and_port>{_HOST_AND_PORT}))(?:\?device_id=(?P<device_id>\d{{1,19}}))?",
    re.A,
)
_THRIFT = re.compile(_HOST_AND_PORT, re.ASCII)
_PORT_MAX = 65535
Clock: TypeAlias = Literal["real", "virtual"]
"""The time base of the switches' timestamps: real or virtual time."""
Foreign: TypeAlias = Literal["keep", "delete"]
"""The treatment of foreign entries in the controller's tables."""
_DEVICE_ID_MAX = 2**64 - 1  # p4runtime.proto: uint64 device_id


@dataclass(frozen=True)
class Target:
    """One switch: the address of its P4Runtime server, and its device id if it differs from the topology's.

    `tls`: protection of the connection; None is a plain one. `thrift`: address of its Thrift server, if any.
    `role`: the P4Runtime role of the controller; None is the default role. `in_process`: the server runs in
    this process; its answers have no deadline, because they take as long as the computer is busy.
    """

    address: str
    device_id: int | None = None
    tls: Tls | None = None
    thrift: str | None = None
    role: str | None = None
    in_process: bool = False

    @classmethod
    def parse(cls, text: object) -> Self:
        """Parses `host:port` or `unix:PATH`, with or without `?device_id=N`. Raises ValueError."""
        if isinstance(text, cls):
            return text
        match = _TARGET.fullmatch(text) if isinstance(text, str) else None
        if match is None or (match["host_and_port"] and _port_of(match["host_and_port"]) > _PORT_MAX):
            raise ValueError(
                "write a target as host:port, for example 127.0.0.1:9559 or 127.0.0.1:9559?device_id=1, or "
                "a Unix socket, unix:/run/leaf1.p4rt"
            )
        return cls(
            match["host_and_port"] or match["address"],
            int(match["device_id"]) if match["device_id"] else None,
        )

    def as_value(self) -> str | dict[str, object]:
        """Returns the value for a targets file: the text that `parse` reads, or a mapping if needed."""
        if self.tls is None and self.thrift is None:
            return str(self)
        tls = None if self.tls is None else self.tls.model_dump(exclude_none=True)
        more = {"tls": tls, "thrift": self.thrift}
        return {"address": str(self)} | {key: value for key, value in more.items() if value is not None}

    def __str__(self) -> str:
        """Returns address and device id, in the form that `parse` reads."""
        return self.address if self.device_id is None else f"{self.address}?device_id={self.device_id}"


@dataclass(frozen=True)
class Targets:
    """The content of a targets file, with the keys for all switches copied to each switch.

    `clock`: whether the switches run in real time, or in virtual time, which P4Runtime does not report.
    `topology`: the file with the actual links of these switches; a live fabric's are slower than planned.
    `foreign`: whether entries in the controller's tables that belong to no revision are kept or deleted.
    """

    tick: Duration
    switches: Mapping[str, Target]
    clock: Clock = "real"
    topology: str | None = None
    foreign: Foreign = "delete"

    def as_value(self) -> dict[str, object]:
        """Returns the plain values that `from_value` reads: all that a new connection needs, no secrets."""
        switches = self.switches.values()
        is_remote = any(one.thrift and not is_loopback(one.thrift) for one in switches)
        value: dict[str, object] = {
            "tick": str(self.tick),
            "switches": {name: one.as_value() for name, one in self.switches.items()},
            "thrift_remote": "allow" if is_remote else "refuse",
            "clock": self.clock,
            "topology": self.topology,
            "foreign": self.foreign,
            "role": next((one.role for one in switches), None),  # a file has one role for all switches
        }
        defaults = {name: field.default for name, field in TargetsFile.model_fields.items()}
        return {key: one for key, one in value.items() if one != defaults[key]}

    @classmethod
    def from_value(cls, value: dict[str, object], source: str) -> Self:
        """Returns the targets that `as_value` wrote; errors call their source `source`. Raises InputError."""
        return cls._from_document(Document.of_value(value, source), Path())

    @classmethod
    def _from_document(cls, document: Document, folder: Path) -> Self:
        file = checked(document, TargetsFile)
        switches: dict[str, Target] = {}
        problems: list[Problem] = []
        for name, one in file.switches.items():
            at = ("switches", name)
            tls = _merged(file.tls, one.tls)
            if tls is not None and tls.ca is None:
                rule = "ca is required: a file with the certificate of the authority that signed the switch's"
                problems.append(document.problem((*at, "tls"), rule))
                continue
            if one.thrift and file.thrift_remote != "allow" and not is_loopback(one.thrift):
                rule = (
                    "Thrift has neither encryption nor passwords, so eeon uses it on loopback only; forward "
                    "the port (ssh -L), or write thrift_remote: allow at the top of the file"
                )
                problems.append(document.problem((*at, "thrift"), rule))
            address = Target.parse(one.address)
            device_id = address.device_id if one.device_id is None else one.device_id
            switches[name] = Target(
                address.address, device_id, None if tls is None else tls.at(folder), one.thrift, file.role
            )
        if problems:
            raise InputError(problems)
        where = file.topology
        if where is not None and (where not in data.names("topologies") or (folder / where).is_file()):
            where = str((folder / where).absolute())
        return cls(file.tick, switches, file.clock, where, file.foreign)


_tick = positive(Duration, hint="; BMv2's tick is 1us")


def _address(text: object) -> str:
    return str(Target.parse(text))


def _thrift(text: object) -> str:
    if not isinstance(text, str) or not _THRIFT.fullmatch(text) or _port_of(text) > _PORT_MAX:
        raise ValueError("write a Thrift server as host:port, for example 127.0.0.1:9090")
    return text


_ADDRESS_SCHEMA = {
    "type": "string",
    "pattern": rf"^({_UNIX}|(grpc://)?{_HOST_AND_PORT})(\?device_id=\d{{1,19}})?$",
    "examples": ["127.0.0.1:9559"],
}
_THRIFT_SCHEMA = {"type": "string", "pattern": f"^{_HOST_AND_PORT}$", "examples": ["127.0.0.1:9090"]}


class SwitchFile(Strict):
    """One switch of a targets file: a text, its address, or a mapping."""

    address: Annotated[str, *of_text(_address, _ADDRESS_SCHEMA)]
    """Address of its P4Runtime server."""
    device_id: Annotated[int, Field(strict=True, ge=0, le=_DEVICE_ID_MAX)] | None = None
    """Its P4Runtime device id, if it differs from the topology's."""
    tls: Tls | Literal["off"] | None = None
    """Overrides the file's `tls` key by key; `off` is a connection without TLS."""
    thrift: Annotated[str, *of_text(_thrift, _THRIFT_SCHEMA)] | None = None
    """Address of its Thrift server, if it has one; on this machine only, unless `thrift_remote` allows
    others."""

    @model_validator(mode="before")
    @classmethod
    def _text_is_the_address(cls, value: object) -> object:
        if isinstance(value, dict):
            return value
        return {"address": _address(value)}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, object]:
        return {"anyOf": [_ADDRESS_SCHEMA, handler(core_schema)]}


class TargetsFile(Strict):
    """The address of each switch, the protection of connections to it, and the length of a tick of its
    timestamps."""

    tick: Annotated[Duration, *of_text(_tick, text_schema(Duration, examples=["1ns", "1us"]))]
    """Length of the switches' timestamp unit: 1us for BMv2."""
    clock: Clock = "real"
    """`virtual`: a twin's clock, which does not advance between requests. Rates per second are then not
    shown."""
    topology: Annotated[str, Field(min_length=1)] | None = None
    """The topology file of these switches, relative to the targets file, or the name of a packaged topology.
    `eeon fabric up` writes it, for a live fabric one with its scaled rates; `eeon config` warns if another
    one with other links is given."""
    tls: Tls | None = None
    """How connections to all switches are protected. By default they are plain."""
    role: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    """The P4Runtime role of the controller, if another controller writes to the same switches. The program
    must name the role, and the program's owner loads it. The default is P4Runtime's default role."""
    foreign: Foreign = "delete"
    """Whether entries in the controller's tables that are in no revision are deleted or kept: `keep` if
    another controller writes to the same tables."""
    thrift_remote: Literal["allow", "refuse"] = "refuse"
    """Whether Thrift servers on other machines may be used: Thrift has neither encryption nor passwords."""
    switches: dict[str, SwitchFile]
    """Every switch of the topology by name: its address, or a mapping."""


def load_targets(path: Path) -> Targets:
    """Reads a targets file, and checks that the files that it names exist and that keys are private.

    Raises InputError or DataNotFound.
    """
    document = read_yaml(path)
    targets = Targets._from_document(document, path.parent)
    problems = []
    for name, target in targets.switches.items():
        own = ("switches", name, "tls")
        for key, fault in tls_files.file_faults(target.tls):
            place = (*own, key) if document.has((*own, key)) else ("tls", key)
            problems.append(document.problem(place, fault))
    if problems:
        raise InputError(problems)
    return targets


def resolve(topology: Topology, targets: Mapping[str, str | Target]) -> dict[str, Target]:
    """Returns every switch's target with its device id filled in, in topology order.

    Raises FabricError unless every switch has exactly one target, and all targets differ.
    """
    missing = [name for name in topology.switches if name not in targets]
    unknown = [name for name in targets if name not in topology.switches]
    if missing or unknown:
        parts = [f"no target for {', '.join(missing)}"] if missing else []
        parts += [f"topology {topology.name} has no switch {', '.join(unknown)}"] if unknown else []
        next_step = "give each switch an address, under `switches` in the targets file or with --target"
        raise FabricError(f"{'; '.join(parts)}; {next_step}")
    resolved: dict[str, Target] = {}
    taken: dict[tuple[str, int], str] = {}
    for name, switch in topology.switches.items():
        try:
            target = Target.parse(targets[name])
        except ValueError as error:
            raise FabricError(f"{name}: {targets[name]!r}: {error}") from None
        device_id = switch.device_id if target.device_id is None else target.device_id
        resolved[name] = replace(target, device_id=device_id)
        other = taken.setdefault((target.address, device_id), name)
        if other != name:
            raise FabricError(
                f"{name}: {target.address} with device id {device_id} is already used by {other}; give each "
                "switch its own address, or its own device_id where one server has several"
            )
    return resolved


def is_loopback(address: str) -> bool:
    """Returns whether an address means this machine. Names other than `localhost` are not resolved."""
    if is_unix(address):
        return True
    host = host_of(address)
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_unix(address: str) -> bool:
    """Returns whether an address is a socket in the file system."""
    return address.startswith("unix:")


def host_of(address: str) -> str:
    """Returns the host of `host:port`, without the brackets of an IPv6 address."""
    return address.rpartition(":")[0].strip("[]")


def _port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def _merged(of_all: Tls | None, own: Tls | Literal["off"] | None) -> Tls | None:
    if own == "off":
        return None
    if of_all is None or own is None:
        return own or of_all
    return of_all.model_copy(update=own.model_dump(exclude_none=True))
