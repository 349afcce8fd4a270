"""Conversion of table keys and actions from P4Runtime messages to the engine's form, and back.

Both directions are pure functions. A key has three forms: the engine's parameters, a tuple of integers that
identifies the entry within its table, and the canonical fields of the message in a read's response.

In P4Runtime the highest priority wins, in BMv2 the lowest number. P4's `optional` is a ternary field in the
BMv2 program.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...values import MatchParam
from .. import bytestrings
from ..errors import denied, invalid
from ..messages import p4r
from ..program.schema import MatchField, Table

MAX_PRIORITY = 2**31 - 1


_Part = tuple[MatchField, tuple[int, ...]]
"""A field and the integers in its match."""
_SHAPES = {
    "exact": (("value",), ""),
    "lpm": (("value", "prefix_len"), "/"),
    "ternary": (("value", "mask"), "&"),
    "range": (("low", "high"), ".."),
    "optional": (("value",), ""),
}
"""The parts of a match in P4Runtime, and what is between them in an error message."""


@dataclass(frozen=True, slots=True)
class Key:
    """One entry's key: its fields in the table's order, and its P4Runtime priority."""

    parts: tuple[_Part, ...]
    priority: int

    @property
    def identity(self) -> tuple[int | tuple[int, ...], ...]:
        """An identity that distinguishes and orders the entries of a table."""
        return (self.priority, *(numbers for _, numbers in self.parts))

    @property
    def params(self) -> tuple[MatchParam, ...]:
        """The key in the engine's form."""
        return tuple(_param_of(field, numbers) for field, numbers in self.parts)

    @property
    def fields(self) -> tuple[p4r.FieldMatch, ...]:
        """The canonical fields of the message, without "don't care" fields."""
        return tuple(
            message_of(field, numbers)
            for field, numbers in self.parts
            if field.kind == "exact" or numbers != wildcard(field)
        )

    @property
    def engine_priority(self) -> int:
        """BMv2's priority, 0 for tables without priorities."""
        return MAX_PRIORITY - self.priority if self.priority else 0

    def text(self) -> str:
        """Returns the key as text for an error message."""
        fields = ", ".join(f"{match.field_id}: {_one_line(match)}" for match in self.fields)
        return f"{{{fields}}} priority {self.priority}"


def _one_line(match: p4r.FieldMatch) -> str:
    kind = match.WhichOneof("field_match_type") or "exact"
    names, between = _SHAPES[kind]
    values = (getattr(getattr(match, kind), name) for name in names)
    return between.join(f"0x{value.hex()}" if isinstance(value, bytes) else str(value) for value in values)


def key_from_message(table: Table, entry: p4r.TableEntry) -> Key:
    """Returns the key in a `TableEntry` (P4Runtime 1.5 §9.1.1)."""
    given = by_id(f"table '{table.name}'", "match field", table.fields, entry.match)
    if table.by_priority and entry.priority <= 0:
        raise invalid(
            f"table '{table.name}': priority {entry.priority}, but its key is matched by priority; "
            "P4Runtime requires priority > 0"
        )
    if not table.by_priority and entry.priority != 0:
        raise invalid(
            f"table '{table.name}': priority {entry.priority}, but its key is exact or lpm; set it to 0"
        )
    return Key(tuple(_field(table, field, given.get(field.id)) for field in table.fields), entry.priority)


def by_id(
    owner: str, noun: str, fields: Iterable[MatchField], matches: Iterable[p4r.FieldMatch]
) -> dict[int, p4r.FieldMatch]:
    """Returns the matches of a request by the ids of their fields, which `owner` calls by a noun."""
    known = {field.id for field in fields}
    given: dict[int, p4r.FieldMatch] = {}
    for match in matches:
        if match.field_id not in known:
            raise invalid(f"{owner} has no {noun} with id {match.field_id}")
        if match.field_id in given:
            raise invalid(f"{owner}: {noun} {match.field_id} is given twice")
        given[match.field_id] = match
    return given


def numbers_of(field: MatchField, what: str, match: p4r.FieldMatch) -> tuple[int, ...]:
    """Returns the integers in a match of the field's kind."""
    part, found = getattr(match, field.kind), []
    for name in _SHAPES[field.kind][0]:
        value = getattr(part, name)
        is_number = name == "prefix_len"
        found.append(value if is_number else bytestrings.decode(value, field.width, what, invalid))
    return tuple(found)


def key_from_engine(table: Table, params: Sequence[MatchParam], priority: int) -> Key:
    """Returns the key of an entry that was read from the engine; `priority` is P4Runtime's."""
    parts = (_engine_field(field, param) for field, param in zip(table.fields, params, strict=True))
    return Key(tuple(parts), priority)


def _field(table: Table, field: MatchField, match: p4r.FieldMatch | None) -> _Part:
    """Returns one field with the integers of its match."""
    what = f"table '{table.name}' field '{field.name}'"
    if match is None:
        if field.kind == "exact":
            raise invalid(f"{what} is exact and must be given")
        return field, wildcard(field)
    kind = match.WhichOneof("field_match_type")
    if kind is None:
        raise invalid(f'{what}: no value is given; leave the field out for "don\'t care"')
    if kind != field.kind:
        raise invalid(f"{what} is {field.kind}, the request has {kind}")
    given = numbers_of(field, what, match)
    match kind:
        case "lpm":
            value, length = given
            if not 0 < length <= field.width:
                raise invalid(
                    f"{what}: prefix length {length} is not within 1 to {field.width}; "
                    "leave the field out to match everything"
                )
            if value & ((1 << (field.width - length)) - 1):
                raise invalid(f"{what}: 0x{value:x} has bits set beyond its prefix of {length}")
        case "ternary":
            value, mask = given
            if mask == 0:
                raise invalid(f'{what}: the mask is 0; leave the field out for "don\'t care"')
            if value & ~mask:
                raise invalid(f"{what}: 0x{value:x} has bits set outside its mask 0x{mask:x}")
        case "range":
            low, high = given
            if low > high:
                raise invalid(f"{what}: the range 0x{low:x}..0x{high:x} is empty")
            if given == wildcard(field):
                raise invalid(f'{what}: the range covers every value; leave the field out for "don\'t care"')
        case "optional":
            return field, (*given, (1 << field.width) - 1)
    return field, given


def _engine_field(field: MatchField, param: MatchParam) -> _Part:
    match param:
        case ("lpm", value, length):
            # The compiler may declare a prefix field in a ternary table as lpm or mask it; the P4Info
            # decides.
            if field.kind == "ternary":
                mask = ((1 << length) - 1) << (field.width - length)
                return field, (int.from_bytes(value, "big"), mask)
            return field, (int.from_bytes(value, "big"), length)
        case (("exact" | "valid"), value):
            return field, (int.from_bytes(value, "big") if isinstance(value, bytes) else int(value),)
        case (_, first, second):
            return field, (int.from_bytes(first, "big"), int.from_bytes(second, "big"))
    raise AssertionError(f"the engine answered a match parameter of no known kind: {param!r}")


def wildcard(field: MatchField) -> tuple[int, int]:
    """Returns the integers that stand for "don't care"."""
    return (0, (1 << field.width) - 1) if field.kind == "range" else (0, 0)


def _param_of(field: MatchField, numbers: tuple[int, ...]) -> MatchParam:
    values = [bytestrings.encode(number) for number in numbers]
    match field.kind:
        case "exact":
            return ("exact", values[0])
        case "lpm":
            return ("lpm", values[0], numbers[1])
        case "range":
            return ("range", values[0], values[1])
    return ("ternary", values[0], values[1])


def message_of(field: MatchField, numbers: tuple[int, ...]) -> p4r.FieldMatch:
    """Returns the canonical match of a field with these integers."""
    message = p4r.FieldMatch(field_id=field.id)
    part = getattr(message, field.kind)
    for name, number in zip(_SHAPES[field.kind][0], numbers, strict=False):
        setattr(part, name, number if name == "prefix_len" else bytestrings.encode(number))
    return message


ActionCall = tuple[str, tuple[bytes, ...]]
"""An action with its parameters in the engine's form."""


def action_from_message(table: Table, message: p4r.Action, *, default: bool = False) -> ActionCall:
    """Returns the action in a request, after a check that `table` may call it."""
    choice = table.actions.get(message.action_id)
    if choice is None:
        names = ", ".join(f"{i} {c.action.name}" for i, c in table.actions.items())
        raise invalid(f"table '{table.name}' has no action with id {message.action_id}; it has {names}")
    action = choice.action
    if not (choice.as_default if default else choice.in_entries):
        place = "as the default action" if default else "in entries"
        raise denied(f"table '{table.name}': action '{action.name}' may not be used {place}")
    given: dict[int, bytes] = {}
    for argument in message.params:
        if argument.param_id in given:
            raise invalid(f"action '{action.name}': parameter {argument.param_id} is given twice")
        given[argument.param_id] = argument.value
    data = []
    for param in action.params:
        if param.id not in given:
            raise invalid(f"action '{action.name}': parameter '{param.name}' (id {param.id}) is missing")
        what = f"action '{action.name}' parameter '{param.name}'"
        data.append(bytestrings.encode(bytestrings.decode(given.pop(param.id), param.width, what, invalid)))
    if given:
        raise invalid(f"action '{action.name}' has no parameter with id {next(iter(given))}")
    return action.name, tuple(data)


def fill_action(table: Table, name: str, data: Sequence[bytes], message: p4r.Action) -> None:
    """Fills in an action that was read from the engine; leaves out one that is not in the P4Info."""
    action = table.actions_by_name.get(name)
    if action is None:
        return
    message.action_id = action.id
    for param, value in zip(action.params, data, strict=True):
        message.params.add(param_id=param.id, value=value.lstrip(b"\0") or b"\0")
