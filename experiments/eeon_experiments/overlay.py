"""Overlays of documents. The place of every key is kept, so that an error in a run made from several parts of
a file points at the line that causes it.

Mappings are merged key by key, other values are replaced, and `config` is appended.
"""

from collections.abc import Iterable

from eeon_control.errors import Problem
from eeon_control.sources import Document, KeyPath, Places

_CONFIG: KeyPath = ("config",)
_APPLICATIONS: KeyPath = ("workload", "applications")
_NAMED_BELOW_APPLICATIONS = ("jobs", "coflows")


def part(document: Document, path: KeyPath) -> Document:
    """Returns the mapping at `path` as a document; an empty one if there is none. `config: name`, short for
    `config: [name]`, is replaced by the list."""
    found = Document(document.mapping(path), document.places.at(path))
    config = found.get(_CONFIG)
    if config is None or isinstance(config, list):
        return found
    at = found.places.at(_CONFIG)
    return found.with_value(_CONFIG, [config], Places(at.here, {0: at}))


def overlaid(parts: Iterable[Document]) -> Document:
    """Returns the merged document; later parts override earlier ones."""
    first, *rest = parts
    for later in rest:
        merged = first.merged_with(later)
        before, after = first.get(_CONFIG), later.get(_CONFIG)
        if isinstance(before, list) and isinstance(after, list):
            at, of_after = first.places.at(_CONFIG), later.places.at(_CONFIG)
            below = [*map(at.of, range(len(before))), *map(of_after.of, range(len(after)))]
            merged = merged.with_value(_CONFIG, [*before, *after], Places(at.here, dict(enumerate(below))))
        first = merged
    return first


def by_name(document: Document) -> tuple[Document, list[Problem]]:
    """Returns the document with lists of applications, jobs and coflows converted to mappings by `name`."""
    problems: list[Problem] = []
    document = _keyed(document, _APPLICATIONS, problems, default="kind")
    for name in document.mapping(_APPLICATIONS):
        for key in _NAMED_BELOW_APPLICATIONS:
            document = _keyed(document, (*_APPLICATIONS, name, key), problems, default=None)
    return document, problems


def _keyed(document: Document, path: KeyPath, problems: list[Problem], default: str | None) -> Document:
    items, at = document.get(path), document.places.at(path)
    if not isinstance(items, list):
        return document
    found: dict[str, object] = {}
    below: dict[str | int, Places] = {}
    for index, item in enumerate(items):
        name = item.get("name", item.get(default)) if isinstance(item, dict) else None
        if not isinstance(name, str):
            problems.append(document.problem((*path, index), "needs a name", None))
        elif name in found:
            problems.append(document.problem((*path, index), "this name is given twice", name))
        else:
            found[name] = {key: value for key, value in item.items() if key != "name"}
            below[name] = at.of(index)
    return document.with_value(path, found, Places(at.here, below))
