"""Overlays of documents. The place of every key is kept, so that an error in a run made from several parts of
a file points at the line that causes it.

Mappings are merged key by key, other values are replaced, and `config` is appended.
"""

from collections.abc import Iterable

from eeon_control.errors import Place, Problem
from eeon_control.sources import Document, KeyPath

_NAMED_LISTS = (("workload", "applications"),)
_NAMED_BELOW_APPLICATIONS = ("jobs", "coflows")


def part(document: Document, path: KeyPath) -> Document:
    """Returns the mapping at `path` as a document; an empty one if there is none."""
    value = document.get(path)
    depth = len(path)
    places = {place[depth:]: where for place, where in document.places.items() if place[:depth] == path}
    places.setdefault((), document.place(path))
    if not isinstance(value, dict):
        return Document({}, {(): places[()]})
    return _with_list(Document(value, places))


def overlaid(parts: Iterable[Document]) -> Document:
    """Returns the merged document; later parts override earlier ones."""
    first, *rest = parts
    for later in rest:
        configs = (first.value.get("config"), later.value.get("config"))
        merged = first.merged_with(later)
        if isinstance(configs[0], list) and isinstance(configs[1], list):
            merged = _appended(merged, first, later)
        first = merged
    return first


def _with_list(document: Document) -> Document:
    """Returns the document with `config: name`, short for `config: [name]`, replaced by the list."""
    config = document.value.get("config")
    if config is None or isinstance(config, list):
        return document
    places = {_below(path, ("config",), 0): place for path, place in document.places.items()}
    places["config",] = document.places["config",]
    return Document({**document.value, "config": [config]}, places)


def _below(path: KeyPath, prefix: KeyPath, step: str | int) -> KeyPath:
    """Returns `path` with `step` inserted after `prefix`; a path without this prefix is unchanged."""
    length = len(prefix)
    return (*prefix, step, *path[length:]) if path[:length] == prefix else path


def _appended(merged: Document, first: Document, later: Document) -> Document:
    before, after = first.value["config"], later.value["config"]
    assert isinstance(before, list) and isinstance(after, list), "only lists are appended"
    places = {path: place for path, place in merged.places.items() if path[:1] != ("config",)}
    for path, place in first.places.items():
        if path[:1] == ("config",):
            places[path] = place
    for path, place in later.places.items():
        if path[:1] == ("config",) and len(path) > 1:
            places["config", int(path[1]) + len(before), *path[2:]] = place
    return Document({**merged.value, "config": [*before, *after]}, places)


def by_name(document: Document) -> tuple[Document, list[Problem]]:
    """Returns the document with lists of applications, jobs and coflows converted to mappings by `name`."""
    problems: list[Problem] = []
    for path in _NAMED_LISTS:
        document = _keyed(document, path, problems, default="kind")
    applications = document.get(("workload", "applications"))
    for name in applications if isinstance(applications, dict) else ():
        for key in _NAMED_BELOW_APPLICATIONS:
            document = _keyed(document, ("workload", "applications", name, key), problems, default=None)
    return document, problems


def _keyed(document: Document, path: KeyPath, problems: list[Problem], default: str | None) -> Document:
    items = document.get(path)
    if not isinstance(items, list):
        return document
    keys: list[str] = []
    found: dict[str, object] = {}
    for index, item in enumerate(items):
        name = item.get("name", item.get(default)) if isinstance(item, dict) else None
        if not isinstance(name, str):
            problems.append(document.problem((*path, index), "needs a name", None))
        elif name in found:
            problems.append(document.problem((*path, index), "this name is given twice", name))
        else:
            found[name] = {key: value for key, value in item.items() if key != "name"}
        keys.append(str(name))
    depth = len(path)
    places: dict[KeyPath, Place] = {}
    for place, where in document.places.items():
        if place[:depth] == path and len(place) > depth:
            if place[depth + 1 :][:1] != ("name",):
                places[*path, keys[int(place[depth])], *place[depth + 1 :]] = where
        else:
            places[place] = where
    return Document(_replaced(document.value, path, found), places)


def with_value(document: Document, path: KeyPath, new: object) -> Document:
    """Returns the document with `new` in place of the value at `path`."""
    return Document(_replaced(document.value, path, new), document.places)


def _replaced(value: dict[str, object], path: KeyPath, new: object) -> dict[str, object]:
    """Returns `value` with `new` in place of the value at `path`, whose steps are keys of mappings."""
    key, rest = str(path[0]), path[1:]
    if not rest:
        return {**value, key: new}
    below = value[key]
    assert isinstance(below, dict), "a value is there"
    return {**value, key: _replaced(below, rest, new)}
