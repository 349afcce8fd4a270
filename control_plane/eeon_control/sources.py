"""YAML files with the line of every key, for error messages with file, line, key and value.

Reads YAML 1.2 into plain dict, list, str, int, float, bool and None. Refuses duplicate keys, tags, merge
keys, non-text keys and oversized or endlessly nested documents: these files come from people and other
programs, and a bad one must cause a message, not a traceback or the use of all memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from yaml.composer import Composer
from yaml.error import MarkedYAMLError, YAMLError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

from eeon_control.errors import DataNotFound, InputError, Place, Problem, Severity

try:
    from yaml._yaml import CParser as EventParser  # libyaml takes a thirtieth of the time
except ImportError:  # PyYAML was built without libyaml, as where it has no wheel

    class EventParser(Reader, Scanner, Parser):  # type: ignore[no-redef]
        def __init__(self, stream: str) -> None:
            Reader.__init__(self, stream)
            Scanner.__init__(self)
            Parser.__init__(self)


KeyPath = tuple[str | int, ...]

_FILE_LIMIT_BYTES = 1 << 20
_NODE_LIMIT = 100_000  # also bounds the expansion of repeated aliases
_DEPTH_LIMIT = 24
_VALUE_SHOWN_CHARS = 60
_NUMBER_LIMIT_CHARS = 100  # a longer number is text: Python prints no number of more than 4300 digits
_MODE = "mode"  # determines the other keys of a mapping
_TAG = "tag:yaml.org,2002:"
# The core schema of YAML 1.2 (section 10.3.2), with `_` in numbers: a form, and the characters that begin it.
# PyYAML's own schema is that of YAML 1.1, in which `on` is true and 12:30 is 750.
_CORE_SCHEMA = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?([0-9][0-9_]*|0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+)", list("-+0123456789")),
    "float": (
        r"[-+]?([0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*|[0-9][0-9_]*(?=[eE]))([eE][-+]?[0-9]+)?",
        list("-+.0123456789"),
    ),
}
_OTHER_VERSION = re.compile(r"^%YAML[ \t]+(?!1\.2\b)\S*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Places:
    """The place of a value, and those of the values below it, by key or index. A value without a place of its
    own has that of the nearest value above it."""

    here: Place
    below: Mapping[str | int, Places] = field(default_factory=dict)

    def of(self, step: str | int) -> Places:
        """Returns the places of the value below a key or an index."""
        return self.below.get(step) or Places(self.here)

    def at(self, path: KeyPath) -> Places:
        """Returns the places of the value at `path`."""
        found = self
        for step in path:
            found = found.of(step)
        return found


_Below = dict[str | int, Places]
_NOTHING_BELOW = _Below()


@dataclass
class Document:
    """One or more merged YAML files: the plain value, and the places of all values."""

    value: dict[str, object]
    places: Places

    @classmethod
    def of_value(cls, value: dict[str, object], source: str) -> Document:
        """Returns a document of plain values without a file; every place in it is `source`."""
        return cls(value, Places(Place(source)))

    def place(self, path: KeyPath) -> Place:
        """Returns the place of `path`, or of its nearest parent in the file if it is not there."""
        return self.places.at(path).here

    def problem(
        self, path: KeyPath, rule: str, value: object = None, *, severity: Severity = Severity.ERROR
    ) -> Problem:
        """Returns a Problem at `path`; `value` defaults to the file's value there."""
        if value is None:
            value = self.get(path)
        return Problem(self.place(path), dotted(path), show(value), rule, severity)

    def warning(self, path: KeyPath, rule: str, value: object = None) -> Problem:
        """Returns the same as a warning."""
        return self.problem(path, rule, value, severity=Severity.WARNING)

    def get(self, path: KeyPath) -> object:
        """Returns the value at `path`, or None."""
        here: object = self.value
        for step in path:
            if isinstance(here, dict):
                here = here.get(step)
            elif isinstance(here, list) and isinstance(step, int) and step < len(here):
                here = here[step]
            else:
                return None
        return here

    def mapping(self, path: KeyPath) -> dict[str, object]:
        """Returns the mapping at `path`; an empty one for any other value."""
        value = self.get(path)
        return value if isinstance(value, dict) else {}

    def has(self, path: KeyPath) -> bool:
        """Returns whether the files have a value at `path`, which may be null."""
        above, step = self.get(path[:-1]), path[-1]
        if isinstance(above, list):
            return isinstance(step, int) and step < len(above)
        return isinstance(above, dict) and step in above

    def with_value(self, path: KeyPath, new: object, places: Places | None = None) -> Document:
        """Returns the document with `new` in place of the value at `path`, whose steps are keys of mappings.
        `places`: of `new`; by default, they are those of the replaced value."""
        key, *rest = path
        below = self.places.of(key)
        if rest:
            inner = Document(self.mapping((key,)), below).with_value(tuple(rest), new, places)
            new, places = inner.value, inner.places
        moved = Places(self.places.here, {**self.places.below, key: places or below})
        return Document({**self.value, str(key): new}, moved)

    def merged_with(self, later: Document) -> Document:
        """Returns a document in which `later` takes precedence key by key. Mappings are merged, other values
        replaced. A mapping with another `mode` also replaces the earlier one, whose keys would contradict
        it."""
        value = dict(self.value)
        below: _Below = {key: self.places.of(key) for key in value}
        for key, new in later.value.items():
            old, places = value.get(key), later.places.of(key)
            if isinstance(old, dict) and isinstance(new, dict) and _have_one_mode(old, new):
                merged = Document(old, below[key]).merged_with(Document(new, places))
                new, places = merged.value, Places(places.here, merged.places.below)
            value[key], below[key] = new, places
        return Document(value, Places(self.places.here, below))


def read_yaml(path: Path, limit_bytes: int = _FILE_LIMIT_BYTES, limit_values: int = _NODE_LIMIT) -> Document:
    """Reads one YAML file whose top level is a mapping. Raises InputError or DataNotFound."""
    name = str(path)
    try:
        size = path.stat().st_size
        if size > limit_bytes:
            raise InputError.of(name, f"the file has {size} bytes; the limit is {limit_bytes}")
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError.of(name, f"not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise DataNotFound(f"{name}: {error.strerror or error}") from None
    return parse_yaml(text, name, limit_values)


def parse_yaml(text: str, name: str, limit_values: int = _NODE_LIMIT) -> Document:
    """Parses YAML text; `name` is the file name in errors."""
    if other := _OTHER_VERSION.search(text):
        line = text.count("\n", 0, other.start()) + 1
        rule = "eeon reads YAML 1.2, in which `yes`, `on` and 010 are text; remove this line"
        raise InputError.of(name, rule, line=line, value=other[0])
    try:
        root = _Reader(text).get_single_node()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        rule = " ".join(str(part) for part in (error.context, error.problem) if part)
        lines = text.split("\n")
        line = min(mark.line, len(lines) - 1) if mark else -1  # libyaml's end of a text is the line after it
        if mark and lines[line].startswith("\t", mark.column):
            rule += "; indent with spaces"
        rule += "; this looks like a template: render it first" if "{{" in text else ""
        raise InputError.of(name, f"not YAML: {rule}", line=line + 1) from None
    except (YAMLError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError.of(name, f"not YAML: {reason}") from None
    if root is None:
        raise InputError.of(name, "the file is empty")
    if not isinstance(root, MappingNode):
        raise InputError.of(name, "the top level must be a mapping (key: value lines)", line=1)
    builder = _Builder(name, limit_values)
    value, below = builder.mapping(root, (), 0)
    if builder.problems:
        raise InputError(builder.problems)
    return Document(value, Places(Place(name, root.start_mark.line + 1), below))


def yaml_text(value: Mapping[str, object]) -> str:
    """Returns plain values as YAML, with the keys in their order."""
    return str(yaml.dump(dict(value), Dumper=_Writer, allow_unicode=True, sort_keys=False, width=110))


class _CoreSchema(BaseResolver):
    """Resolves plain scalars as YAML 1.2 does."""


for _kind, (_form, _first) in _CORE_SCHEMA.items():
    _CoreSchema.add_implicit_resolver(_TAG + _kind, re.compile(rf"(?:{_form})\Z"), _first)


class _Reader(Composer, EventParser, _CoreSchema):
    """A composer that stops at the first value nested too deeply, and lets an anchor be set again."""

    def __init__(self, text: str) -> None:
        EventParser.__init__(self, text)
        Composer.__init__(self)
        _CoreSchema.__init__(self)
        self.depth = 0

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        self.depth += 1
        if self.depth > _DEPTH_LIMIT:
            raise ValueError(f"nested more than {_DEPTH_LIMIT} levels deep")
        if not self.check_event(yaml.AliasEvent):
            self.anchors.pop(getattr(self.peek_event(), "anchor", None), None)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Writer(yaml.SafeDumper):
    """Quotes the text that a reader of YAML 1.2 would take for something else."""

    yaml_implicit_resolvers = _CoreSchema.yaml_implicit_resolvers


@dataclass
class _Builder:
    name: str
    limit_values: int
    problems: list[Problem] = field(default_factory=list)
    nodes: int = 1  # the top level

    def build(self, node: Node, path: KeyPath, depth: int) -> tuple[object, _Below]:
        """Returns the value of a node, and the places below it."""
        self.nodes += 1
        if depth > _DEPTH_LIMIT or self.nodes > self.limit_values:
            limit = f"{_DEPTH_LIMIT} levels" if depth > _DEPTH_LIMIT else f"{self.limit_values} values"
            raise InputError([Problem(self._place(node), dotted(path[:4]), "", f"more than {limit}")])
        if isinstance(node, (MappingNode, SequenceNode)) and node.tag not in (_TAG + "map", _TAG + "seq"):
            self._refuse_tag(node, path)
        if isinstance(node, MappingNode):
            return self.mapping(node, path, depth)
        if isinstance(node, SequenceNode):
            items, places = [], _Below()
            for index, item in enumerate(node.value):
                value, below = self.build(item, (*path, index), depth + 1)
                items.append(value)
                places[index] = Places(self._place(item), below)
            return items, places
        assert isinstance(node, ScalarNode), "the composer resolves aliases; these are all node types"
        return self._scalar(node, path), _NOTHING_BELOW

    def mapping(self, node: MappingNode, path: KeyPath, depth: int) -> tuple[dict[str, object], _Below]:
        result: dict[str, object] = {}
        places = _Below()
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self._refuse(key_node, path, "a key must be plain text")
                continue
            key = str(key_node.value)
            if key == "<<":
                self._refuse(key_node, (*path, key), "YAML merge keys are not supported; write out the keys")
                continue
            if key in result:
                first = places[key].here
                self._refuse(key_node, (*path, key), f"the key is given twice (first on line {first.line})")
                continue
            result[key], below = self.build(value_node, (*path, key), depth + 1)
            places[key] = Places(self._place(key_node), below)
        return result, places

    def _scalar(self, node: ScalarNode, path: KeyPath) -> object:
        text = str(node.value)
        match str(node.tag).removeprefix(_TAG):
            case "str":
                return text
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int" | "float" as kind:
                if len(text) > _NUMBER_LIMIT_CHARS:
                    return text
                try:
                    return int(text.replace("_", ""), 0) if kind == "int" else float(text.replace("_", ""))
                except ValueError:
                    return text
            case _:
                self._refuse_tag(node, path)
                return None

    def _place(self, node: Node) -> Place:
        return Place(self.name, node.start_mark.line + 1)

    def _refuse_tag(self, node: Node, path: KeyPath) -> None:
        self._refuse(node, path, f"YAML tag {node.tag} is not supported; write plain text or a number")

    def _refuse(self, node: Node, path: KeyPath, rule: str) -> None:
        self.problems.append(Problem(self._place(node), dotted(path), "", rule))


def dotted(path: KeyPath) -> str:
    """Returns `links[3].rate` for ("links", 3, "rate")."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def show(value: object) -> str:
    """Returns a value for an error message: short, on one line, empty for None and for whole mappings."""
    if value is None or isinstance(value, (dict, list)):
        return ""
    text = str(value)
    return text if len(text) <= _VALUE_SHOWN_CHARS else text[:_VALUE_SHOWN_CHARS] + "..."


def _have_one_mode(first: dict[str, object], later: dict[str, object]) -> bool:
    mode, other = first.get(_MODE), later.get(_MODE)
    return mode is None or other is None or bool(mode == other)
