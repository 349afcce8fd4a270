"""Table keys and actions, from P4Runtime messages to what the engine takes, and back.

Both directions are pure. A key becomes three things at once: what the engine takes, a tuple of integers that
identifies the entry within its table, and the canonical message that a read answers.

P4Runtime's higher priority wins, BMv2's lower number wins; P4's `optional` is a ternary field in the BMv2
program.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from finsy.proto import p4r

from ..control import EntryAction, MatchParam
from . import bytestrings
from .errors import denied, invalid
from .schema import Action, MatchField, Table

_MAX_PRIORITY = 2**31 - 1


@dataclass(frozen=True)
class Key:
    """One entry's key: identity, what the engine takes, and the canonical fields of the message."""

    identity: tuple[Any, ...]
    params: tuple[MatchParam, ...]
    fields: tuple[Any, ...]
    priority: int

    @property
    def engine_priority(self) -> int:
        """BMv2's priority, 0 for tables without."""
        return to_engine_priority(self.priority)


def to_engine_priority(priority: int) -> int:
    """BMv2's priority of a P4Runtime priority; 0 stays 0."""
    return _MAX_PRIORITY - priority if priority else 0


def key_from_message(table: Table, entry: Any) -> Key:
    """The key in a `TableEntry` (P4Runtime 1.5 §9.1.1)."""
    given: dict[int, Any] = {}
    known = {field.id for field in table.fields}
    for match in entry.match:
        if match.field_id not in known:
            raise invalid(f"table '{table.name}' has no match field of id {match.field_id}")
        if match.field_id in given:
            raise invalid(f"table '{table.name}': match field {match.field_id} is given twice")
        given[match.field_id] = match
    if table.by_priority and entry.priority <= 0:
        raise invalid(
            f"table '{table.name}': priority {entry.priority}, but its key is matched by priority; "
            "P4Runtime requires priority > 0"
        )
    if not table.by_priority and entry.priority != 0:
        raise invalid(
            f"table '{table.name}': priority {entry.priority}, but its key is exact or lpm; set it to 0"
        )
    parts = [_field(table, field, given.get(field.id)) for field in table.fields]
    return _key(parts, entry.priority)


def key_from_engine(table: Table, params: Sequence[MatchParam], priority: int) -> Key:
    """The key of an entry that the engine has read back; `priority` is P4Runtime's."""
    parts = [_engine_field(field, param) for field, param in zip(table.fields, params, strict=True)]
    return _key(parts, priority)


_Part = tuple[tuple[int, ...], MatchParam, Any]


def _key(parts: Iterable[_Part], priority: int) -> Key:
    parts = list(parts)
    return Key(
        identity=(priority, *(part[0] for part in parts)),
        params=tuple(part[1] for part in parts),
        fields=tuple(part[2] for part in parts if part[2] is not None),
        priority=priority,
    )


def _field(table: Table, field: MatchField, match: Any) -> _Part:
    """One field: its integers, what the engine takes, and its canonical message (None: "don't care")."""
    what = f"table '{table.name}' field '{field.name}'"
    if match is None:
        if field.kind == "exact":
            raise invalid(f"{what} is exact and must be given")
        return _part(field, _wildcard(field))
    kind = match.WhichOneof("field_match_type")
    if kind is None:
        raise invalid(f'{what}: no value is given; leave the field out for "don\'t care"')
    if kind != field.kind:
        raise invalid(f"{what} is {field.kind}, the request has {kind}")

    def number(value: bytes) -> int:
        return bytestrings.decode(value, field.width, what, invalid)

    match kind:
        case "exact":
            return _part(field, (number(match.exact.value),))
        case "lpm":
            value, length = number(match.lpm.value), match.lpm.prefix_len
            if not 0 < length <= field.width:
                raise invalid(
                    f"{what}: prefix length {length} is not within 1 and {field.width}; "
                    "leave the field out to match everything"
                )
            if value & ((1 << (field.width - length)) - 1):
                raise invalid(f"{what}: 0x{value:x} has bits set beyond its prefix of {length}")
            return _part(field, (value, length))
        case "ternary":
            value, mask = number(match.ternary.value), number(match.ternary.mask)
            if mask == 0:
                raise invalid(f'{what}: the mask is 0; leave the field out for "don\'t care"')
            if value & ~mask:
                raise invalid(f"{what}: 0x{value:x} has bits set outside its mask 0x{mask:x}")
            return _part(field, (value, mask))
        case "range":
            low, high = number(match.range.low), number(match.range.high)
            if low > high:
                raise invalid(f"{what}: the range 0x{low:x}..0x{high:x} is empty")
            if (low, high) == _wildcard(field):
                raise invalid(f'{what}: the range holds every value; leave the field out for "don\'t care"')
            return _part(field, (low, high))
        case _:
            return _part(field, (number(match.optional.value), (1 << field.width) - 1))


def _engine_field(field: MatchField, param: MatchParam) -> _Part:
    match param:
        case ("lpm", value, length):
            # A prefix inside a ternary table may be declared lpm or be masked by the compiler: the P4Info
            # decides.
            if field.kind == "ternary":
                mask = ((1 << length) - 1) << (field.width - length)
                return _part(field, (int.from_bytes(value, "big"), mask))
            return _part(field, (int.from_bytes(value, "big"), length))
        case (("exact" | "valid"), value):
            return _part(field, (int.from_bytes(value, "big") if isinstance(value, bytes) else int(value),))
        case (_, first, second):
            return _part(field, (int.from_bytes(first, "big"), int.from_bytes(second, "big")))
    raise AssertionError(f"the engine answered a match parameter of no known kind: {param!r}")


def _wildcard(field: MatchField) -> tuple[int, int]:
    """The integers of "don't care"."""
    return (0, (1 << field.width) - 1) if field.kind == "range" else (0, 0)


def _part(field: MatchField, numbers: tuple[int, ...]) -> _Part:
    values = [bytestrings.encode(number) for number in numbers]
    wildcard = field.kind != "exact" and numbers == _wildcard(field)
    message: Any = None if wildcard else p4r.FieldMatch(field_id=field.id)
    param: MatchParam
    match field.kind:
        case "exact":
            param = ("exact", values[0])
            message.exact.value = values[0]
        case "lpm":
            param = ("lpm", values[0], numbers[1])
            if message:
                message.lpm.value, message.lpm.prefix_len = values[0], numbers[1]
        case "ternary":
            param = ("ternary", values[0], values[1])
            if message:
                message.ternary.value, message.ternary.mask = values[0], values[1]
        case "range":
            param = ("range", values[0], values[1])
            if message:
                message.range.low, message.range.high = values[0], values[1]
        case _:
            param = ("ternary", values[0], values[1])
            if message:
                message.optional.value = values[0]
    return numbers, param, message


@dataclass(frozen=True)
class ActionCall:
    """An action with its parameters: what the engine takes, and the canonical message."""

    action: Action
    data: tuple[bytes, ...]

    def message(self) -> Any:
        """The `p4.v1.Action`."""
        message = p4r.Action(action_id=self.action.id)
        for param, value in zip(self.action.params, self.data, strict=True):
            message.params.add(param_id=param.id, value=value)
        return message


def action_from_message(table: Table, message: Any, *, default: bool = False) -> ActionCall:
    """The action in a request, checked against what `table` may call."""
    choice = table.actions.get(message.action_id)
    if choice is None:
        names = ", ".join(f"{i} {c.action.name}" for i, c in table.actions.items())
        raise invalid(f"table '{table.name}' has no action of id {message.action_id}; it has {names}")
    action = choice.action
    if not (choice.as_default if default else choice.in_entries):
        place = "as the default action" if default else "in entries"
        raise denied(f"table '{table.name}': action '{action.name}' may not be used {place}")
    given: dict[int, bytes] = {}
    for param in message.params:
        if param.param_id in given:
            raise invalid(f"action '{action.name}': parameter {param.param_id} is given twice")
        given[param.param_id] = param.value
    data = []
    for param in action.params:
        if param.id not in given:
            raise invalid(f"action '{action.name}': parameter '{param.name}' (id {param.id}) is missing")
        data.append(_param(action, param.name, param.width, given.pop(param.id)))
    if given:
        raise invalid(f"action '{action.name}' has no parameter of id {next(iter(given))}")
    return ActionCall(action, tuple(data))


def _param(action: Action, name: str, width: int, value: bytes) -> bytes:
    what = f"action '{action.name}' parameter '{name}'"
    return bytestrings.encode(bytestrings.decode(value, width, what, invalid))


def action_from_engine(table: Table, action: EntryAction | None) -> ActionCall | None:
    """The action of an entry read back from a direct table; None for members, groups and "nothing set"."""
    if action is None or action[0] != "action":
        return None
    for choice in table.actions.values():
        if choice.action.name == action[1]:
            data = tuple(bytestrings.encode(int.from_bytes(value, "big")) for value in action[2])
            return ActionCall(choice.action, data)
    return None
