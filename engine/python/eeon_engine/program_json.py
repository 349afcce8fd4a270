"""A program's JSON as the servers need it: what a control plane names, without what packets do."""

import json
from typing import Any

# States, primitives, expressions and places in the source are most of a program and name nothing.
_LEFT_OUT = frozenset(
    {
        "checksums",
        "conditionals",
        "deparsers",
        "expression",
        "input",
        "parsers",
        "primitives",
        "source_info",
    }
)


def objects(program: bytes) -> Any:
    """The parsed JSON without the parts that no control plane names. `Any`: it is as the compiler wrote it,
    and who reads it must expect anything. Raises `ValueError` when it is no JSON.
    """
    return json.loads(program, object_pairs_hook=_without)


def _without(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in pairs if key not in _LEFT_OUT}
