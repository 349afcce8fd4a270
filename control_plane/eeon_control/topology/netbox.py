"""Converts devices, interfaces and cables from NetBox's REST API to a topology file. Pure.

Ports are numbered from 1 in the natural order of a switch's interfaces, which is the front panel's for all
vendors' names; management and virtual interfaces have no number. Anything that cannot be mapped is an error.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite

from eeon_control.errors import InputError, Place, Problem
from eeon_control.printable import natural, one_line
from eeon_control.units import DataRate, Duration

MAX_BYTES = 256 << 20
"""Limit of an export's size; a site of a thousand devices has some ten megabytes."""

_MAX_PROBLEMS = 100
_KINDS = ("devices", "interfaces", "cables")
_NODE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}", re.ASCII)
_TYPE = re.compile(r"(\d+(?:\.\d+)?)(g?)base-.+", re.ASCII)
_NO_PORT = ("virtual", "bridge", "lag")
_NOT_THERE = ("planned", "decommissioning")
_PS_PER_METRE = 5000  # light in glass; copper is similar
_METRES = {"km": 1000.0, "m": 1.0, "cm": 0.01, "mi": 1609.344, "ft": 0.3048, "in": 0.0254}
_KBPS = 1000
_FASTEST_BPS = 10**15

Item = Mapping[str, object]
Roles = Mapping[str, Collection[str]]
ROLES: Roles = {"leaf": ("leaf",), "spine": ("spine",), "host": ("server", "host"), "ignored": ()}
"""Slugs of NetBox's device roles by kind of node; `ignored` devices are omitted with their cables."""
_Links = dict[int, tuple[tuple[int, int], str]]
"""Cable -> the interfaces at its ends, and its link as a line of the file."""


@dataclass
class _Export:
    """An export, and what is found in it: `kinds` of nodes by device, `ports` by interface, the numbers of
    cables `left_out` by reason."""

    source: str
    devices: dict[int, Item]
    interfaces: dict[int, Item]
    cables: dict[int, Item]
    problems: list[Problem] = field(default_factory=list)
    kinds: dict[int, str] = field(default_factory=dict)
    ports: dict[int, int] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def wrong(self, what: str, rule: str) -> None:
        problem = Problem(Place(self.source), one_line(what, 200), "", one_line(rule, 500))
        if problem not in self.problems and len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(problem)


def import_(text: bytes, source: str, roles: Roles, *, name: str, delay: Duration) -> tuple[str, list[str]]:
    """Returns the topology file as text, and notes on intentional omissions. `delay`: of cables without a
    length. Raises InputError with everything that cannot be mapped."""
    export = _read(text, source)
    export.kinds = dict(_nodes(export, roles))
    export.ports = _ports(export)
    links = _one_per_host(export, dict(_links(export, delay)))
    if export.problems:
        raise InputError(export.problems)
    notes = [f"cables left out: {count}, {why}" for why, count in sorted(export.left_out.items())]
    return _written(export, name, [line for _, line in links.values()]), notes


def _read(text: bytes, source: str) -> _Export:
    if len(text) > MAX_BYTES:
        raise InputError.of(source, f"larger than {MAX_BYTES} bytes")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError.of(source, f"not JSON: {one_line(str(error), 200)}") from None
    found: dict[str, dict[int, Item]] = {}
    for kind in _KINDS:
        items = value.get(kind) if isinstance(value, dict) else None
        if isinstance(items, dict):
            if items.get("next") is not None:
                raise InputError.of(source, "is one page of several; query NetBox with limit=0", key=kind)
            items = items.get("results")
        if not isinstance(items, list):
            raise InputError.of(
                source,
                "the list is missing; the file needs devices, interfaces and cables, as in NetBox's API",
                key=kind,
            )
        found[kind] = {}
        for item in items:
            number = item.get("id") if isinstance(item, dict) else None
            if not isinstance(number, int) or number in found[kind]:
                raise InputError.of(
                    source, f"an item has no id of its own: {one_line(json.dumps(item), 80)}", key=kind
                )
            found[kind][number] = item
    return _Export(source, found["devices"], found["interfaces"], found["cables"])


def _nodes(export: _Export, roles: Roles) -> Iterator[tuple[int, str]]:
    """Yields the devices, each with its kind of node."""
    names: set[str] = set()
    for number, device in export.devices.items():
        name = _name(device, f"device {number}")
        slug = _text(device.get("role") or device.get("device_role"), "slug")
        kind = next((kind for kind, slugs in roles.items() if slug in slugs), None)
        kind = "ignored" if _text(device.get("status"), "value") in _NOT_THERE else kind
        if kind is None:
            export.wrong(
                name, f"its role {slug!r} is not mapped; give --leaf, --spine, --host or --ignore {slug}"
            )
        elif kind != "ignored" and not _NODE.fullmatch(name):
            export.wrong(name, "a node name starts with a letter and has up to 63 letters, digits, - and _")
        elif kind != "ignored" and name in names:
            export.wrong(name, "two devices have this name")
        names.add(name)
        yield number, kind or "ignored"


def _ports(export: _Export) -> dict[int, int]:
    """Returns interface -> its port number."""
    of_device: dict[int, list[tuple[list[tuple[int, str]], int]]] = defaultdict(list)
    for number, interface in export.interfaces.items():
        device = _id(interface.get("device"))
        if device not in export.devices:
            export.wrong(f"interface {number}", "its device is not in the export")
        elif not interface.get("mgmt_only") and _text(interface.get("type"), "value") not in _NO_PORT:
            of_device[device].append((natural(_name(interface, "")), number))
    first = {device: 0 if export.kinds.get(device) == "host" else 1 for device in of_device}
    return {
        number: place
        for device, interfaces in of_device.items()
        for place, (_, number) in enumerate(sorted(interfaces), first[device])
    }


def _links(export: _Export, delay: Duration) -> Iterator[tuple[int, tuple[tuple[int, int], str]]]:
    """Yields the items of `_Links`, in the order of the cables' numbers. `delay`: without a length."""
    kinds, ports, left_out = export.kinds, export.ports, export.left_out
    for number, cable in sorted(export.cables.items()):
        what = f"cable {number}"
        status = _text(cable.get("status"), "value")
        if status in _NOT_THERE:
            left_out[status] += 1
            continue
        ends = [_end(export, what, side, cable) for side in ("a", "b")]
        if None in ends:
            continue
        a, b = (one for one in ends if one is not None)
        devices = [_id(export.interfaces[one].get("device")) for one in (a, b)]
        if any(kinds[device] == "ignored" for device in devices):
            left_out["of devices that are left out"] += 1
            continue
        if any(one not in ports for one in (a, b)):
            left_out["of management or virtual interfaces"] += 1
            continue
        rate = _rate(export, what, a, b)
        if rate is None:
            continue
        first, second = (_name(export.devices[device], "") for device in devices)
        values = f"rate: {rate}, delay: {_delay(cable) or delay}"
        said = one_line(" - ".join(_name(export.interfaces[one], "") for one in (a, b)), 200)
        places = f'["{first}:{ports[a]}", "{second}:{ports[b]}"]'
        yield number, ((a, b), f"  - {{endpoints: {places}, {values}}} # {what}: {said}")


def _one_per_host(export: _Export, links: _Links) -> _Links:
    """Returns the links without further ones of a host: of a bond, the link of its first interface stays."""
    at_host: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for cable, (ends, _) in links.items():
        for end in ends:
            device = _id(export.interfaces[end].get("device"))
            if export.kinds[device] == "host":
                at_host[device].append((export.ports[end], cable))
    further = {cable for found in at_host.values() for _, cable in sorted(found)[1:]}
    if further:
        export.left_out["further links of hosts: a host has one"] = len(further)
    return {cable: link for cable, link in links.items() if cable not in further}


def _end(export: _Export, what: str, side: str, cable: Item) -> int | None:
    """Returns the interface at one end; None if the end is invalid, or its device is unknown."""
    terminations = cable.get(f"{side}_terminations")
    if terminations is None and cable.get(f"termination_{side}_id") is not None:  # before NetBox 3.3
        old = {key: cable.get(f"termination_{side}_{key}") for key in ("type", "id")}
        terminations = [{f"object_{key}": value for key, value in old.items()}]
    found = [one for one in terminations if isinstance(one, dict)] if isinstance(terminations, list) else []
    if len(found) != 1:
        ends = "no end" if not found else f"{len(found)} ends, as a breakout has,"
        export.wrong(what, f"it has {ends} on side {side.upper()}; a link needs exactly one on each side")
        return None
    kind, number = found[0].get("object_type"), found[0].get("object_id")
    if kind != "dcim.interface":
        export.wrong(what, f"side {side.upper()} ends at a {kind}; a link needs an interface of a device")
        return None
    if not isinstance(number, int) or number not in export.interfaces:
        export.wrong(what, f"interface {number} on side {side.upper()} is not in the export")
        return None
    return number if _id(export.interfaces[number].get("device")) in export.devices else None


def _rate(export: _Export, what: str, a: int, b: int) -> DataRate | None:
    """Returns the speed of both ends, or of the only end that has one; None after a problem."""
    rates = {rate for one in (a, b) if (rate := _speed(export.interfaces[one])) is not None}
    if len(rates) == 1:
        return rates.pop()
    names = " and ".join(_full_name(export, one) for one in (a, b))
    if rates:
        export.wrong(
            what, f"its ends have different speeds: {names} have {' and '.join(map(str, sorted(rates)))}"
        )
    else:
        export.wrong(what, f"its speed is unknown; set a speed or an Ethernet type at {names}")
    return None


def _speed(interface: Item) -> DataRate | None:
    """Returns an interface's own speed, or that of its type; None without one, or above all links."""
    bps = (_number(interface.get("speed")) or 0.0) * _KBPS
    match = _TYPE.fullmatch(_text(interface.get("type"), "value"))
    if bps <= 0 and match is not None:
        bps = float(match[1]) * (10**9 if match[2] else 10**6)
    return DataRate(round(bps)) if 1 <= bps <= _FASTEST_BPS else None


def _delay(cable: Item) -> Duration | None:
    length, unit = _number(cable.get("length")), _METRES.get(_text(cable.get("length_unit"), "value"))
    if length is None or unit is None or not 0 < length < 10**9:
        return None
    return Duration(max(1, round(length * unit * _PS_PER_METRE)))


def _written(export: _Export, name: str, links: list[str]) -> str:
    order = {"leaf": 0, "spine": 1, "host": 2}
    nodes = sorted(
        (order[kind], natural(_name(export.devices[number], "")), number)
        for number, kind in export.kinds.items()
        if kind != "ignored"
    )
    lines = [f"name: {name}", "description: imported from NetBox", "nodes:"]
    for kind, _, number in nodes:
        what = ("kind: switch, role: leaf", "kind: switch, role: spine", "kind: host")[kind]
        lines.append(f"  {_name(export.devices[number], '')}: {{{what}}}")
    lines.append("links:" if links else "links: []")
    return "\n".join([*lines, *links]) + "\n"


def _full_name(export: _Export, interface: int) -> str:
    found = export.interfaces[interface]
    device = export.devices.get(_id(found.get("device")), {})
    return f"{_name(device, '?')} {_name(found, '?')}"


def _name(item: Item, otherwise: str) -> str:
    name = item.get("name")
    return name if isinstance(name, str) and name else otherwise


def _text(value: object, key: str) -> str:
    """Returns `value[key]`, or `value` itself: some versions have objects for choices, and others texts."""
    found = value.get(key) if isinstance(value, dict) else value
    return found if isinstance(found, str) else ""


def _number(value: object) -> float | None:
    """Returns a finite number, which some versions write as text; None for other values."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def _id(value: object) -> int:
    found = value.get("id") if isinstance(value, dict) else value
    return found if isinstance(found, int) else -1
