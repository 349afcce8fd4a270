"""Random protobuf messages of any type, and mutations: numbers, bytes, names, repetition, absence."""

from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from .draws import Draws

_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (32, True),
    FieldDescriptor.CPPTYPE_UINT32: (32, False),
    FieldDescriptor.CPPTYPE_INT64: (64, True),
    FieldDescriptor.CPPTYPE_UINT64: (64, False),
    FieldDescriptor.CPPTYPE_ENUM: (32, True),
}
_LONGEST = 64


def fill(message: Any, draws: Draws, values: Mapping[str, Sequence[Any]]) -> None:
    """Sets most fields, at any depth; `values` are those of fields by name."""
    chosen = [draws.choice((one.fields[0], draws.choice(one.fields))) for one in message.DESCRIPTOR.oneofs]
    for field in message.DESCRIPTOR.fields:
        is_message = field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE
        if field.containing_oneof is None and draws.one_in(3 if is_message else 8):
            continue
        if field.containing_oneof is None or field in chosen:
            _set(message, field, draws, values)


def add(message: Any, draws: Draws, values: Mapping[str, Sequence[Any]]) -> None:
    """Fills one field that is not set."""
    absent = set(message.DESCRIPTOR.fields) - {field for field, _ in message.ListFields()}
    if absent:
        _set(message, draws.choice(sorted(absent, key=lambda field: field.number)), draws, values)


def _set(message: Any, field: Any, draws: Draws, values: Mapping[str, Sequence[Any]]) -> None:
    inside = getattr(message, field.name)
    if field.cpp_type != FieldDescriptor.CPPTYPE_MESSAGE:
        if not field.is_repeated:
            known = values.get(field.name)
            setattr(message, field.name, draws.choice(known) if known else _value(inside, field, draws))
    elif field.is_repeated:
        for _ in range(draws.randrange(3)):
            fill(inside.add(), draws, values)
    else:
        inside.SetInParent()
        fill(inside, draws, values)


def change(message: Any, draws: Draws) -> None:
    """Mutates one field, at any depth."""
    while True:
        present = [field for field, _ in message.ListFields()]
        known = message.DESCRIPTOR.fields
        if not known:
            return
        field = draws.choice(present) if present and not draws.one_in(6) else draws.choice(known)
        inside = _descend(message, field, draws)
        if inside is None:
            return
        message = inside


def _descend(message: Any, field: Any, draws: Draws) -> Any:
    """Returns the message in which to continue, or None if the mutation is done."""
    is_message = field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE
    if field.is_repeated:
        return _change_list(message, field, draws, is_message)
    if not is_message:
        setattr(message, field.name, _value(getattr(message, field.name), field, draws))
        return None
    there = message.HasField(field.name)
    if there and draws.one_in(8):
        message.ClearField(field.name)
        return None
    inside = getattr(message, field.name)
    if not there:
        inside.SetInParent()
        return None
    return inside


def _change_list(message: Any, field: Any, draws: Draws, is_message: bool) -> Any:
    items = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return None
    if not items:
        items.add() if is_message else items.append(_value(field.default_value or _zero(field), field, draws))
        return None
    at = draws.randrange(len(items))
    match draws.randrange(8):
        case 0:
            del items[at]
        case 1 if len(items) < _LONGEST:
            items.extend([items[at]])
        case 2 if is_message and len(items) < _LONGEST:
            items.add()
        case 3:
            order = [items[at], *items[:at], *items[at + 1 :]]
            copies = [type(one).FromString(one.SerializeToString()) if is_message else one for one in order]
            del items[:]
            items.extend(copies)
        case _ if is_message:
            return items[at]
        case _:
            items[at] = _value(items[at], field, draws)
    return None


def _zero(field: Any) -> Any:
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return b"" if field.type == field.TYPE_BYTES else ""
    return 0


def _value(now: Any, field: Any, draws: Draws) -> Any:
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return not now
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return _bytes(now, draws) if field.type == field.TYPE_BYTES else _text(now, draws)
    if field.cpp_type not in _INTEGERS:
        return draws.choice((0.0, 1.5, -1.0, float("inf"), float("nan")))
    bits, is_signed = _INTEGERS[field.cpp_type]
    lowest, beyond = (-(1 << bits - 1), 1 << bits - 1) if is_signed else (0, 1 << bits)
    number = draws.choice((now + 1, now - 1, 0, 1, now ^ 1 << draws.randrange(bits - 1), beyond - 1, lowest))
    return min(max(number, lowest), beyond - 1)


def _bytes(now: bytes, draws: Draws) -> bytes:
    match draws.randrange(6):
        case 0:
            return b""
        case 1:
            return b"\0" + now
        case 2:
            return now + draws.bytes(1 + draws.randrange(4))
        case 3:
            return now[:-1]
        case 4:
            return b"\xff" * draws.choice((1, 2, 4, 16, 300))
        case _:
            return draws.bytes(1 + draws.randrange(8))


def _text(now: str, draws: Draws) -> str:
    return draws.choice(("", now + "x", now[:-1], "a b", "é\0", "x" * 300, now.upper(), "@" + now))
