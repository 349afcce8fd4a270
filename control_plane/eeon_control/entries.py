"""Table entries as values: hashable, comparable, with whole numbers only, independent of any wire format.

Names are P4Info aliases. Two entries with the same `key` are the same entry of a switch, possibly with
different actions. Entries are named tuples because a large fabric has millions of them, and the interpreter
itself creates, hashes and compares tuples.
"""

import hashlib
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address
from typing import Any, NamedTuple, Self

from pydantic_core import CoreSchema, core_schema

from eeon_control.topology import mac_text


class Exact(NamedTuple):
    """An exact match on one field."""

    field: str
    value: int

    def __str__(self) -> str:
        return f"{self.field}={self.value}"


class Lpm(NamedTuple):
    """A longest-prefix match on one field of `width` bits; bits beyond the prefix are zero."""

    field: str
    value: int
    prefix_length: int
    width: int

    @property
    def text(self) -> str:
        """The prefix as text: `10.0.2.0/24`."""
        kind = {32: IPv4Address, 128: IPv6Address}.get(self.width, hex)
        return f"{kind(self.value)}/{self.prefix_length}"

    def __str__(self) -> str:
        return f"{self.field}={self.text}"


class Action(NamedTuple):
    """An action and its parameters, in the order of the P4 program."""

    name: str
    params: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={_param(name, value)}' for name, value in self.params)})"


CLONE_SESSIONS = "clone_session"
"""The name under which P4Runtime's clone sessions appear as a table: match `session`, action
`clone_to(port)` (`fabric.clone_sessions`)."""

WATCH_PORT = "watch_port"
"""A pseudo-parameter of an action: the port that a next hop watches, if not its own; it may be `NO_PORT`."""
NO_PORT = -1
"""No port; 0 is a port."""

EntryKey = tuple[str, tuple[Exact | Lpm, ...], bool]
"""Identifies an entry within a switch: table, match, and whether it is the default."""


class Entry(NamedTuple):
    """One entry of one table.

    `actions` has one action; in a table with an action selector, it is the set of equally likely actions (a
    one-shot action set), sorted, so that two sets with the same members are equal. `is_default` entries have
    no match and define the action of a miss.
    """

    table: str
    match: tuple[Exact | Lpm, ...]
    actions: tuple[Action, ...]
    is_default: bool = False
    selector: bool = False

    @property
    def key(self) -> EntryKey:
        return self.table, self.match, self.is_default

    def as_value(self) -> dict[str, object]:
        """Returns the entry as a JSON value, for the files of plans and journals."""
        match = [list(part) for part in self.match]
        actions = [[action.name, dict(action.params)] for action in self.actions]
        flags = {"default": self.is_default, "selector": self.selector}
        said = {name: True for name, is_set in flags.items() if is_set}
        return {"table": self.table, "match": match, "actions": actions, **said}

    # The files' values are untyped: values of the wrong shape cause a ValueError.
    @classmethod
    def of_value(cls, value: Any) -> Self:  # noqa: ANN401
        """Returns the entry that `as_value` wrote. Raises ValueError for other values."""
        if isinstance(value, cls):
            return value
        try:
            return cls(
                value["table"],
                tuple(Exact(*part) if len(part) == 2 else Lpm(*part) for part in value["match"]),
                tuple(Action(name, tuple(params.items())) for name, params in value["actions"]),
                value.get("default", False),
                value.get("selector", False),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not an entry: {error!r}") from None

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(cls.as_value)
        return core_schema.no_info_plain_validator_function(cls.of_value, serialization=written)

    @property
    def match_text(self) -> str:
        return "(default)" if self.is_default else ", ".join(str(part) for part in self.match)

    @property
    def action_text(self) -> str:
        return " | ".join(str(action) for action in self.actions)


Owned = Mapping[str, frozenset[EntryKey]]
"""Switch -> keys of the controller's own entries, if other controllers also write to its tables."""


def keys_of(entries: Iterable[Entry]) -> frozenset[EntryKey]:
    return frozenset(entry.key for entry in entries)


def owned_of(entries: Iterable[Entry], owned: frozenset[EntryKey] | None) -> list[Entry]:
    """Returns the entries with keys in `owned` and all default entries; every entry if `owned` is None."""
    return [entry for entry in entries if owned is None or entry.is_default or entry.key in owned]


def by_key(entries: Iterable[Entry], table: str) -> dict[int, Action]:
    """Returns the actions of a table with one exact field by its value, without the default."""
    return {
        entry.match[0].value: entry.actions[0]
        for entry in entries
        if entry.table == table and not entry.is_default and entry.actions
    }


def entries_digest(entries: Iterable[Entry]) -> str:
    """Returns the SHA-256, in hex, of a set of entries, independent of their order."""
    lines = sorted(f"{entry.table} {entry.match_text} {entry.action_text}" for entry in entries)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _param(name: str, value: int) -> str:
    if name.endswith("_mac"):
        return mac_text(value)
    return "none" if name == WATCH_PORT and value == NO_PORT else str(value)
