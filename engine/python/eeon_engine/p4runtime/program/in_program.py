"""A P4Info in the terms of its program: the order of fields, and the names of digests.

p4c writes key fields, parameters and packet metadata in the order of the P4 source. A P4Info that was sorted
or written by hand has the same in another order, but the engine identifies values by their position.

A digest has the name of the struct that it sends. A value or a tuple has none: p4c warns, and invents one
name for the P4Info (`digest_0`) and another for the program (`digest`, `tuple_0`). Both list such digests in
the order of the source.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from ... import program_json
from ...program_json import Json
from ..errors import invalid
from .data_types import Composite
from .schema import Action, Digest, HeaderField, MatchField, Named, Schema, Table

_T = TypeVar("_T", bound=Named)


def of(schema: Schema, parsed: Json, objects: program_json.Named) -> Schema:
    """Returns a P4Info in the order of its program, as far as their names are equal, whose digests know the
    names of their messages there.

    Raises INVALID_ARGUMENT if a key's names differ from the program's and show that positions differ."""
    headers = [[str(field[0]) for field in kind["fields"]] for kind in objects["header_types"].values()]

    def action_in_order(action: Action) -> Action:
        params = _names(objects["actions"], action.name, "runtime_data")
        return replace(action, params=_ordered(action.params, params))

    tables = {
        number: replace(
            table,
            fields=_fields(table, _names(objects["tables"], table.name, "key")),
            actions={
                one: replace(choice, action=action_in_order(choice.action))
                for one, choice in table.actions.items()
            },
        )
        for number, table in schema.tables.items()
    }
    return replace(
        _with_digest_names(schema, parsed),
        tables=tables,
        packet_in=_metadata(schema.packet_in, headers),
        packet_out=_metadata(schema.packet_out, headers),
    )


def _names(objects: Mapping[str, Json], name: str, part: str) -> list[str]:
    """Returns the names in a part of an object; none if the program has no such object."""
    return [str(one.get("name")) for one in objects[name][part]] if name in objects else []


def _ordered(items: tuple[_T, ...], names: Sequence[str]) -> tuple[_T, ...]:
    """Returns items in the order of `names` if they have these names, otherwise unchanged."""
    by_name = {item.name: item for item in items}
    if len(items) != len(names) or by_name.keys() != set(names):
        return items
    return tuple(by_name[name] for name in names)


def _fields(table: Table, names: Sequence[str]) -> tuple[MatchField, ...]:
    fields = _ordered(table.fields, names)
    for place, field in enumerate(fields):
        if field.name in names and names.index(field.name) != place and len(fields) == len(names):
            raise invalid(
                f"table '{table.name}' has field '{field.name}' at place {place + 1} in the P4Info and "
                f"{names.index(field.name) + 1} in the program, whose fields are {', '.join(names)}; "
                "they are from different compilations"
            )
    return fields


def _metadata(fields: tuple[HeaderField, ...], headers: Sequence[Sequence[str]]) -> tuple[HeaderField, ...]:
    """Returns the fields in the order of the header with these names, its only identification."""
    own = [field.name for field in fields]
    same = [header for header in headers if sorted(header) == sorted(own)]
    return fields if own in same or not same else _ordered(fields, same[0])


def _with_digest_names(schema: Schema, parsed: Json) -> Schema:
    found = digest_lists(schema, parsed)
    own = {digest.name for digest in schema.digests.values()}
    uses = Counter(item["name"] for item in parsed.get("learn_lists", []) if item["name"] not in own)

    def named(digest: Digest) -> Digest:
        name = found[digest.name]["name"] if digest.name in found else digest.name
        return replace(digest, in_program=name if uses[name] <= 1 else None)

    return replace(schema, digests={number: named(digest) for number, digest in schema.digests.items()})


def digest_lists(schema: Schema, parsed: Json) -> Mapping[str, Json]:
    """Returns the program's messages by the names that digests have in the P4Info, as far as it has them."""
    listed = parsed.get("learn_lists", [])
    by_name = {item["name"]: item for item in listed}
    own = {digest.name for digest in schema.digests.values()}
    unnamed = [
        digest.name
        for digest in schema.digests.values()
        if digest.name not in by_name and not _has_name(digest)
    ]
    invented = [item for item in listed if item["name"] not in own]
    # If the numbers differ, the P4Info was edited, and the order does not say which is which.
    return by_name | (dict(zip(unnamed, invented, strict=True)) if len(unnamed) == len(invented) else {})


def _has_name(digest: Digest) -> bool:
    return isinstance(digest.type, Composite) and digest.type.kind != "tuple"
