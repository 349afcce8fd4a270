"""The network of a lab: a `topology.json` as the P4 tutorials have it, or one of this project's topologies.

The tutorials' form: `hosts` with `ip`, `mac` and `commands`, `switches` with `runtime_json` and `program`,
and `links`, each of two ends and, where it is not as the others, a delay and a rate in Mbit/s. Of a host's
commands those that say a default gateway or a neighbour's MAC address are followed; the others are kept as
`ignored`, to be told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from ipaddress import AddressValueError, IPv4Address, IPv4Interface
from pathlib import Path
from typing import Annotated

from eeon_control import topology as topologies
from eeon_control.constants import CPU_PORT
from eeon_control.topology import Endpoint
from eeon_control.units import DataRate, Duration
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from eeon_tools.errors import InputError

DEFAULT_RATE = DataRate(10**9)
_MAX_FILE_BYTES = 1 << 20
_PS_PER_MS = 10**9
_BPS_PER_MBPS = 10**6
_MAX_DELAY_PS = 10**15
_MAX_RATE_BPS = 10**12
_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_SWITCH_END = re.compile(r"(?P<node>[^\s-]+)-p(?P<port>[0-9]{1,3})")
_LATENCY = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)(?P<unit>us|ms|s)?")
_LATENCY_UNIT_PS = {"us": 10**6, "ms": _PS_PER_MS, "s": 10**12, None: _PS_PER_MS}
_GATEWAY = re.compile(r"(?:ip )?route add default (?:gw|via) (?P<ip>[0-9.]+)(?: dev \S+)?")
_NEIGHBOUR = re.compile(r"arp (?:-i \S+ )?-s (?P<ip>[0-9.]+) (?P<mac>[0-9a-fA-F:]{17})(?: \S+)*")
_ON_LINK = re.compile(r"ip route add (?P<network>[0-9./]+) dev \S+")


@dataclass(frozen=True)
class LabHost:
    """A host. `neighbours`: MAC addresses that it knows without asking, by IP address."""

    name: str
    mac: str
    ipv4: IPv4Interface
    gateway: IPv4Address | None = None
    neighbours: Mapping[IPv4Address, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class LabSwitch:
    """A switch. `entries`: a runtime file of its own; `program`: a BMv2 JSON of its own."""

    name: str
    device_id: int
    entries: Path | None = None
    program: Path | None = None


@dataclass(frozen=True)
class LabLink:
    """A full-duplex link between two ends, each a node and its port; a host's port is 0."""

    a: tuple[str, int]
    b: tuple[str, int]
    rate: DataRate
    delay: Duration


@dataclass(frozen=True)
class LabTopology:
    """Hosts and switches by name, in the file's order, and links."""

    name: str
    hosts: Mapping[str, LabHost]
    switches: Mapping[str, LabSwitch]
    links: Sequence[LabLink]
    cpu_port: int = CPU_PORT


def read_topology(place: str, rate: DataRate = DEFAULT_RATE) -> LabTopology:
    """A `.json` file in the tutorials' form, or else the name or file of a topology of this project.

    `rate` is that of links for which the tutorials' file says none. Raises InputError and the controller's
    errors.
    """
    if place.endswith(".json"):
        return _of_tutorials(Path(place), rate)
    return _of_project(place)


# ---- this project's form


def _of_project(place: str) -> LabTopology:
    loaded = topologies.load(place)
    macs = {host.ipv4: host.mac for host in loaded.hosts.values()}
    hosts = {
        # Switches of these topologies route by IP address, so hosts address the last hop.
        host.name: LabHost(host.name, host.mac, IPv4Interface(f"{host.ipv4}/32"), neighbours=macs)
        for host in loaded.hosts.values()
    }
    switches = {switch.name: LabSwitch(switch.name, switch.device_id) for switch in loaded.switches.values()}

    def end(one: Endpoint) -> tuple[str, int]:
        return one.node, 0 if one.node in hosts else one.port

    links = [LabLink(end(link.a), end(link.b), link.rate, link.delay) for link in loaded.links]
    return LabTopology(loaded.name, hosts, switches, links)


# ---- the tutorials' form

_Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.]{1,32}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _HostFile(_Strict):
    ip: str
    mac: Annotated[str, StringConstraints(pattern=_MAC.pattern)]
    commands: list[str] = []


class _SwitchFile(_Strict):
    runtime_json: str | None = None
    program: str | None = None
    cli_input: str | None = None
    cpu_port: Annotated[int, Field(ge=1, le=CPU_PORT)] | None = None


class _TopologyFile(_Strict):
    hosts: Annotated[dict[_Name, _HostFile], Field(min_length=1, max_length=1024)]
    switches: Annotated[dict[_Name, _SwitchFile], Field(min_length=1, max_length=512)]
    links: Annotated[list[list[object]], Field(max_length=8192)]


def _of_tutorials(path: Path, rate: DataRate) -> LabTopology:
    file = _read(path)
    switches = {
        name: LabSwitch(
            name,
            # The tutorials number switches from 0 on, in the order of the file.
            number,
            entries=_beside(path, f"switches.{name}.runtime_json", switch.runtime_json),
            program=_beside(path, f"switches.{name}.program", switch.program),
        )
        for number, (name, switch) in enumerate(file.switches.items())
    }
    for name, switch in file.switches.items():
        if switch.cli_input is not None:
            raise InputError(
                path,
                f"switches.{name}.cli_input",
                f"{switch.cli_input} is for simple_switch_CLI, which a lab does not run; "
                "write the entries as a runtime_json",
            )
    hosts = {name: _host(path, name, host) for name, host in file.hosts.items()}
    links = [_link(path, number, link, hosts, switches, rate) for number, link in enumerate(file.links)]
    _check_links(path, hosts, links)
    return LabTopology(path.stem, hosts, switches, links, _cpu_port(path, file))


def _read(path: Path) -> _TopologyFile:
    try:
        with path.open("rb") as opened:
            data = opened.read(_MAX_FILE_BYTES + 1)
    except OSError as error:
        raise InputError(path, "", f"cannot be read: {error.strerror}") from error
    if len(data) > _MAX_FILE_BYTES:
        raise InputError(path, "", f"is larger than {_MAX_FILE_BYTES >> 20} MiB; no topology is")
    try:
        return _TopologyFile.model_validate(json.loads(data))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise InputError(path, place, f"{first['msg']}{more}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(path, "", f"is no JSON: {error}") from error


def _beside(topology: Path, place: str, named: str | None) -> Path | None:
    """A file that a topology names: from the working folder, as the tutorials' runner has it, or from the
    topology's folder or the one above."""
    if named is None:
        return None
    candidates = [folder / named for folder in (Path(), topology.parent, topology.parent.parent)]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise InputError(topology, place, f"{named} is in none of {', '.join(str(one) for one in candidates)}")


def _host(path: Path, name: str, host: _HostFile) -> LabHost:
    place = f"hosts.{name}"
    try:
        address = IPv4Interface(host.ip)
    except (AddressValueError, ValueError) as error:
        raise InputError(
            path, f"{place}.ip", f"{error}; write an IPv4 address such as 10.0.1.1/24"
        ) from error
    gateway: IPv4Address | None = None
    neighbours: dict[IPv4Address, str] = {}
    ignored = []
    for command in host.commands:
        text = " ".join(command.split())
        try:
            if found := _GATEWAY.fullmatch(text):
                gateway = IPv4Address(found["ip"])
            elif (found := _NEIGHBOUR.fullmatch(text)) and _MAC.fullmatch(found["mac"]):
                neighbours[IPv4Address(found["ip"])] = found["mac"].lower()
            elif _ON_LINK.fullmatch(text) is None:
                ignored.append(command)
        except AddressValueError as error:
            raise InputError(path, f"{place}.commands", f"{command!r}: {error}") from error
    return LabHost(name, host.mac.lower(), address, gateway, neighbours, tuple(ignored))


def _link(
    path: Path,
    number: int,
    link: Sequence[object],
    hosts: Mapping[str, LabHost],
    switches: Mapping[str, LabSwitch],
    rate: DataRate,
) -> LabLink:
    place = f"links[{number}]"
    if not 2 <= len(link) <= 4:
        raise InputError(path, place, f"has {len(link)} parts; write [end, end], and then a delay and Mbit/s")
    a, b = (_end(path, place, end, hosts, switches) for end in link[:2])
    delay = _delay(path, place, link[2]) if len(link) > 2 else Duration(0)
    if len(link) > 3 and link[3] is not None:
        rate = _rate(path, place, link[3])
    return LabLink(a, b, rate, delay)


def _end(
    path: Path, place: str, text: object, hosts: Mapping[str, LabHost], switches: Mapping[str, LabSwitch]
) -> tuple[str, int]:
    if isinstance(text, str):
        if text in hosts:
            return text, 0
        found = _SWITCH_END.fullmatch(text)
        if found and found["node"] in switches:
            return found["node"], int(found["port"])
    raise InputError(path, place, f"{text!r} is neither a host nor a switch and its port, such as s1-p2")


def _delay(path: Path, place: str, text: object) -> Duration:
    """A number of milliseconds, or text with a unit, as Mininet takes it."""
    found = _LATENCY.fullmatch(str(text)) if not isinstance(text, bool) and len(str(text)) <= 32 else None
    picoseconds = Fraction(found["number"]) * _LATENCY_UNIT_PS[found["unit"]] if found else Fraction(-1)
    if picoseconds.denominator != 1 or not 0 <= picoseconds <= _MAX_DELAY_PS:
        raise InputError(
            path, place, f"delay {text!r}: write milliseconds, or text such as '5ms', up to 1000s"
        )
    return Duration(int(picoseconds))


def _rate(path: Path, place: str, number: object) -> DataRate:
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    bps = float(str(number)) * _BPS_PER_MBPS if is_number else 0
    if not 1 <= bps <= _MAX_RATE_BPS:
        raise InputError(path, place, f"rate {number!r}: write Mbit/s, from 0.000001 to 1000000")
    return DataRate(int(bps))


def _cpu_port(path: Path, file: _TopologyFile) -> int:
    ports = {switch.cpu_port for switch in file.switches.values()} - {None}
    if len(ports) > 1:
        raise InputError(
            path, "switches", f"CPU ports {sorted(map(str, ports))} differ; a lab's switches have one number"
        )
    return next((port for port in ports if port is not None), CPU_PORT)


def _check_links(path: Path, hosts: Mapping[str, LabHost], links: Sequence[LabLink]) -> None:
    seen: dict[tuple[str, int], int] = {}
    for number, link in enumerate(links):
        if link.a[0] in hosts and link.b[0] in hosts:
            raise InputError(path, f"links[{number}]", "joins two hosts; a host's link leads to a switch")
        for end in (link.a, link.b):
            if end in seen:
                raise InputError(
                    path, f"links[{number}]", f"{end[0]} port {end[1]} is in links[{seen[end]}] already"
                )
            seen[end] = number
    for name in hosts:
        if (name, 0) not in seen:
            raise InputError(path, f"hosts.{name}", "has no link")
