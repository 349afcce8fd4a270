"""Resolution of requested paths in the model (gNMI 0.8 §2.2.2, openconfig/reference gnmi-path-strings)."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from ..p4runtime.errors import StatusError, exhausted, invalid, unimplemented
from .messages import gnmi
from .model import LEAVES, MODELS, QUEUE, TREES, Leaf, Port, Value

MAX_PATHS = 512
"""Maximum number of paths in a request."""
_MAX_ELEMENTS = 16
_MAX_WORD = 256
# pygnmi sends the module in front of a path as the origin, and other targets accept that.
_ORIGINS = ("", "openconfig", *(model.name for model in MODELS))

Element = tuple[str, str | None, str | None]
"""Name and, for a list, its key and the key's value."""
Node = tuple[Element, ...]
"""A path without wildcards."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The leaves below a path, at one interface or at all (None)."""

    text: str
    depth: int
    """Number of elements in the path."""
    leaves: tuple[Leaf, ...]
    interface: str | None
    is_of_one: bool
    """Whether the path names a list entry, which may be missing, and not all entries."""

    def only(self, keep: Callable[[Leaf], bool]) -> "Selection":
        """Returns a selection of the leaves that `keep` accepts; it may be empty."""
        return replace(self, leaves=tuple(filter(keep, self.leaves)))

    @property
    def has_counts(self) -> bool:
        """Whether the switch must be queried for counts."""
        return any(leaf.is_count for leaf in self.leaves)

    def values(self, ports: Iterable[Port]) -> list[tuple[Node, Leaf, Value]]:
        """Returns the values of the selection, tree by tree: those below one node are adjacent."""
        wanted = [port for port in ports if self.interface is None or port.name == self.interface]
        return [
            (node(leaf, port.name), leaf, value)
            for tree in TREES
            for port in wanted
            for leaf in self.leaves
            if leaf.steps[0].name == tree and (value := leaf.value(port)) is not None
        ]


def node(leaf: Leaf, interface: str) -> Node:
    """Returns a leaf's path at an interface: the first key is the interface's, the second the queue's."""
    keys = iter((interface, QUEUE))
    return tuple((step.name, step.key, next(keys) if step.key else None) for step in leaf.steps)


def message(elements: Sequence[Element]) -> gnmi.Path:
    path = gnmi.Path()
    for name, key, value in elements:
        added = path.elem.add(name=name)
        if key is not None and value is not None:
            added.key[key] = value
    return path


def selections(prefix: gnmi.Path, paths: Sequence[gnmi.Path]) -> list[Selection]:
    """Returns the selection of each path. INVALID_ARGUMENT names the first path that is not in the model."""
    if len(paths) > MAX_PATHS:
        raise exhausted(f"{len(paths)} paths in one request, the limit is {MAX_PATHS}; send several requests")
    return [_selection(prefix, path) for path in paths]


def _selection(prefix: gnmi.Path, path: gnmi.Path) -> Selection:
    for one in (prefix, path):
        # Clients that also support older targets, such as OpenConfig's own, send both fields.
        if one.element and not one.elem:
            raise invalid("the path is in `element`, which gNMI 0.4 deprecated; use `elem`")
        if one.element and [_unescaped(word) for word in one.element] != [_text(elem) for elem in one.elem]:
            raise invalid("the path in `element` differs from the one in `elem`; use `elem` alone")
        if one.origin not in _ORIGINS:
            raise invalid(f"origin '{_short(one.origin)}' is not supported; use openconfig")
    elements = [*prefix.elem, *path.elem]
    if len(elements) > _MAX_ELEMENTS:
        raise invalid(f"the path has {len(elements)} elements; all leaves have fewer than {_MAX_ELEMENTS}")
    for element in elements:
        words = [element.name, *element.key, *element.key.values()]
        if len(element.key) > 1 or any(len(word) > _MAX_WORD for word in words):
            raise invalid(
                f"path element '{_short(element.name)}': may have one key, and words up to {_MAX_WORD} long"
            )
        if element.name == "...":
            raise unimplemented("the wildcard '...' is not supported; '*' stands for one element or key")
    names = [_without_module(element.name) for element in elements]
    text = "/" + "/".join(_without_module(_text(element)) for element in elements)
    found = [leaf for leaf in LEAVES if _fits(leaf, names)]
    if not found:
        raise invalid(f"path {_short(text)}: {_unknown(names)}")
    interface: str | None = None
    leaves, errors = [], []
    for leaf in found:
        try:
            interface, queue = _keys(leaf, elements, text)
        except StatusError as error:
            # The wildcard also matches another list.
            errors.append(error)
            continue
        if queue in (None, QUEUE):
            leaves.append(leaf)
    if len(errors) == len(found):
        raise errors[0]
    is_of_one = any(value != "*" for element in elements for value in element.key.values())
    return Selection(text, len(elements), tuple(leaves), interface, is_of_one)


def _keys(leaf: Leaf, elements: Sequence[gnmi.PathElem], text: str) -> tuple[str | None, str | None]:
    """Returns the interface and the queue that a path names; None selects all."""
    asked: list[str | None] = []
    for element, step in zip(elements, leaf.steps, strict=False):
        wrong = [key for key in element.key if key != step.key]
        if wrong and step.key is None:
            raise invalid(f"path {_short(text)}: '{step.name}' is not a list and has no keys")
        if wrong:
            raise invalid(
                f"path {_short(text)}: the key of '{step.name}' is {step.key}, not {_short(wrong[0])}"
            )
        if step.key is not None:
            value = element.key.get(step.key, "*")
            asked.append(None if value == "*" else value)
    interface, queue, *_ = [*asked, None, None]
    return interface, queue


def _fits(leaf: Leaf, names: list[str]) -> bool:
    return len(names) <= len(leaf.steps) and all(
        name in ("*", step.name) for name, step in zip(names, leaf.steps, strict=False)
    )


def _unknown(names: list[str]) -> str:
    """Returns a message with the place where a path leaves the model, and the valid names there."""
    for end in range(1, len(names) + 1):
        if any(_fits(leaf, names[:end]) for leaf in LEAVES):
            continue
        here = dict.fromkeys(
            leaf.steps[end - 1].name
            for leaf in LEAVES
            if len(leaf.steps) >= end and _fits(leaf, names[: end - 1])
        )
        if not here:
            return f"'{names[end - 2]}' is a leaf and has no children"
        near = get_close_matches(names[end - 1], here, 1)
        meant = f"did you mean {near[0]}? " if near else ""
        return f"no '{_short(names[end - 1])}'; {meant}there are {', '.join(here)}"
    raise AssertionError("some leaf fits")


def _text(element: gnmi.PathElem) -> str:
    """Returns an element as text, its form before gNMI 0.4: `interface[name=port1]`."""
    return element.name + "".join(f"[{key}={value}]" for key, value in element.key.items())


def _unescaped(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word)


def _without_module(name: str) -> str:
    module, colon, rest = name.partition(":")
    return rest if colon and any(module == model.name for model in MODELS) else name


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
