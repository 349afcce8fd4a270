"""The content of a P4Info, indexed by id: without state or messages of the protocol.

P4Info names and BMv2 names are the same fully qualified names, and `in_program` has put key fields and
parameters into the program's order, so that a schema is sufficient to call the engine. Ids are mere numbers:
`@id` may assign them in any order. `p4info.read` makes a schema.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ..errors import invalid
from .data_types import DataType

_T = TypeVar("_T")

_BY_PRIORITY = frozenset({"ternary", "range", "optional"})


@dataclass(frozen=True)
class Named:
    """The base of all objects, and of their fields and parameters."""

    id: int
    name: str


@dataclass(frozen=True)
class Field(Named):
    """A parameter of an action, or the base of fields."""

    width: int


@dataclass(frozen=True)
class MatchField(Field):
    """One field of a table's key; `kind` is exact, lpm, ternary, range or optional."""

    kind: str


@dataclass(frozen=True)
class HeaderField(Field):
    """One field of a controller header. A client may omit padding."""

    is_padding: bool


@dataclass(frozen=True)
class Action(Named):
    """An action with its parameters in order."""

    params: tuple[Field, ...]


@dataclass(frozen=True)
class ActionChoice:
    """An action that a table may call, and where: in entries, as the default, or both."""

    action: Action
    in_entries: bool
    as_default: bool


@dataclass(frozen=True)
class ActionProfile(Named):
    """An action profile or selector. `max_group_size` 0 means unlimited; the limit applies to the sum of
    weights if `sum_of_weights`."""

    with_selector: bool
    max_group_size: int
    sum_of_weights: bool
    max_member_weight: int
    weights_disallowed: bool
    tables: tuple[int, ...]


@dataclass(frozen=True)
class Table(Named):
    """A table: its key, the actions that it may call by id, and its resources."""

    fields: tuple[MatchField, ...]
    actions: dict[int, ActionChoice]
    profile: ActionProfile | None
    direct_counter: "Counter | None"
    direct_meter: "Meter | None"
    idle_timeout: bool
    is_const: bool
    has_initial_entries: bool
    const_default: bool
    initial_default: int

    @cached_property
    def actions_by_name(self) -> dict[str, Action]:
        """Returns the actions of the table by name."""
        return {choice.action.name: choice.action for choice in self.actions.values()}

    @cached_property
    def by_priority(self) -> bool:
        """Returns whether entries have a priority: some field matches by a mask, a range or a wildcard."""
        return any(field.kind in _BY_PRIORITY for field in self.fields)


@dataclass(frozen=True)
class Array(Named):
    """The base of arrays of cells."""

    size: int


@dataclass(frozen=True)
class Counter(Array):
    """A counter; a direct one has no cells of its own."""

    counts_packets: bool
    counts_bytes: bool


@dataclass(frozen=True)
class Meter(Array):
    """A meter of bytes or packets; a direct one has no cells of its own. `type` is two-rate three-colour,
    single-rate three-colour, or single-rate two-colour (P4Runtime 1.5 §6.4.5)."""

    type: str


@dataclass(frozen=True)
class Register(Array):
    """A register array. `type` is None if BMv2 has no registers with cells of this type."""

    type: DataType | None


@dataclass(frozen=True)
class ValueSet(Named):
    """A parser value set: the fields of a member, and the maximum number of members."""

    fields: tuple[MatchField, ...]
    size: int


@dataclass(frozen=True)
class Digest(Named):
    """A digest: the type of the data plane's messages."""

    type: DataType
    in_program: str | None
    """The name of its messages in the program; None where another digest's messages have the same."""


@dataclass(frozen=True)
class Schema:
    """The objects of a P4Info by id."""

    tables: dict[int, Table]
    profiles: dict[int, ActionProfile]
    counters: dict[int, Counter]
    direct_counters: dict[int, Counter]
    meters: dict[int, Meter]
    direct_meters: dict[int, Meter]
    registers: dict[int, Register]
    value_sets: dict[int, ValueSet]
    digests: dict[int, Digest]
    packet_in: tuple[HeaderField, ...]
    packet_out: tuple[HeaderField, ...]
    owners: dict[int, str]
    """Objects that belong to one role, by id; `roles` explains ownership."""
    packet_in_owner: str | None
    packet_out_owner: str | None


def find(objects: dict[int, _T], kind: str, object_id: int) -> _T:
    """Returns the object with this id; raises INVALID_ARGUMENT if the P4Info has none."""
    found = objects.get(object_id)
    if found is None:
        raise invalid(f"the P4Info has no {kind} with id {object_id} (0x{object_id:08x})")
    return found


def select(objects: dict[int, _T], kind: str, object_id: int) -> list[_T]:
    """Returns the object with this id; all objects for 0, P4Runtime's wildcard."""
    return [find(objects, kind, object_id)] if object_id else list(objects.values())
