"""Conversion of a P4Info message to a `Schema`. It refuses by name the objects that this server cannot
translate, before anything is written to the switch.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from ..errors import StatusError, invalid, unimplemented
from ..messages import p4i, p4t, rpc_code
from . import data_types, references, schema
from .data_types import DataType

_MATCH_KINDS = {
    p4i.MatchField.EXACT: "exact",
    p4i.MatchField.LPM: "lpm",
    p4i.MatchField.TERNARY: "ternary",
    p4i.MatchField.RANGE: "range",
    p4i.MatchField.OPTIONAL: "optional",
}
_METER_TYPES = {
    p4i.MeterSpec.TWO_RATE_THREE_COLOR: "two-rate three-colour",
    p4i.MeterSpec.SINGLE_RATE_THREE_COLOR: "single-rate three-colour",
    p4i.MeterSpec.SINGLE_RATE_TWO_COLOR: "single-rate two-colour",
}
# Prefixes of objects' ids (P4Runtime 1.5 §6.3, `P4Ids.Prefix`).
_PREFIXES = {
    "action": p4i.P4Ids.ACTION,
    "table": p4i.P4Ids.TABLE,
    "value set": p4i.P4Ids.VALUE_SET,
    "action profile": p4i.P4Ids.ACTION_PROFILE,
    "counter": p4i.P4Ids.COUNTER,
    "direct counter": p4i.P4Ids.DIRECT_COUNTER,
    "meter": p4i.P4Ids.METER,
    "direct meter": p4i.P4Ids.DIRECT_METER,
    "register": p4i.P4Ids.REGISTER,
    "digest": p4i.P4Ids.DIGEST,
}
_CONTROLLER_HEADER = "controller header"  # the specification's own example has ids without its prefix
_ROLE = re.compile(r'@p4runtime_role\(\s*"([^"]+)"\s*\)')


class _Message(Protocol):
    """An object of a P4Info of any kind."""

    @property
    def preamble(self) -> p4i.Preamble: ...


_M = TypeVar("_M", bound=_Message)
_T = TypeVar("_T")
_N = TypeVar("_N", bound=schema.Named)


def read(info: p4i.P4Info) -> schema.Schema:
    """Indexes a P4Info; raises INVALID_ARGUMENT for a contradiction, UNIMPLEMENTED for string translation."""
    types = info.type_info
    actions = _by_id("action", info.actions, _action)
    profiles = _by_id("action profile", info.action_profiles, _profile)
    direct_counters = _by_id("direct counter", info.direct_counters, _counter)
    direct_meters = _by_id("direct meter", info.direct_meters, _meter)
    _check_ids("table", info.tables)
    references.check(info)
    _check_ids(_CONTROLLER_HEADER, info.controller_packet_metadata)
    headers = {header.preamble.name: header for header in info.controller_packet_metadata}
    return schema.Schema(
        tables={
            table.preamble.id: _table(table, actions, profiles, direct_counters, direct_meters)
            for table in info.tables
        },
        profiles=profiles,
        counters=_by_id("counter", info.counters, _counter),
        direct_counters=direct_counters,
        meters=_by_id("meter", info.meters, _meter),
        direct_meters=direct_meters,
        registers=_by_id("register", info.registers, lambda register: _register(register, types)),
        value_sets=_by_id("value set", info.value_sets, _value_set),
        digests=_by_id("digest", info.digests, lambda digest: _digest(digest, types)),
        packet_in=_header(headers.get("packet_in")),
        packet_out=_header(headers.get("packet_out")),
        owners=dict(_owners(info)),
        packet_in_owner=_owner(headers.get("packet_in")),
        packet_out_owner=_owner(headers.get("packet_out")),
    )


def _by_id(kind: str, objects: Sequence[_M], made: Callable[[_M], _T]) -> dict[int, _T]:
    """Returns the objects of one kind by id."""
    _check_ids(kind, objects)
    return {item.preamble.id: made(item) for item in objects}


def _check_ids(kind: str, objects: Iterable[_Message]) -> None:
    """Raises INVALID_ARGUMENT if objects of a kind share an id or a name, or an id's prefix is another's."""
    seen: dict[int | str, str] = {}
    for item in objects:
        number, name = item.preamble.id, item.preamble.name
        if number == 0:
            raise invalid(f"P4Info: {kind} '{name}' has no id")
        prefix = _PREFIXES.get(kind, number >> 24)
        if number >> 24 != prefix:
            raise invalid(
                f"P4Info: {kind} '{name}' has id 0x{number:08x}; ids of its kind are 0x{prefix:02x}000000 to "
                f"0x{prefix:02x}ffffff. Use p4c's P4Info, and choose ids by @id in the program"
            )
        for key, what in ((number, f"id {number}"), (name, "a name")):
            if key in seen:
                raise invalid(f"P4Info: {kind} '{name}' and '{seen[key]}' share {what}")
            seen[key] = name


def _owners(info: p4i.P4Info) -> Iterator[tuple[int, str]]:
    # An action belongs to the roles of its tables. The P4Info calls value sets `value_sets`.
    for kind in [kind for kind in _PREFIXES if kind != "action"]:
        for item in getattr(info, f"{kind.replace(' ', '_')}s"):
            owner = _owner(item)
            if owner is not None:
                yield item.preamble.id, owner


def _owner(item: _Message | None) -> str | None:
    if item is None:
        return None
    found = [match[1] for text in item.preamble.annotations if (match := _ROLE.fullmatch(text.strip()))]
    return found[0] if found else None


def _width(what: str, bitwidth: int) -> int:
    # A field that is translated to strings (@p4runtime_translation with sdn_string) has no width.
    if bitwidth <= 0:
        raise unimplemented(f"P4Info: {what} has no bit width; translation to strings is not supported")
    return bitwidth


def _distinct(what: str, fields: Iterable[_N]) -> tuple[_N, ...]:
    """Returns the fields; raises INVALID_ARGUMENT if two of them have one id."""
    found = tuple(fields)
    if len({field.id for field in found}) != len(found):
        raise invalid(f"P4Info: {what} with the same id")
    return found


def _action(action: p4i.Action) -> schema.Action:
    name = action.preamble.name
    params = (
        schema.Field(p.id, p.name, _width(f"action '{name}' parameter '{p.name}'", p.bitwidth))
        for p in action.params
    )
    return schema.Action(action.preamble.id, name, _distinct(f"action '{name}' has two parameters", params))


def _profile(profile: p4i.ActionProfile) -> schema.ActionProfile:
    by_members = profile.WhichOneof("selector_size_semantics") == "sum_of_members"
    return schema.ActionProfile(
        id=profile.preamble.id,
        name=profile.preamble.name,
        with_selector=profile.with_selector,
        max_group_size=profile.max_group_size,
        sum_of_weights=not by_members,
        max_member_weight=profile.sum_of_members.max_member_weight if by_members else 0,
        weights_disallowed=profile.weights_disallowed,
        tables=tuple(profile.table_ids),
    )


def _table(
    table: p4i.Table,
    actions: dict[int, schema.Action],
    profiles: dict[int, schema.ActionProfile],
    counters: dict[int, schema.Counter],
    meters: dict[int, schema.Meter],
) -> schema.Table:
    name = table.preamble.name
    fields = (_match_field(f"table '{name}'", field) for field in table.match_fields)
    choices = {
        ref.id: schema.ActionChoice(
            actions[ref.id],
            in_entries=ref.scope != p4i.ActionRef.DEFAULT_ONLY,
            as_default=ref.scope != p4i.ActionRef.TABLE_ONLY,
        )
        for ref in table.action_refs
    }
    return schema.Table(
        id=table.preamble.id,
        name=name,
        fields=_distinct(f"table '{name}' has two match fields", fields),
        actions=choices,
        profile=profiles.get(table.implementation_id),
        direct_counter=next((counters[i] for i in table.direct_resource_ids if i in counters), None),
        direct_meter=next((meters[i] for i in table.direct_resource_ids if i in meters), None),
        idle_timeout=table.idle_timeout_behavior == p4i.Table.NOTIFY_CONTROL,
        is_const=table.is_const_table,
        has_initial_entries=table.is_const_table or table.has_initial_entries,
        const_default=table.const_default_action_id != 0,
        initial_default=table.initial_default_action.action_id,
    )


def _match_field(what: str, field: p4i.MatchField) -> schema.MatchField:
    kind = _MATCH_KINDS.get(field.match_type)
    if kind is None:
        raise unimplemented(f"P4Info: {what} field '{field.name}' has an architecture-specific match type")
    width = _width(f"{what} field '{field.name}'", field.bitwidth)
    return schema.MatchField(field.id, field.name, width, kind)


def _size(kind: str, name: str, size: int) -> int:
    if size < 0:
        raise invalid(f"P4Info: {kind} '{name}' has size {size}, below 0")
    return size


def _counter(counter: p4i.Counter | p4i.DirectCounter) -> schema.Counter:
    name, unit = counter.preamble.name, counter.spec.unit
    return schema.Counter(
        counter.preamble.id,
        name,
        size=_size("counter", name, getattr(counter, "size", 0)),
        counts_packets=unit in (p4i.CounterSpec.PACKETS, p4i.CounterSpec.BOTH),
        counts_bytes=unit in (p4i.CounterSpec.BYTES, p4i.CounterSpec.BOTH),
    )


def _meter(meter: p4i.Meter | p4i.DirectMeter) -> schema.Meter:
    name = meter.preamble.name
    if meter.spec.type not in _METER_TYPES:
        raise unimplemented(f"P4Info: meter '{name}' is of type {meter.spec.type}, which is not supported")
    return schema.Meter(
        meter.preamble.id,
        name,
        size=_size("meter", name, getattr(meter, "size", 0)),
        type=_METER_TYPES[meter.spec.type],
    )


def _register(register: p4i.Register, types: p4t.P4TypeInfo) -> schema.Register:
    name = register.preamble.name
    kind: DataType | None = None
    try:
        kind = data_types.resolve(types, register.type_spec, f"register '{name}'")
    except StatusError as error:
        if error.code != rpc_code.UNIMPLEMENTED:
            raise
        # It may be declared, but a read or write reports that it is not supported.
    if not isinstance(kind, data_types.Scalar):
        kind = None
    return schema.Register(register.preamble.id, name, _size("register", name, register.size), kind)


def _value_set(value_set: p4i.ValueSet) -> schema.ValueSet:
    name = value_set.preamble.name
    matches = (_match_field(f"value set '{name}'", field) for field in value_set.match)
    fields = _distinct(f"value set '{name}' has two fields", matches)
    return schema.ValueSet(value_set.preamble.id, name, fields, _size("value set", name, value_set.size))


def _digest(digest: p4i.Digest, types: p4t.P4TypeInfo) -> schema.Digest:
    name = digest.preamble.name
    resolved = data_types.resolve(types, digest.type_spec, f"digest '{name}'")
    return schema.Digest(digest.preamble.id, name, resolved, in_program=name)


def _header(header: p4i.ControllerPacketMetadata | None) -> tuple[schema.HeaderField, ...]:
    if header is None:
        return ()
    name = header.preamble.name
    given = (
        schema.HeaderField(
            m.id,
            m.name,
            _width(f"header '{name}' field '{m.name}'", m.bitwidth),
            any(annotation.startswith("@padding") for annotation in m.annotations),
        )
        for m in header.metadata
    )
    fields = _distinct(f"header '{name}' has two fields", given)
    bits = sum(field.width for field in fields)
    if bits % 8:
        raise invalid(f"P4Info: header '{name}' has {bits} bits, not a multiple of 8; pad it in the program")
    return fields
