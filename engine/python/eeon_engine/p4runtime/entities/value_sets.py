"""Parser value sets (P4Runtime 1.5 §9.6). The engine stores their members.

A member is the concatenation of the set's fields, compared for equality: p4c's BMv2 backend ignores `@match`,
so that a field that the P4Info declares ternary, range, ... accepts only full masks, single values, ...
"""

from collections.abc import Iterator
from functools import partial

from ..._engine import SwitchHandle
from ..errors import already_exists, exhausted, invalid, unimplemented
from ..messages import p4r
from ..program.schema import MatchField, Schema, ValueSet, find, select
from . import translate
from .chunks import Chunk


class ValueSets:
    def __init__(self, control: SwitchHandle, schema: Schema) -> None:
        self._control = control
        self._schema = schema

    def write(self, kind: int, message: p4r.ValueSetEntry) -> None:
        """Applies one update of a `ValueSetEntry`: replaces all members."""
        if kind != p4r.Update.MODIFY:
            raise invalid("value sets always exist; use MODIFY")
        value_set = find(self._schema.value_sets, "value set", message.value_set_id)
        if len(message.members) > value_set.size:
            raise exhausted(
                f"value set '{value_set.name}': {len(message.members)} members, it has room for "
                f"{value_set.size}"
            )
        after: dict[bytes, None] = {}
        for member in message.members:
            value = _value(value_set, member)
            if value in after:
                raise already_exists(f"value set '{value_set.name}': member 0x{value.hex()} is given twice")
            after[value] = None
        self._control.parse_vset_set(value_set.name, list(after))

    def read(self, message: p4r.ValueSetEntry) -> Iterator[Chunk]:
        """Yields the value sets that a `ValueSetEntry` request selects; 0 stands for all."""
        for value_set in select(self._schema.value_sets, "value set", message.value_set_id):
            values = self._control.parse_vset_get(value_set.name)
            yield Chunk(1 + len(values), partial(_entities, value_set, values))


def _entities(value_set: ValueSet, values: list[bytes]) -> Iterator[p4r.Entity]:
    entry = p4r.ValueSetEntry(value_set_id=value_set.id)
    for value in values:
        entry.members.add(match=_match(value_set, int.from_bytes(value, "big")))
    yield p4r.Entity(value_set_entry=entry)


def _value(value_set: ValueSet, member: p4r.ValueSetMember) -> bytes:
    """Converts a member for the engine."""
    given = translate.by_id(f"value set '{value_set.name}'", "field", value_set.fields, member.match)
    number = bits = 0
    for field in value_set.fields:
        number = number << field.width | _field(value_set, field, given.get(field.id))
        bits += field.width
    return number.to_bytes((bits + 7) // 8, "big")


def _field(value_set: ValueSet, field: MatchField, match: p4r.FieldMatch | None) -> int:
    what = f"value set '{value_set.name}' field '{field.name or field.id}'"
    if match is None and field.kind == "exact":
        raise invalid(f"{what} is exact and must be given")
    if match is not None:
        kind = match.WhichOneof("field_match_type")
        if kind != field.kind:
            raise invalid(f"{what} is {field.kind}, the request has {kind or 'no value'}")
        numbers = translate.numbers_of(field, what, match)
        if numbers == _equal(field, numbers[0]):
            return numbers[0]
    raise unimplemented(f"{what}: p4c's BMv2 backend compares value sets for equality only; give every bit")


def _equal(field: MatchField, value: int) -> tuple[int, ...]:
    """Returns the integers of the match that only one value has."""
    others = {"lpm": field.width, "ternary": (1 << field.width) - 1, "range": value}
    return (value, others[field.kind]) if field.kind in others else (value,)


def _match(value_set: ValueSet, number: int) -> list[p4r.FieldMatch]:
    fields = []
    for field in reversed(value_set.fields):
        value = number & ((1 << field.width) - 1)
        number >>= field.width
        fields.append(translate.message_of(field, _equal(field, value)))
    return fields[::-1]
