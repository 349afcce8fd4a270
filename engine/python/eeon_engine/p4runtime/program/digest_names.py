"""The names of digests in the program, where they differ from those in the P4Info.

A digest has the name of the struct that it sends. A value or a tuple has none: p4c warns, and invents one
name for the P4Info (`digest_0`) and another for the program (`digest`, `tuple_0`). Both list such digests in
the order of the source.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from ...program_json import Json
from .data_types import Composite
from .schema import Digest, Schema


def as_in_program(schema: Schema, parsed: Json) -> Schema:
    """Returns a P4Info whose digests know the names of their messages in the program."""
    found = lists(schema, parsed)
    own = {digest.name for digest in schema.digests.values()}
    uses = Counter(item["name"] for item in parsed.get("learn_lists", []) if item["name"] not in own)

    def named(digest: Digest) -> Digest:
        name = found[digest.name]["name"] if digest.name in found else digest.name
        return replace(digest, in_program=name if uses[name] <= 1 else None)

    return replace(schema, digests={number: named(digest) for number, digest in schema.digests.items()})


def lists(schema: Schema, parsed: Json) -> Mapping[str, Json]:
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
