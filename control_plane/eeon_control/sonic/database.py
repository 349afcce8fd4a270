"""Parser of CONFIG_DB files, which are untrusted: it limits their size and checks their form."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from eeon_control.errors import InputError, Place, Problem
from eeon_control.model_base import U32_MAX
from eeon_control.printable import natural, some
from eeon_control.topology.model import Port, Switch

# Tables of queues and priorities without an equivalent in our configuration. Each is refused unless the
# caller explicitly omits it.
UNMAPPED = {
    "BUFFER_PG": "ingress buffers by priority group; a port here has one buffer, at the egress",
    "BUFFER_PORT_EGRESS_PROFILE_LIST": "buffers of a whole port; give BUFFER_QUEUE",
    "BUFFER_PORT_INGRESS_PROFILE_LIST": "ingress buffers; a port here has one buffer, at the egress",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": "lossless classes, which are not imported: write a pfc profile",
    "DOT1P_TO_TC_MAP": "classes, which are not imported: write `classes` with `pcp`",
    "DSCP_TO_FC_MAP": "forwarding classes, which this program does not have",
    "LOSSLESS_TRAFFIC_PATTERN": "lossless classes, which are not imported: write a pfc profile",
    "MAP_PFC_PRIORITY_TO_QUEUE": "lossless classes, which are not imported: write a pfc profile",
    "MPLS_TC_TO_TC_MAP": "MPLS, which this program does not have",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": "lossless classes, which are not imported: write a pfc profile",
    "PFC_WD": "the PFC watchdog, which is not imported: write `watchdog` into a pfc profile",
    "SCHEDULER": "scheduling of several queues, which is not imported: write `quantum` in `classes`",
    "TC_TO_DSCP_MAP": "remarking, which this program does not do",
    "TC_TO_PRIORITY_GROUP_MAP": "ingress buffers by priority group; a port here has one buffer",
}
MAPPED = (
    *("PORT", "QUEUE", "WRED_PROFILE", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_QUEUE"),
    *("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "PORT_QOS_MAP"),
)

MAX_BYTES = 16 << 20
"""Limit of a file's size; a file of a whole chassis has some megabytes."""
MAX_PROBLEMS = 100
_ALSO = 3
"""Number of further rows that a problem names."""
QUEUES = 64
WRED_THRESHOLD_MAX = 2**31 - 1
"""SONiC parses the thresholds as an `int`, and refuses a profile above it (qosorch.cpp)."""

_NUMBER = re.compile(r"[0-9]{1,20}")
_QUEUE_KEY = re.compile(r"([^|]+)\|([0-9]{1,3})(?:-([0-9]{1,3}))?")
_CHASSIS_KEY = re.compile(r"[^|]+\|[^|]+\|[^|]+\|[0-9]{1,3}(?:-[0-9]{1,3})?")
"""The key of a chassis: line card, ASIC, port and queue."""
_REFERENCE = re.compile(r"\[([^|\]]*)\|([^\]]*)\]")
"""A reference to a row of another table in CONFIG_DB before SONiC 202111."""
_YANG_TREE = re.compile(r"(sonic|openconfig|ietf)-[a-z0-9-]+:.+")
_NAMESPACE = re.compile(r"localhost|asic[0-9]{1,3}")
_FRONT = "Ext"
"""The role of a port on the front panel (sonic-port.yang); others lead to a backplane or into the chip."""


class Problems:
    """The problems of a file, up to a readable number. Rows of a table that break one rule in the same field,
    such as those of all ports, are one problem, at the first of them."""

    def __init__(self, source: str) -> None:
        self._place = Place(source)
        self._found: dict[tuple[str, str, str], tuple[Problem, dict[str, None]]] = {}
        self._left_out = 0

    def add(self, key: str, rule: str, value: str = "") -> None:
        """Adds a problem, unless the same rule was already reported for the key."""
        row, _, field = key.partition(".")
        kind = (row.partition("|")[0], field, rule)
        if kind in self._found:
            self._found[kind][1][key] = None
        elif len(self._found) < MAX_PROBLEMS:
            self._found[kind] = (Problem(self._place, key[:200], value[:80], rule), {key: None})
        else:
            self._left_out += 1

    def check(self) -> None:
        """Raises InputError if there are problems."""
        found = [
            replace(one, rule=f"{one.rule} (also {some((key[:60] for key in also), _ALSO)})") if also else one
            for one, (_, *also) in self._found.values()
        ]
        if self._left_out:
            rule = f"has {self._left_out} more problems than these; correct these and try again"
            found.append(Problem(self._place, "", "", rule))
        if found:
            raise InputError(found)


Row = Mapping[str, object]


@dataclass(frozen=True)
class Database:
    """The tables of a file: name, key, fields."""

    source: str
    tables: Mapping[str, Mapping[str, Row]]
    no_tables: tuple[str, ...] = ()
    """Top-level names that are not tables, and that the import does not need."""

    def rows(self, table: str) -> Mapping[str, Row]:
        """Returns the rows of a table, which may be missing."""
        return self.tables.get(table, {})

    def ports(self) -> dict[str, str]:
        """Returns SONiC's ports in front-panel order, with the text of their speed in Mbps."""
        return {
            name: str(row["speed"]) if is_given(row.get("speed")) else ""
            for name, row in sorted(self.rows("PORT").items(), key=lambda one: natural(one[0]))
            if row.get("role", _FRONT) == _FRONT
        }


def parse(text: bytes, source: str) -> Database:
    """Parses a file's content. Raises InputError with all errors in its form."""
    if len(text) > MAX_BYTES:
        rule = f"{len(text)} bytes; the limit is {MAX_BYTES}. Keep the tables of ports and queues only"
        raise InputError.of(source, rule)
    try:
        document = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_Object)
    except (ValueError, RecursionError) as error:
        # A number with thousands of digits also causes a ValueError.
        rule = f"is not JSON ({error or 'nested too deeply'}); `show runningconfiguration all` prints it"
        raise InputError.of(source, rule) from None
    if not isinstance(document, _Object):
        rule = 'is not an object of tables; a CONFIG_DB file begins with {"PORT": {...'
        raise InputError.of(source, rule)
    problems = Problems(source)
    _check_form(document, problems)
    tables: dict[str, dict[str, Row]] = {}
    no_tables = []
    _check_twice(document, "", problems, only=READ)
    for table, rows in document.items():
        if not isinstance(rows, _Object):
            if table in READ:
                problems.add(table, f"is {_kind(rows)}; a table is an object of rows")
            else:
                no_tables.append(table[:60])
            continue
        tables[table] = {}
        if table not in READ:
            continue
        _check_twice(rows, table, problems)
        for key, row in rows.items():
            if isinstance(row, _Object):
                _check_twice(row, f"{table}|{key}", problems)
                tables[table][key] = {} if row == _NO_FIELDS else row
            else:
                problems.add(f"{table}|{key}", f"is {_kind(row)}; a row is an object of fields")
    problems.check()
    return Database(source, tables, tuple(no_tables))


READ = frozenset((*MAPPED, *UNMAPPED))
_NO_FIELDS = {"NULL": "NULL"}
"""A row without fields, which Redis cannot store."""


class _Object(dict[str, object]):
    """A JSON object that records duplicate keys."""

    def __init__(self, pairs: Iterable[tuple[str, object]]) -> None:
        super().__init__()
        self.twice: list[str] = []
        for key, value in pairs:
            if key in self:
                self.twice.append(key)
            self[key] = value


def _check_twice(found: _Object, at: str, problems: Problems, only: Collection[str] | None = None) -> None:
    for key in found.twice:
        if only is None or key in only:
            where = key if not at else f"{at}.{key}" if "|" in at else f"{at}|{key}"
            problems.add(where, "appears twice, and only one can count. Remove one")


def _check_form(document: _Object, problems: Problems) -> None:
    """Raises InputError for other files of a SONiC switch that resemble its CONFIG_DB, and for misspelled
    tables, which would otherwise be ignored."""
    for name in document:
        meant = re.sub(r"(_TABLE|S)?$", "", name.upper().replace("-", "_"), count=1)
        if name not in READ and meant in READ:
            problems.add(name[:60], f"is not a table of CONFIG_DB; {meant} is. Rename it, or remove it")
    problems.check()
    if any(name in READ for name in document):
        return
    for name in document:
        if name.partition("|")[0] in READ:
            problems.add(
                name,
                "is a row of a Redis dump (TABLE|KEY); give a file of tables: /etc/sonic/config_db.json, or "
                "the output of `show runningconfiguration all`",
            )
            problems.check()
    for name in document:
        if _YANG_TREE.fullmatch(name):
            problems.add(
                name,
                "is a YANG tree, as in RESTCONF and gNMI; give the tables of CONFIG_DB, as in "
                "/etc/sonic/config_db.json",
            )
    names = [name for name in document if _NAMESPACE.fullmatch(name)]
    if names:
        problems.add(
            ", ".join(names),
            "are databases of a switch with several ASICs; give the database of one ASIC, such as "
            f"/etc/sonic/config_db0.json, or `jq .{names[-1]}` of this file",
        )
    problems.check()


def number(
    row: Row, field: str, at: str, problems: Problems, *, most: int = U32_MAX, required: bool = False
) -> int | None:
    """Returns a field as a whole number; None after a problem, such as a missing `required` field."""
    value = row.get(field)
    if value is None:
        if required:
            problems.add(f"{at}.{field}", "is missing")
        return None
    text = str(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)) or not _NUMBER.fullmatch(text):
        problems.add(f"{at}.{field}", "is not a whole number", text)
        return None
    if int(text) > most:
        problems.add(f"{at}.{field}", f"is above {most}, the largest value that can be mapped", text)
        return None
    return int(text)


def is_given(value: object) -> bool:
    """Returns whether a field has a value; `[]` and an empty text are none."""
    return value not in ("", "[]", None)


def reference(row: Row, field: str, table: str, at: str, problems: Problems) -> str | None:
    """Returns the row of `table` that a field names, as `P` or as `[TABLE|P]`; None if the field is empty."""
    value = row.get(field, "")
    if not is_given(value):
        return None
    match = _REFERENCE.fullmatch(str(value))
    if match is None:
        return str(value)
    if match[1] != table:
        problems.add(f"{at}.{field}", f"must name a row of {table}", str(value))
    return match[2]


def _meant(name: str, ports: Mapping[str, Row]) -> str:
    """Returns a suggestion for other names of ports (aliases, port channels), else an empty text."""
    if name.startswith("PortChannel"):
        return "; write the members of the port channel"
    meant = next((port for port, row in ports.items() if name in (row.get("alias"), port.lower())), None)
    return f"; write {meant}" if meant else ""


def places(key: str, at: str, ports: Mapping[str, Row], problems: Problems) -> Iterator[tuple[str, int]]:
    """Yields the ports and queues of a key such as `Ethernet0,Ethernet4|3-4`."""
    match = _QUEUE_KEY.fullmatch(key)
    if _CHASSIS_KEY.fullmatch(key):
        problems.add(
            at.partition("|")[0],
            "has keys of a chassis (LINE CARD|ASIC|PORT|QUEUE), which are not imported; write the rows of "
            "this line card as PORT|QUEUE, such as Ethernet0|3",
            key,
        )
        return
    if match is None:
        problems.add(at, "its key must be PORT|QUEUE, such as Ethernet0|3 or Ethernet0,Ethernet4|3-4")
        return
    names, first, last = match[1].split(","), int(match[2]), int(match[3] or match[2])
    # SONiC ignores a row whose range does not rise, 3-3 included (orch.cpp, parseIndexRange).
    if not (first < last if match[3] else first <= last) or last >= QUEUES:
        problems.add(at, f"its queues must be a number or a rising range within 0 to {QUEUES - 1}")
        return
    for name in dict.fromkeys(names):
        if name not in ports:
            problems.add(at, f"names port {name}, which is not in table PORT{_meant(name, ports)}")
            continue
        for queue in range(first, last + 1):
            yield name, queue


def match_ports(database: Database, switch: Switch, problems: Problems) -> dict[str, Port]:
    """Maps SONiC's ports, by name, to our switch's: the first to port 1, and so on in front-panel order.

    SONiC ports without a link in our topology are omitted. A linked port without a SONiC port, or with
    another speed, is a problem. A SONiC port without a speed is assumed to have the topology's.
    """
    named = database.ports()
    if not named:
        problems.add("PORT", "is missing or empty; it is needed to match ports with the topology")
        return {}
    ours = {port.number: port for port in switch.ports}
    made = {}
    for position, (name, speed) in enumerate(named.items(), 1):
        port = ours.pop(position, None)
        if port is None:
            continue
        mbps = int(port.rate) // 10**6
        if speed not in ("", str(mbps)):
            problems.add(f"PORT|{name}.speed", f"{port.name} of the topology has {mbps} (Mbps)", speed)
        made[name] = port
    for port in ours.values():
        problems.add(
            "PORT", f"has {len(named)} ports, but {port.name} of the topology would be number {port.number}"
        )
    return made


def another_order(database: Database) -> str | None:
    """Returns a note if the order of the ports' `index` differs from that of their names, else None."""
    found = [(name, str(row.get("index", ""))) for name, row in database.rows("PORT").items()]
    by_name = sorted(found, key=lambda one: natural(one[0]))
    numbers = [(name, int(index)) for name, index in by_name if _NUMBER.fullmatch(index)]
    for (name, number), (later, after) in pairwise(numbers):
        if after < number:
            return (
                f"PORT|{later}.index is {after}, below {number} of {name}: ports are matched by the numbers "
                "in their names, not by index; check that the order is right"
            )
    return None


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
