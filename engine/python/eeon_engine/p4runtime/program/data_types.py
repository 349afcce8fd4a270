"""P4 data types in a P4Info, and their values as P4Data (P4Runtime 1.5 §8.5).

The engine knows only integers: a value is a list of integers, one for each bit, int or bool in its type, in
the order of the declaration. Both conversions are pure functions.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from .. import bytestrings
from ..errors import StatusError, invalid, unimplemented
from ..messages import p4d, p4t

_T = TypeVar("_T")

# A P4Info may nest types; a malicious message may nest a type in itself.
_MAX_DEPTH = 16


@dataclass(frozen=True)
class Scalar:
    """A scalar type. `kind` is bit, int, bool or enum (a serializable enum, by its value)."""

    kind: str
    width: int


@dataclass(frozen=True)
class Composite:
    """A composite type. `kind` is struct, header or tuple."""

    kind: str
    members: tuple["DataType", ...]


DataType = Scalar | Composite


def resolve(info: p4t.P4TypeInfo, spec: p4t.P4DataTypeSpec, what: str, depth: int = 0) -> DataType:
    """Returns the type of a `P4DataTypeSpec`; raises UNIMPLEMENTED for a type that BMv2 lacks."""
    if depth > _MAX_DEPTH:
        raise invalid(f"P4Info: the type of {what} is nested more than {_MAX_DEPTH} deep")

    def composite(kind: str, specs: Iterable[p4t.P4DataTypeSpec]) -> Composite:
        return Composite(kind, tuple(resolve(info, member, what, depth + 1) for member in specs))

    kind = spec.WhichOneof("type_spec")
    match kind:
        case "bitstring":
            return _bitstring(spec.bitstring, what)
        case "bool":
            return Scalar("bool", 1)
        case "tuple":
            return composite("tuple", spec.tuple.members)
        case "struct":
            struct = _named(info.structs, spec.struct.name, what)
            return composite("struct", [member.type_spec for member in struct.members])
        case "header":
            header = _named(info.headers, spec.header.name, what)
            members = (_bitstring(member.type_spec, what) for member in header.members)
            return Composite("header", tuple(members))
        case "serializable_enum":
            enum = _named(info.serializable_enums, spec.serializable_enum.name, what)
            return Scalar("enum", enum.underlying_type.bitwidth)
        case "new_type":
            named = _named(info.new_types, spec.new_type.name, what)
            match named.WhichOneof("representation"):
                case "original_type":
                    return resolve(info, named.original_type, what, depth + 1)
                case "translated_type" if named.translated_type.sdn_bitwidth:
                    return Scalar("bit", named.translated_type.sdn_bitwidth)
            raise unimplemented(f"P4Info: {what} is translated to strings, which is not supported")
    raise unimplemented(f"P4Info: {what} is of type {kind or 'unknown'}, which is not supported")


def _bitstring(spec: p4t.P4BitstringLikeTypeSpec, what: str) -> Scalar:
    kind = spec.WhichOneof("type_spec")
    width = {"bit": spec.bit.bitwidth, "int": spec.int.bitwidth}.get(kind or "", 0)
    if kind is None or width <= 0:
        raise unimplemented(f"P4Info: {what} is of type {kind or 'unknown'}, which is not supported")
    return Scalar(kind, width)


def _named(types: Mapping[str, _T], name: str, what: str) -> _T:
    if name not in types:
        raise invalid(f"P4Info: {what} is of type '{name}', which type_info does not define")
    return types[name]


def scalars(kind: DataType) -> Iterator[Scalar]:
    """Yields the scalars in a value of this type."""
    if isinstance(kind, Scalar):
        yield kind
    else:
        for member in kind.members:
            yield from scalars(member)


def from_data(kind: DataType, data: p4d.P4Data, what: str) -> list[int]:
    """Returns the unsigned integers of a `P4Data`; raises INVALID_ARGUMENT if it has another type."""
    given = data.WhichOneof("data")
    if isinstance(kind, Scalar):
        wanted = {"bool": "bool", "enum": "enum_value"}.get(kind.kind, "bitstring")
        if given != wanted:
            raise _mismatch(what, given, f"{kind.kind}<{kind.width}>")
        return [_number(kind, data, what)]
    if given != kind.kind:
        raise _mismatch(what, given, kind.kind)
    members = list(data.header.bitstrings if given == "header" else getattr(data, given).members)
    if given == "header" and not data.header.is_valid:
        raise invalid(f"{what}: the header is invalid; only valid ones can be written")
    if len(members) != len(kind.members):
        raise invalid(f"{what}: the data has {len(members)} members, its {kind.kind} has {len(kind.members)}")
    if given == "header":
        members = [p4d.P4Data(bitstring=value) for value in members]
    pairs = zip(kind.members, members, strict=True)
    return [number for member, value in pairs for number in from_data(member, value, what)]


def _mismatch(what: str, given: str | None, wanted: str) -> StatusError:
    return invalid(f"{what}: the data is {given or 'missing'}, its type is {wanted}")


def _number(kind: Scalar, data: p4d.P4Data, what: str) -> int:
    match kind.kind:
        case "bool":
            return int(data.bool)
        case "int":
            return bytestrings.decode_signed(data.bitstring, kind.width, what) % (1 << kind.width)
        case "enum":
            return bytestrings.decode(data.enum_value, kind.width, what)
    return bytestrings.decode(data.bitstring, kind.width, what)


def to_data(kind: DataType, numbers: Iterator[int]) -> p4d.P4Data:
    """Returns the `P4Data` of the next integers, which are unsigned."""
    data = p4d.P4Data()
    if isinstance(kind, Scalar):
        number = next(numbers)
        match kind.kind:
            case "bool":
                data.bool = bool(number)
            case "int":
                data.bitstring = bytestrings.encode_signed(number, kind.width)
            case "enum":
                data.enum_value = bytestrings.encode(number)
            case _:
                data.bitstring = bytestrings.encode(number)
        return data
    if kind.kind == "header":
        data.header.is_valid = True
        data.header.bitstrings.extend(to_data(member, numbers).bitstring for member in kind.members)
    else:
        members = getattr(data, kind.kind).members
        members.extend(to_data(member, numbers) for member in kind.members)
    return data
