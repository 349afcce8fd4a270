"""Values in gNMI's encodings (gNMI 0.8 §2.3; RFC 7951 for JSON_IETF)."""

import json
from collections.abc import Sequence
from itertools import groupby

from ..p4runtime.errors import unimplemented
from .messages import gnmi
from .model import Leaf, Value, modules_of
from .paths import Node

ENCODINGS = (gnmi.JSON, gnmi.JSON_IETF, gnmi.PROTO)

Found = tuple[Node, Leaf, Value]
Tree = dict[str, "Tree | list[Tree] | Value"]


def check(encoding: int) -> None:
    """Raises UNIMPLEMENTED for an unsupported encoding."""
    if encoding not in ENCODINGS:
        raise unimplemented(f"encoding {encoding} is not supported; use JSON (0), PROTO (2) or JSON_IETF (4)")


def scalar(leaf: Leaf, value: Value, encoding: int) -> gnmi.TypedValue:
    """Returns the value of one leaf."""
    if encoding == gnmi.PROTO:
        return (
            gnmi.TypedValue(uint_val=value) if isinstance(value, int) else gnmi.TypedValue(string_val=value)
        )
    return _json(_plain(leaf, value, encoding), encoding)


def subtree(found: Sequence[Found], depth: int, encoding: int) -> gnmi.TypedValue:
    """Returns the leaves below a node, which has `depth` elements, as a JSON object; of a leaf, its value."""
    path, leaf, value = found[0]
    if len(path) == depth:
        return scalar(leaf, value, encoding)
    tree = _tree([(path[depth:], leaf, value) for path, leaf, value in found], encoding, is_top=True)
    return _json(tree, encoding)


def _tree(found: Sequence[Found], encoding: int, *, is_top: bool) -> Tree:
    tree: Tree = {}
    for name, below in groupby(found, lambda one: one[0][0][0]):
        members = list(below)
        path, leaf, value = members[0]
        # A member has its module's name if its parent is of another module (RFC 7951 §4).
        module = modules_of(leaf) if is_top else None
        if len(path) == 1:
            module = leaf.module or module
        shown = f"{module}:{name}" if module and encoding == gnmi.JSON_IETF else name
        if len(path) == 1:
            tree[shown] = _plain(leaf, value, encoding)
        elif path[0][1] is None:
            tree[shown] = _tree([(one[1:], *rest) for one, *rest in members], encoding, is_top=False)  # type: ignore[misc] # leaf and value stay as they are
        else:
            tree[shown] = [
                _tree([(one[1:], *rest) for one, *rest in entry], encoding, is_top=False)  # type: ignore[misc] # as above
                for _, entry in groupby(members, lambda one: one[0][0])
            ]
    return tree


def _plain(leaf: Leaf, value: Value, encoding: int) -> Value:
    if encoding != gnmi.JSON_IETF:
        # Only JSON_IETF has modules' names.
        return value.partition(":")[2] if leaf.is_identity and isinstance(value, str) else value
    # In JSON_IETF, 64-bit numbers are strings (RFC 7951 §6.1).
    return str(value) if leaf.is_count else value


def _json(value: Tree | Value, encoding: int) -> gnmi.TypedValue:
    text = json.dumps(value, separators=(",", ":")).encode()
    return (
        gnmi.TypedValue(json_ietf_val=text) if encoding == gnmi.JSON_IETF else gnmi.TypedValue(json_val=text)
    )
