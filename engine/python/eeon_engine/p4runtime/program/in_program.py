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
from typing import Any

from ... import program_json
from ...program_json import Json
from ..messages import p4i
from .data_types import Composite
from .schema import Digest, Schema


def ordered(info: p4i.P4Info, objects: program_json.Named) -> p4i.P4Info:
    """Returns a P4Info with its fields, parameters and metadata in the order of the program, as far as their
    names are equal."""
    made = p4i.P4Info()
    made.CopyFrom(info)
    for table in made.tables:
        _order(table.match_fields, _names(objects["tables"], table.preamble.name, "key"))
    for action in made.actions:
        _order(action.params, _names(objects["actions"], action.preamble.name, "runtime_data"))
    headers = [tuple(str(field[0]) for field in kind["fields"]) for kind in objects["header_types"].values()]
    # The first one wins.
    by_names = {tuple(sorted(names)): names for names in reversed(headers)}
    in_order = set(headers)
    for header in made.controller_packet_metadata:
        # The names of its fields are its only identification.
        own = tuple(field.name for field in header.metadata)
        if own not in in_order:
            _order(header.metadata, by_names.get(tuple(sorted(own)), ()))
    return made


def _names(objects: Mapping[str, Json], name: str, part: str) -> list[str]:
    """Returns the names in a part of an object; none if the program has no such object."""
    return [str(one.get("name")) for one in objects[name][part]] if name in objects else []


# Any: a list of one of three messages.
def _order(items: Any, names: Sequence[str]) -> None:  # noqa: ANN401
    places = {name: place for place, name in enumerate(names)}
    if len(items) == len(names) and {item.name for item in items} == places.keys():
        items.sort(key=lambda item: places[item.name])


def with_digest_names(schema: Schema, parsed: Json) -> Schema:
    """Returns the schema with digests that know the names of their messages in the program."""
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
    # A struct has a name, a value or a tuple none.
    unnamed = [
        digest.name
        for digest in schema.digests.values()
        if digest.name not in by_name
        and (not isinstance(digest.type, Composite) or digest.type.kind == "tuple")
    ]
    invented = [item for item in listed if item["name"] not in own]
    # If the numbers differ, the P4Info was edited, and the order does not say which is which.
    return by_name | (dict(zip(unnamed, invented, strict=True)) if len(unnamed) == len(invented) else {})
