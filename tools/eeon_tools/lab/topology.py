"""The network of a lab: a `topology.json` as in the P4 tutorials, or one of this project's topologies.

The tutorials' form: `hosts` with `ip`, `mac` and `commands`, `switches` with `runtime_json` and `program`,
and `links`, each with two ends and optionally a delay and a rate in Mbit/s. Of a host's commands, those that
set a route or a neighbour's MAC address are executed; the others are kept as `ignored` and reported, as are
unknown keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from ipaddress import AddressValueError, IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from eeon_control import topology as topologies
from eeon_control.constants import CPU_PORT, DROP_PORT
from eeon_control.sources import Document
from eeon_control.topology import Endpoint
from eeon_control.units import DataRate, Duration
from eeon_control.validation import checked
from pydantic import AfterValidator, BaseModel, Field

from eeon_tools.errors import InputError
from eeon_tools.json_files import content_of, parse_json
from eeon_tools.trace.frames import mac_bytes

if TYPE_CHECKING:
    from eeon_engine.json_types import EndSpec, LinkSpec

DEFAULT_RATE = DataRate(10**9)
_NO_ADDRESSES = IPv4Network("0.0.0.0/8")
_MAX_FILE_BYTES = 1 << 20
_PS_PER_MS = 10**9
_BPS_PER_MBPS = 10**6
_MAX_DELAY_PS = 10**15
_MAX_RATE_BPS = 10**12
_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,18})?(e[-+]?[0-9]{1,2})?")
_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_SWITCH_END = re.compile(r"(?P<node>[^\s-]+)-p(?P<port>[0-9]{1,3})")
_LATENCY = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)(?P<unit>us|ms|s)?")
_LATENCY_UNIT_PS = {"us": 10**6, "ms": _PS_PER_MS, "s": 10**12, None: _PS_PER_MS}
_ROUTE = re.compile(
    r"(?:ip )?route (?:add|replace) (?:-net |-host )?(?P<network>default|[0-9./]+)"
    r"(?: netmask (?P<mask>[0-9.]+))? (?:(?:gw|via) (?P<ip>[0-9.]+)(?: (?:dev )?\S+)?|dev \S+)"
)
"""A route to a next hop, or on the link."""
_NEIGHBOUR = re.compile(
    r"(?:arp (?:-i \S+ )?-s (?P<ip>[0-9.]+) |ip neigh(?:bou?r)? (?:add|replace) (?P<ip2>[0-9.]+) lladdr )"
    r"(?P<mac>[0-9a-fA-F:]{17})(?: \S+)*"
)
_AND_THEN = re.compile(r"&&|;|\n")
_WRITTEN_OTHERWISE = (
    (re.compile(r"(?:sudo )?(?:/\S*/)?(?=(?:ip|route|arp) )"), ""),
    (re.compile(r"ip -4 "), "ip "),
    (re.compile(r"ip r(?:o(?:ut?)?)? "), "ip route "),
    (re.compile(r"ip n(?:e(?:ig?)?)? "), "ip neigh "),
)
"""Forms of the same commands: a path, the family, and iproute2's abbreviations."""
_DEVICE = re.compile(r" (?:dev|-i) (\S+)")


@dataclass(frozen=True)
class LabHost:
    """A host. `neighbours`: MAC addresses that it knows without ARP, by IP address. `routes`: those in
    addition to its network's and its gateway's, each to a next hop, or None on the link. A host without an
    address has one in 0.0.0.0/8, and sends no packets, only frames."""

    name: str
    mac: str
    ipv4: IPv4Interface
    gateway: IPv4Address | None = None
    neighbours: Mapping[IPv4Address, str] = field(default_factory=dict)
    routes: tuple[tuple[IPv4Network, IPv4Address | None], ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def has_address(self) -> bool:
        return self.ipv4.ip not in _NO_ADDRESSES


@dataclass(frozen=True)
class LabSwitch:
    """A switch. `entries`: a runtime file of its own; `program`: a BMv2 JSON of its own."""

    name: str
    device_id: int
    entries: Path | None = None
    program: Path | None = None


@dataclass(frozen=True)
class LabTopology:
    """Hosts and switches by name, in the file's order, and links between ports; a host's port is 0."""

    name: str
    hosts: Mapping[str, LabHost]
    switches: Mapping[str, LabSwitch]
    links: Sequence[LinkSpec]
    cpu_port: int = CPU_PORT
    notes: tuple[str, ...] = ()
    """Remarks on unknown keys and on values that may be mistakes, each with its place."""


def read_topology(place: str, rate: DataRate = DEFAULT_RATE) -> LabTopology:
    """Reads a `.json` file in the tutorials' form, or else a topology of this project by name or file.

    `rate` applies to links without a rate in the tutorials' file. Raises InputError or the controller's
    errors.
    """
    if place.endswith(".json"):
        return _of_tutorials(Path(place), rate)
    return _of_project(place)


# ---- this project's form


def _of_project(place: str) -> LabTopology:
    loaded = topologies.load(place)
    macs = {host.ipv4: host.mac for host in loaded.hosts.values()}
    # Switches of these topologies route by IP address, so hosts address the last hop.
    ways = tuple((IPv4Network(ip), None) for ip in macs)
    hosts = {
        host.name: LabHost(host.name, host.mac, IPv4Interface(host.ipv4), neighbours=macs, routes=ways)
        for host in loaded.hosts.values()
    }
    switches = {switch.name: LabSwitch(switch.name, switch.device_id) for switch in loaded.switches.values()}

    def end(one: Endpoint) -> EndSpec:
        return {"node": one.node, "port": 0 if one.node in hosts else one.port}

    links = [_joined(end(link.a), end(link.b), link.rate, link.delay) for link in loaded.links]
    return LabTopology(loaded.name, hosts, switches, links)


def _joined(a: EndSpec, b: EndSpec, rate: DataRate, delay: Duration) -> LinkSpec:
    return {"a": a, "b": b, "rate_bps": int(rate), "delay_ps": int(delay)}


# ---- the tutorials' form


def _fits(form: re.Pattern[str], rule: str) -> AfterValidator:
    """Returns a validator for texts of a form; `rule` is the error of others."""

    def check(text: str) -> str:
        if not form.fullmatch(text):
            raise ValueError(rule)
        return text

    return AfterValidator(check)


_NAME = re.compile(r"[A-Za-z0-9_.]{1,32}")
_Name = Annotated[str, _fits(_NAME, "a name has letters, digits, _ and dots, 32 at most")]
_Mac = Annotated[str, _fits(_MAC, "write a MAC address such as 08:00:00:00:01:11")]


# Unknown keys of hosts and switches are kept, and reported.
class _HostFile(BaseModel, extra="allow"):
    ip: str | None
    mac: _Mac
    commands: list[str] = []


class _SwitchFile(BaseModel, extra="allow"):
    runtime_json: str | None = None
    program: str | None = None
    cli_input: str | None = None
    cpu_port: Annotated[int, Field(ge=1, le=CPU_PORT)] | None = None


class _TopologyFile(BaseModel, extra="forbid"):
    hosts: Annotated[dict[_Name, _HostFile], Field(min_length=1, max_length=1024)]
    switches: Annotated[dict[_Name, _SwitchFile], Field(min_length=1, max_length=512)]
    links: Annotated[list[list[object]], Field(max_length=8192)]


def _of_tutorials(path: Path, rate: DataRate) -> LabTopology:
    file = _read(path)

    def named(place: str, name: str | None) -> Path | None:
        return None if name is None else beside(path, place, name)

    switches = {
        # The tutorials number switches from 0, in the order of the file.
        name: LabSwitch(
            name,
            number,
            entries=named(f"switches.{name}.runtime_json", switch.runtime_json),
            program=named(f"switches.{name}.program", switch.program),
        )
        for number, (name, switch) in enumerate(file.switches.items())
    }
    for name, switch in file.switches.items():
        if name in file.hosts:
            raise InputError(path, f"switches.{name}", "is the name of a host, too; rename one of them")
        if switch.cli_input is not None:
            raise InputError(
                path,
                f"switches.{name}.cli_input",
                f"{switch.cli_input} is for simple_switch_CLI, which a lab does not run; "
                "write the entries as a runtime_json",
            )
    listed = enumerate(file.hosts.items(), 1)
    hosts = {name: _host(path, name, number, host) for number, (name, host) in listed}
    links = [_link(path, number, link, hosts, switches, rate) for number, link in enumerate(file.links)]
    _check_links(path, hosts, links)
    parts = [(f"hosts.{name}", host.model_extra) for name, host in file.hosts.items()]
    parts += [(f"switches.{name}", switch.model_extra) for name, switch in file.switches.items()]
    ignored = (f"{place}.{key}" for place, unknown in parts for key in unknown or ())
    notes = [f"{key}: ignored; a lab does not use this key" for key in ignored]
    notes += _check_addresses(path, hosts.values())
    if bare := [f"hosts.{name}.ip" for name, host in file.hosts.items() if "/" not in (host.ip or "/")]:
        notes.append(f"{', '.join(bare)}: no prefix length; /8 is assumed, as in Mininet")
    return LabTopology(path.stem, hosts, switches, links, _cpu_port(path, file), tuple(notes))


def _check_addresses(path: Path, hosts: Iterable[LabHost]) -> Iterator[str]:
    """Yields remarks on IP addresses that several hosts have, which may be intended: anycast. Raises
    InputError for a MAC address that a host cannot have."""
    macs: dict[str, str] = {}
    places: dict[IPv4Address, list[str]] = {}
    for host in hosts:
        octets = mac_bytes(host.mac)
        # The lowest bit of the first octet is set in group addresses (IEEE 802).
        problem = "" if any(octets) and not octets[0] & 1 else "is a group address or zero"
        if host.mac in macs:
            problem = f"is already the address of {macs[host.mac]}"
        if problem:
            place = f"hosts.{host.name}.mac"
            raise InputError(path, place, f"{host.mac} {problem}; give each host its own unicast address")
        macs[host.mac] = host.name
        places.setdefault(host.ipv4.ip, []).append(f"hosts.{host.name}.ip")
    for address, found in places.items():
        if len(found) > 1:
            yield f"{', '.join(found)}: hosts share {address}; give each its own, unless that is meant"


def _read(path: Path) -> _TopologyFile:
    value = parse_json(path, content_of(path, _MAX_FILE_BYTES))
    if not isinstance(value, dict):
        raise InputError(path, "", f"must be an object with {', '.join(_TopologyFile.model_fields)}")
    return checked(Document.of_value(value, str(path)), _TopologyFile)


def beside(by: Path, place: str, named: str, otherwise: Path | None = None, hint: str = "") -> Path:
    """Returns a file that the file `by` names at `place`: in the working folder, as for the tutorials'
    runner, in the folder of `by`, or in the one above; or else `otherwise`. Raises InputError, with the hint,
    if there is none."""
    candidates = list(dict.fromkeys(folder / named for folder in (Path(), by.parent, by.parent.parent)))
    found = next((one for one in candidates if one.is_file()), otherwise)
    if found is None:
        others = [str(one) for one in candidates if str(one) != named]
        nor = f", nor is {' or '.join(others)}" if others else ""
        raise InputError(by, place, f"{named} is not there{nor}{hint}")
    return found


def _host(path: Path, name: str, number: int, host: _HostFile) -> LabHost:
    place = f"hosts.{name}"
    text = f"{_NO_ADDRESSES[number]}/32" if host.ip is None else host.ip
    try:
        # The default prefix length is Mininet's.
        address = IPv4Interface(text if "/" in text else f"{text}/8")
        if address.is_multicast:
            raise ValueError(f"{address.ip} is a group address")
    except (AddressValueError, ValueError) as error:
        rule = f"{error}; write an IPv4 address such as 10.0.1.1/24"
        raise InputError(path, f"{place}.ip", rule) from error
    gateway: IPv4Address | None = None
    neighbours: dict[IPv4Address, str] = {}
    routes: list[tuple[IPv4Network, IPv4Address | None]] = []
    ignored = []
    for command in (part for line in host.commands for part in _AND_THEN.split(line) if part.strip()):
        text = " ".join(command.split())
        for form, meant in _WRITTEN_OTHERWISE:
            if found := form.match(text):
                text = meant + text[found.end() :]
        try:
            route, neighbour = _ROUTE.fullmatch(text), _NEIGHBOUR.fullmatch(text)
            # `ip route add` fails where there is a route; `route add` puts the new one before it.
            if route and text.startswith("ip route a"):
                network = _network(route)
                if any(network == one for one, _ in routes) or (gateway and not network.prefixlen):
                    raise ValueError(f"{network} has a route, which Linux keeps; remove one of the two")
            if (device := _DEVICE.search(text)) and device[1] not in ("eth0", f"{name}-eth0"):
                ignored.append(command.strip())
            elif route and route["ip"] is None:
                routes.insert(0, (_network(route), None))
            elif route:
                hop = IPv4Address(route["ip"])
                on_link = (network for network, way in routes if way is None)
                if host.ip and not any(hop in network for network in (address.network, *on_link)):
                    raise ValueError(
                        f"{hop} is not in {name}'s network {address.network}, which Linux requires of a next "
                        f"hop; choose one there, or add `ip route add {hop} dev eth0` before"
                    )
                if (network := _network(route)).prefixlen:
                    routes.insert(0, (network, hop))  # the newest of a destination counts
                else:
                    gateway = hop
            elif neighbour and _MAC.fullmatch(neighbour["mac"]):
                neighbours[IPv4Address(neighbour["ip"] or neighbour["ip2"])] = neighbour["mac"].lower()
            else:
                ignored.append(command.strip())
        except ValueError as error:
            raise InputError(path, f"{place}.commands", f"{command!r}: {error}") from error
    return LabHost(name, host.mac.lower(), address, gateway, neighbours, tuple(routes), tuple(ignored))


def _network(found: re.Match[str]) -> IPv4Network:
    """Returns the destination of a command's route."""
    if found["network"] == "default":
        return IPv4Network("0.0.0.0/0")
    mask = f"/{found['mask']}" if found["mask"] else ""
    return IPv4Network(f"{found['network']}{mask}", strict=False)


def _link(
    path: Path,
    number: int,
    link: Sequence[object],
    hosts: Mapping[str, LabHost],
    switches: Mapping[str, LabSwitch],
    rate: DataRate,
) -> LinkSpec:
    place = f"links[{number}]"
    if not 2 <= len(link) <= 4:
        raise InputError(path, place, f"has {len(link)} parts; write [end, end], and then a delay and Mbit/s")
    a, b = (_end(path, place, end, hosts, switches) for end in link[:2])
    delay = _delay(path, place, link[2]) if len(link) > 2 else Duration(0)
    if len(link) > 3 and link[3] is not None:
        rate = _rate(path, place, link[3])
    return _joined(a, b, rate, delay)


def _end(
    path: Path, place: str, text: object, hosts: Mapping[str, LabHost], switches: Mapping[str, LabSwitch]
) -> EndSpec:
    if isinstance(text, str):
        if text in hosts:
            return {"node": text, "port": 0}
        found = _SWITCH_END.fullmatch(text)
        if found and found["node"] in switches:
            if (port := int(found["port"])) >= DROP_PORT:
                raise InputError(path, place, f"{text!r}: a link's port is below {DROP_PORT}, the drop port")
            return {"node": found["node"], "port": port}
    raise InputError(path, place, f"{text!r} is neither a host nor a switch and its port, such as s1-p2")


def _delay(path: Path, place: str, text: object) -> Duration:
    """Returns a delay given as a number of milliseconds, or as text with a unit, as in Mininet."""
    found = _LATENCY.fullmatch(str(text)) if not isinstance(text, bool) and len(str(text)) <= 32 else None
    picoseconds = Fraction(found["number"]) * _LATENCY_UNIT_PS[found["unit"]] if found else Fraction(-1)
    if picoseconds.denominator != 1 or not 0 <= picoseconds <= _MAX_DELAY_PS:
        rule = f"delay {text!r}: write milliseconds, or text such as '5ms', up to 1000s"
        raise InputError(path, place, rule)
    return Duration(int(picoseconds))


def _rate(path: Path, place: str, number: object) -> DataRate:
    # Some files have the number as text.
    is_number = _NUMBER.fullmatch(str(number)) is not None and not isinstance(number, bool)
    bps = float(str(number)) * _BPS_PER_MBPS if is_number else 0
    if not 1 <= bps <= _MAX_RATE_BPS:
        raise InputError(path, place, f"rate {number!r}: write Mbit/s, from 0.000001 to 1000000")
    return DataRate(int(bps))


def _cpu_port(path: Path, file: _TopologyFile) -> int:
    ports = {switch.cpu_port for switch in file.switches.values()} - {None}
    if len(ports) > 1:
        problem = f"CPU ports {sorted(map(str, ports))} differ; a lab's switches have one number"
        raise InputError(path, "switches", problem)
    return next((port for port in ports if port is not None), CPU_PORT)


def _check_links(path: Path, hosts: Mapping[str, LabHost], links: Sequence[LinkSpec]) -> None:
    seen: dict[tuple[str, int], int] = {}
    for number, link in enumerate(links):
        if link["a"]["node"] in hosts and link["b"]["node"] in hosts:
            raise InputError(path, f"links[{number}]", "joins two hosts; a host's link leads to a switch")
        for end in (link["a"], link["b"]):
            node, port = place = end["node"], end["port"]
            if place in seen:
                problem = f"{node} port {port} is in links[{seen[place]}] already"
                raise InputError(path, f"links[{number}]", problem)
            seen[place] = number
    for name in hosts:
        if (name, 0) not in seen:
            raise InputError(path, f"hosts.{name}", "has no link")
