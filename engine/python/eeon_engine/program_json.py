"""A program's JSON for the servers: the objects that a control plane names, without the packet path."""

import json
from typing import Any

# States, primitives, expressions and source positions are most of a program, and name nothing.
_LEFT_OUT = frozenset(
    {"checksums", "conditionals", "deparsers", "expression", "input", "parsers", "primitives", "source_info"}
)

_OF_PIPELINES = ("tables", "action_profiles")
_OF_THE_PROGRAM = (
    "actions",
    "calculations",
    "counter_arrays",
    "header_types",
    "learn_lists",
    "meter_arrays",
    "parse_vsets",
    "register_arrays",
)

# Any: each part has its own members, and another form if p4c did not write the program.
Json = dict[str, Any]
"""A part of a program, as p4c-bm2-ss writes it. The engine has checked the parts that it needs."""
Named = dict[str, dict[str, Json]]
"""Objects by name, of each kind under its key in the JSON."""


def objects(program: bytes) -> Json:
    """Returns the parsed JSON without the parts that no control plane names. The content is not checked:
    callers must expect `LookupError`, `TypeError` and `AttributeError`. Raises `ValueError` if it is not
    JSON.
    """
    found: Json = json.loads(program, object_pairs_hook=_without, strict=False)
    return found


def by_name(document: Json) -> Named:
    """Returns what `objects` has found by kind and name."""
    pipelines = document.get("pipelines", [])
    found = {kind: [one for part in pipelines for one in part.get(kind, [])] for kind in _OF_PIPELINES}
    found |= {kind: document.get(kind, []) for kind in _OF_THE_PROGRAM}
    return {kind: {one["name"]: one for one in items} for kind, items in found.items()}


def _without(pairs: list[tuple[str, object]]) -> dict[str, object]:
    return {key: value for key, value in pairs if key not in _LEFT_OUT}
