"""A program's JSON for the servers: the objects that a control plane names, without the packet path."""

import json
from typing import NotRequired, TypedDict

# States, primitives, expressions and source positions are most of a program, and name nothing.
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


class Object(TypedDict):
    """The base of all named objects."""

    name: str
    id: int


class KeyField(TypedDict):
    name: NotRequired[str]
    match_type: str
    target: object
    """Header and field, if it is a plain field of a header."""


class DefaultEntry(TypedDict):
    action_entry_const: NotRequired[bool]


class Table(Object):
    match_type: str
    type: str
    key: list[KeyField]
    actions: list[str]
    action_ids: NotRequired[list[int]]
    with_counters: bool
    direct_meters: NotRequired[str | None]
    support_timeout: NotRequired[bool]
    action_profile: NotRequired[str]
    default_entry: NotRequired[DefaultEntry | None]


class ActionProfile(Object):
    selector: NotRequired[object]


class Pipeline(TypedDict):
    tables: list[Table]
    action_profiles: list[ActionProfile]


class Cells(Object):
    """An array of counters or meters."""

    is_direct: NotRequired[bool]
    size: int


class RegisterArray(Object):
    size: int
    bitwidth: int


class ValueSet(Object):
    compressed_bitwidth: int


class LearnList(Object):
    """A digest."""

    elements: list[object]


class Calculation(Object):
    algo: str


class HeaderType(Object):
    """A header type. A field is its name, its width in bits (`*`: any), and whether it is signed."""

    fields: list[list[object]]


class Header(Object):
    header_type: str


class Param(TypedDict):
    name: NotRequired[str]
    bitwidth: int


class Action(Object):
    runtime_data: list[Param]


class Objects(TypedDict):
    """A program, as p4c-bm2-ss writes it. The engine has checked the parts that it needs; other parts may be
    missing or have another form if p4c did not write the program."""

    actions: list[Action]
    header_types: list[HeaderType]
    headers: list[Header]
    calculations: NotRequired[list[Calculation]]
    counter_arrays: NotRequired[list[Cells]]
    learn_lists: NotRequired[list[LearnList]]
    meter_arrays: NotRequired[list[Cells]]
    parse_vsets: NotRequired[list[ValueSet]]
    pipelines: NotRequired[list[Pipeline]]
    register_arrays: NotRequired[list[RegisterArray]]


def objects(program: bytes) -> Objects:
    """Returns the parsed JSON without the parts that no control plane names. The content is not checked:
    callers must expect `LookupError`, `TypeError` and `AttributeError`. Raises `ValueError` if it is not
    JSON.
    """
    found: Objects = json.loads(program, object_pairs_hook=_without, strict=False)
    return found


def _without(pairs: list[tuple[str, object]]) -> dict[str, object]:
    return {key: value for key, value in pairs if key not in _LEFT_OUT}
