"""What a P4Info says, indexed by id, and nothing else: no state, no messages of the protocol.

P4Info names and BMv2 names are the same fully qualified names, and both list key fields and parameters in the
order of the P4 source, so a schema is all that is needed to speak to the engine. `Schema.from_p4info` refuses
by name what this server cannot translate, before anything has been written to the switch.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from finsy.proto import p4i

from .errors import StatusError, invalid, unimplemented

_MATCH_KINDS = {
    p4i.MatchField.EXACT: "exact",
    p4i.MatchField.LPM: "lpm",
    p4i.MatchField.TERNARY: "ternary",
    p4i.MatchField.RANGE: "range",
    p4i.MatchField.OPTIONAL: "optional",
}
_BY_PRIORITY = frozenset({"ternary", "range", "optional"})


@dataclass(frozen=True)
class MatchField:
    """One field of a table's key; `kind` is exact, lpm, ternary, range or optional."""

    id: int
    name: str
    width: int
    kind: str


@dataclass(frozen=True)
class Param:
    """One parameter of an action."""

    id: int
    name: str
    width: int


@dataclass(frozen=True)
class Action:
    """An action with its parameters in order."""

    id: int
    name: str
    params: tuple[Param, ...]


@dataclass(frozen=True)
class ActionChoice:
    """An action that a table may call, and where: in entries, as the default, or both."""

    action: Action
    in_entries: bool
    as_default: bool


@dataclass(frozen=True)
class ActionProfile:
    """An action profile or selector. `max_group_size` 0: no bound; weights add up when `sum_of_weights`."""

    id: int
    name: str
    with_selector: bool
    size: int
    max_group_size: int
    sum_of_weights: bool
    max_member_weight: int
    tables: tuple[int, ...]


@dataclass(frozen=True)
class Table:
    """A table: its key, the actions it may call by id, and what belongs to it."""

    id: int
    name: str
    fields: tuple[MatchField, ...]
    actions: dict[int, ActionChoice]
    profile: ActionProfile | None
    direct_counter: int | None
    is_const: bool
    has_initial_entries: bool
    const_default: bool

    @property
    def by_priority(self) -> bool:
        """Whether entries carry a priority: some field matches under a mask, a range or a wildcard."""
        return any(field.kind in _BY_PRIORITY for field in self.fields)


@dataclass(frozen=True)
class Counter:
    """A counter. `table` is set for a direct one, which has no cells of its own."""

    id: int
    name: str
    size: int
    counts_packets: bool
    counts_bytes: bool
    table: int | None = None


@dataclass(frozen=True)
class Register:
    """A register array; `kind` is bit, int or bool."""

    id: int
    name: str
    size: int
    width: int
    kind: str


@dataclass(frozen=True)
class HeaderField:
    """One field of a controller header. Padding may be left out by the client."""

    id: int
    name: str
    width: int
    is_padding: bool


@dataclass(frozen=True)
class Schema:
    """A P4Info by id."""

    tables: dict[int, Table]
    profiles: dict[int, ActionProfile]
    counters: dict[int, Counter]
    direct_counters: dict[int, Counter]
    registers: dict[int, Register]
    packet_in: tuple[HeaderField, ...]
    packet_out: tuple[HeaderField, ...]

    @classmethod
    def from_p4info(cls, p4info: Any) -> "Schema":
        """Indexes `p4info`; INVALID_ARGUMENT when it contradicts itself, UNIMPLEMENTED for string
        translation.
        """
        actions = {a.preamble.id: _action(a) for a in _unique("action", p4info.actions)}
        profiles = {p.preamble.id: _profile(p) for p in _unique("action profile", p4info.action_profiles)}
        direct = {
            c.preamble.id: _direct_counter(c) for c in _unique("direct counter", p4info.direct_counters)
        }
        tables = {
            t.preamble.id: _table(t, actions, profiles, direct) for t in _unique("table", p4info.tables)
        }
        headers = {h.preamble.name: _header(h) for h in p4info.controller_packet_metadata}
        return cls(
            tables=tables,
            profiles=profiles,
            counters={c.preamble.id: _counter(c) for c in _unique("counter", p4info.counters)},
            direct_counters=direct,
            registers={r.preamble.id: _register(r) for r in _unique("register", p4info.registers)},
            packet_in=headers.get("packet_in", ()),
            packet_out=headers.get("packet_out", ()),
        )


def _unique(kind: str, objects: Iterable[Any]) -> Iterable[Any]:
    seen: dict[int, str] = {}
    for item in objects:
        preamble = item.preamble
        if preamble.id == 0:
            raise invalid(f"P4Info: {kind} '{preamble.name}' has no id")
        if preamble.id in seen:
            raise invalid(
                f"P4Info: {kind} '{preamble.name}' and '{seen[preamble.id]}' share id {preamble.id}"
            )
        seen[preamble.id] = preamble.name
        yield item


def _width(what: str, bitwidth: int) -> int:
    # A field translated to strings (@p4runtime_translation with sdn_string) has no width.
    if bitwidth <= 0:
        raise unimplemented(f"P4Info: {what} has no bit width; translation to strings is not supported")
    return bitwidth


def _action(action: Any) -> Action:
    name = action.preamble.name
    params = [
        Param(p.id, p.name, _width(f"action '{name}' parameter '{p.name}'", p.bitwidth))
        for p in action.params
    ]
    if len({p.id for p in params}) != len(params):
        raise invalid(f"P4Info: action '{name}' has two parameters of the same id")
    return Action(action.preamble.id, name, tuple(sorted(params, key=lambda p: p.id)))


def _profile(profile: Any) -> ActionProfile:
    by_members = profile.WhichOneof("selector_size_semantics") == "sum_of_members"
    return ActionProfile(
        id=profile.preamble.id,
        name=profile.preamble.name,
        with_selector=profile.with_selector,
        size=profile.size,
        max_group_size=profile.max_group_size,
        sum_of_weights=not by_members,
        max_member_weight=profile.sum_of_members.max_member_weight if by_members else 0,
        tables=tuple(profile.table_ids),
    )


def _table(
    table: Any, actions: dict[int, Action], profiles: dict[int, ActionProfile], direct: dict[int, Counter]
) -> Table:
    name = table.preamble.name
    fields = [_match_field(name, field) for field in table.match_fields]
    if len({field.id for field in fields}) != len(fields):
        raise invalid(f"P4Info: table '{name}' has two match fields of the same id")
    choices = {}
    for ref in table.action_refs:
        if ref.id not in actions:
            raise invalid(f"P4Info: table '{name}' refers to action {ref.id}, which is not there")
        choices[ref.id] = ActionChoice(
            actions[ref.id],
            in_entries=ref.scope != p4i.ActionRef.DEFAULT_ONLY,
            as_default=ref.scope != p4i.ActionRef.TABLE_ONLY,
        )
    if table.implementation_id and table.implementation_id not in profiles:
        raise invalid(
            f"P4Info: table '{name}' refers to profile {table.implementation_id}, which is not there"
        )
    counters = [i for i in table.direct_resource_ids if i in direct]
    return Table(
        id=table.preamble.id,
        name=name,
        fields=tuple(sorted(fields, key=lambda field: field.id)),
        actions=choices,
        profile=profiles.get(table.implementation_id),
        direct_counter=counters[0] if counters else None,
        is_const=table.is_const_table,
        has_initial_entries=table.is_const_table or table.has_initial_entries,
        const_default=table.const_default_action_id != 0,
    )


def _match_field(table: str, field: Any) -> MatchField:
    kind = _MATCH_KINDS.get(field.match_type)
    if kind is None:
        raise unimplemented(
            f"P4Info: table '{table}' field '{field.name}' has a match type of its own architecture"
        )
    return MatchField(
        field.id, field.name, _width(f"table '{table}' field '{field.name}'", field.bitwidth), kind
    )


def _counter(counter: Any, table: int | None = None) -> Counter:
    unit = counter.spec.unit
    return Counter(
        id=counter.preamble.id,
        name=counter.preamble.name,
        size=counter.size if table is None else 0,
        counts_packets=unit in (p4i.CounterSpec.PACKETS, p4i.CounterSpec.BOTH),
        counts_bytes=unit in (p4i.CounterSpec.BYTES, p4i.CounterSpec.BOTH),
        table=table,
    )


def _direct_counter(counter: Any) -> Counter:
    return _counter(counter, counter.direct_table_id)


def _register(register: Any) -> Register:
    name, spec = register.preamble.name, register.type_spec
    match spec.WhichOneof("type_spec"):
        case "bitstring":
            kind = spec.bitstring.WhichOneof("type_spec")
            width = {"bit": spec.bitstring.bit.bitwidth, "int": spec.bitstring.int.bitwidth}.get(
                kind or "", 0
            )
        case "bool":
            kind, width = "bool", 1
        case _:
            kind, width = None, 0
    # A register of another type can be declared; reading it says that it is not supported.
    return Register(register.preamble.id, name, register.size, width, kind if width else "unsupported")


def _header(header: Any) -> tuple[HeaderField, ...]:
    name = header.preamble.name
    fields = tuple(
        HeaderField(
            m.id,
            m.name,
            _width(f"header '{name}' field '{m.name}'", m.bitwidth),
            any(annotation.startswith("@padding") for annotation in m.annotations),
        )
        for m in header.metadata
    )
    bits = sum(field.width for field in fields)
    if bits % 8:
        raise invalid(
            f"P4Info: header '{name}' has {bits} bits, which are no whole bytes; pad it in the program"
        )
    return fields


def find(objects: dict[int, Any], kind: str, object_id: int) -> Any:
    """The object of that id, or INVALID_ARGUMENT: the P4Info has none."""
    found = objects.get(object_id)
    if found is None:
        raise _unknown(kind, object_id)
    return found


def _unknown(kind: str, object_id: int) -> StatusError:
    return invalid(f"the P4Info has no {kind} of id {object_id} (0x{object_id:08x})")
