"""Checks whether a P4Info and a BMv2 program may come from one compilation (P4Runtime 1.5 §7).

Every object of the P4Info must be in the program, with the same shape: number, kind and width of key fields,
parameters and cells. The program may have more: p4c hides its internal tables, and a P4Info may be reduced
for a role (§3.4.4). A P4Info that names none of the program's objects, if it has any, belongs to another
program.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from ... import program_json
from ...program_json import Json
from ..errors import StatusError, invalid
from ..messages import p4i
from . import data_types, in_program, p4info
from .schema import Array, Schema, Table

_T = TypeVar("_T")

# p4c's forms of P4Info's match kinds: `optional` becomes a mask, and so do the other fields of its key.
_KINDS = {
    "exact": {"exact", "valid"},
    "lpm": {"lpm"},
    "ternary": {"ternary", "lpm"},
    "range": {"range"},
    "optional": {"ternary", "optional"},
}
_NAMED_KINDS = ("counter_arrays", "meter_arrays", "register_arrays", "parse_vsets", "learn_lists")


def matched(info: p4i.P4Info, program: bytes) -> Schema:
    """Returns the P4Info in the order of its program.

    Raises INVALID_ARGUMENT with the first object of the P4Info that is missing in the program, or differs
    there, or if the P4Info contradicts itself."""
    with _comparison():
        parsed = program_json.objects(program)
        objects = program_json.by_name(parsed)
        info = in_program.ordered(info, objects)
    schema = p4info.read(info)
    with _comparison():
        schema = in_program.with_digest_names(schema, parsed)
        _check(schema, parsed, objects)
    return schema


@contextmanager
def _comparison() -> Iterator[None]:
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        # The engine has loaded it, but parts that it does not need and that p4c always writes may be missing.
        reason = f"{type(error).__name__}: {error}"
        raise invalid(
            f"the program cannot be compared with the P4Info; p4c did not write it ({reason})"
        ) from error


def _check(schema: Schema, parsed: Json, objects: program_json.Named) -> None:
    shapes = _Shapes(parsed)
    for table in schema.tables.values():
        _check_table(table, _found("table", table.name, objects["tables"]), shapes)
    for profile in schema.profiles.values():
        item = _found("action profile", profile.name, objects["action_profiles"])
        if profile.with_selector != ("selector" in item):
            raise _differs("action profile", profile.name, "has a selector in only one of them")
    _check_cells("counter", schema.counters, objects["counter_arrays"], is_direct=False)
    _check_cells("counter", schema.direct_counters, objects["counter_arrays"], is_direct=True)
    _check_cells("meter", schema.meters, objects["meter_arrays"], is_direct=False)
    _check_cells("meter", schema.direct_meters, objects["meter_arrays"], is_direct=True)
    for register in schema.registers.values():
        array = _found("register", register.name, objects["register_arrays"])
        _same("register", register.name, "cells", register.size, array["size"])
        if isinstance(register.type, data_types.Scalar):
            _same("register", register.name, "bits a cell", register.type.width, array["bitwidth"])
    for value_set in schema.value_sets.values():
        bits = sum(field.width for field in value_set.fields)
        found = _found("value set", value_set.name, objects["parse_vsets"])
        _same("value set", value_set.name, "bits", bits, found["compressed_bitwidth"])
    learn_lists = in_program.digest_lists(schema, parsed)
    for digest in schema.digests.values():
        elements = _found("digest", digest.name, learn_lists)["elements"]
        _same("digest", digest.name, "fields", len(list(data_types.scalars(digest.type))), len(elements))
    _check_something_is_named(schema, objects)


def _check_table(table: Table, found: Json, shapes: "_Shapes") -> None:
    key = found["key"]
    _same("table", table.name, "match fields", len(table.fields), len(key))
    names = [str(part.get("name")) for part in key]
    places = {name: place for place, name in reversed([*enumerate(names)])}
    for place, field in enumerate(table.fields):
        if (other := places.get(field.name, place)) != place:
            raise _differs(
                "table",
                table.name,
                f"has field '{field.name}' at place {place + 1} in the P4Info and "
                f"{other + 1} in the program, whose fields are {', '.join(names)}",
            )
    for field, part in zip(table.fields, key, strict=True):
        if part["match_type"] not in _KINDS[field.kind]:
            raise _differs(
                "table",
                table.name,
                f"field '{field.name}' is {field.kind} in the P4Info and {part['match_type']} in the program",
            )
        width = shapes.width(part["target"], part["match_type"])
        if width is not None:
            _same("table", table.name, f"bits in field '{field.name}'", field.width, width)
    ids = found.get("action_ids")
    # p4c-bm wrote only the names of a table's actions.
    of_names = zip(found["actions"], ids, strict=True) if ids is not None else shapes.named(found["actions"])
    actions = dict(of_names)
    for choice in table.actions.values():
        action = choice.action
        if action.name not in actions:
            raise _missing(f"action '{action.name}' in table", table.name)
        params = shapes.params(actions[action.name])
        _same("action", action.name, "parameters", len(action.params), len(params))
        for param, width in zip(action.params, params, strict=True):
            _same("action", action.name, f"bits in parameter '{param.name}'", param.width, width)
    if table.direct_counter is not None and not found["with_counters"]:
        raise _differs("table", table.name, "has a direct counter in the P4Info only")
    if table.direct_meter is not None and not found.get("direct_meters"):
        raise _differs("table", table.name, "has a direct meter in the P4Info only")
    if table.idle_timeout and not found.get("support_timeout"):
        raise _differs("table", table.name, "has idle time-outs in the P4Info only")
    if (table.profile is not None) != (found["type"] != "simple"):
        raise _differs("table", table.name, "has an action profile in only one of them")
    if table.profile is not None and (other := found["action_profile"]) != table.profile.name:
        how = f"has profile '{table.profile.name}' in the P4Info, '{other}' in the program"
        raise _differs("table", table.name, how)


def _check_cells(
    kind: str, named: Mapping[int, Array], arrays: Mapping[str, Json], *, is_direct: bool
) -> None:
    for item in named.values():
        array = _found(kind, item.name, arrays)
        if bool(array.get("is_direct")) != is_direct:
            raise _differs(kind, item.name, "is direct in only one of them")
        if not is_direct:
            _same(kind, item.name, "cells", item.size, array["size"])


def _check_something_is_named(schema: Schema, objects: program_json.Named) -> None:
    arrays = (schema.counters, schema.meters, schema.registers)
    if any((schema.tables, schema.profiles, *arrays, schema.value_sets, schema.digests)):
        return
    # Tables without a key are mostly p4c's own; the others are the programmer's.
    keyed = [name for name, table in objects["tables"].items() if table["key"]]
    found = keyed or [name for kind in _NAMED_KINDS for name in objects[kind]]
    if found:
        raise invalid(
            f"the P4Info names no object of the program, which has '{found[0]}' and {len(found) - 1} "
            "more of its kind; use the P4Info that p4c-bm2-ss wrote beside the program"
        )


class _Shapes:
    """Lookups of widths in the program."""

    def __init__(self, parsed: Json) -> None:
        types = {kind["name"]: dict(field[:2] for field in kind["fields"]) for kind in parsed["header_types"]}
        self._headers = {header["name"]: types[header["header_type"]] for header in parsed["headers"]}
        self._actions = {action["id"]: action for action in parsed["actions"]}

    def width(self, target: object, match_type: str) -> int | None:
        """Returns the width of a key field in bits; None unless it is a plain field of a header."""
        if match_type == "valid" or not isinstance(target, list) or len(target) != 2:
            return 1 if match_type == "valid" else None
        if target[1] == "$valid$":
            return 1
        width = self._headers.get(target[0], {}).get(target[1])
        return width if isinstance(width, int) else None

    def named(self, names: Iterable[str]) -> Iterator[tuple[str, int]]:
        """Yields the names and ids of actions that are identified only by their names."""
        ids = {action["name"]: number for number, action in self._actions.items()}
        return ((name, ids[name]) for name in names)

    def params(self, action: int) -> list[int]:
        """Returns the width of each parameter of an action in bits."""
        return [param["bitwidth"] for param in self._actions[action]["runtime_data"]]


def _found(kind: str, name: str, objects: Mapping[str, _T]) -> _T:
    if name not in objects:
        raise _missing(kind, name)
    return objects[name]


def _same(kind: str, name: str, what: str, in_p4info: int, in_program: int) -> None:
    if in_p4info != in_program:
        raise invalid(
            f"{kind} '{name}' has {in_p4info} {what} in the P4Info and {in_program} in the program; "
            "they are from different compilations"
        )


def _differs(kind: str, name: str, how: str) -> StatusError:
    return invalid(f"{kind} '{name}' {how}; P4Info and program are from different compilations")


def _missing(kind: str, name: str) -> StatusError:
    return invalid(f"the program has no {kind} '{name}' of the P4Info; they are from different compilations")
