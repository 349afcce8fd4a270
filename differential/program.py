"""The parts of a compiled program that the generators need: parsers, tables, actions, arrays."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from eeon_engine.program_json import Json

Header = tuple[tuple[str, int | None], ...]
"""A header type: field names and widths in bits; None is the width of a varbit."""
Field = tuple[str, str]
"""Header instance and field name. Elements of a stack have the stack's name."""


@dataclass(frozen=True)
class Action:
    """An action in the control plane's view."""

    name: str
    parameters: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Table:
    """A table that the control plane can access."""

    name: str
    kind: str
    keys: tuple[tuple[str, Field, int], ...]
    """Match kind, field, width in bits."""
    actions: tuple[Action, ...]
    profile: str | None
    has_const_entries: bool
    has_const_default: bool
    has_counters: bool
    meter: str | None

    @property
    def has_priorities(self) -> bool:
        """Whether entries have a priority in BMv2."""
        return any(kind in ("ternary", "range") for kind, _, _ in self.keys)


@dataclass
class Program:
    """One compiled program."""

    path: Path
    # For programs of this repository, the accessed members exist.
    json: Json
    headers: dict[str, Header] = field(default_factory=dict)
    """By the name in the parser: an instance, a stack, or stack.member of a stack of unions."""
    states: dict[str, Json] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    widths: dict[Field, int] = field(default_factory=dict)
    constants: dict[int, list[int]] = field(default_factory=dict)
    """Constants of the program, by the width of the fields that they could be compared with."""

    @property
    def registers(self) -> list[tuple[str, int, int]]:
        """Name, number of cells, width in bits."""
        return [(r["name"], r["size"], r["bitwidth"]) for r in self.json["register_arrays"]]

    @property
    def counters(self) -> list[tuple[str, int]]:
        """Name and number of cells of the indirect counters."""
        return [(c["name"], c["size"]) for c in self.json["counter_arrays"] if not c["is_direct"]]

    @property
    def meters(self) -> list[tuple[str, int]]:
        """Name and number of cells of the indirect meters."""
        return [(m["name"], m["size"]) for m in self.json["meter_arrays"] if not m["is_direct"]]

    @property
    def value_sets(self) -> list[tuple[str, int]]:
        """Name and width in bits of the value sets."""
        return [(v["name"], v["compressed_bitwidth"]) for v in self.json["parse_vsets"]]

    @property
    def profiles(self) -> dict[str, int]:
        """Maximum number of members of each action profile."""
        return {
            profile["name"]: profile["max_size"]
            for pipeline in self.json["pipelines"]
            for profile in pipeline["action_profiles"]
        }

    def constants_of(self, width: int) -> list[int]:
        """Returns the constants that a field of this width in bits could be compared with."""
        return self.constants.get((width + 7) // 8, [])

    @property
    def header_widths(self) -> dict[Field, int]:
        """Widths of whole headers, by name and `frames.WHOLE`."""
        return {(name, "*"): sum(width or 0 for _, width in kind) for name, kind in self.headers.items()}

    @property
    def start(self) -> str:
        """The parser's first state."""
        return str(self.json["parsers"][0]["init_state"])


def load(path: Path) -> Program:
    """Reads a compiled program."""
    program = Program(path, json.loads(path.read_text(encoding="utf-8")))
    _read_headers(program)
    program.states = {state["name"]: state for state in program.json["parsers"][0]["parse_states"]}
    for state in program.states.values():
        for transition in state["transitions"]:
            # Until 2020, p4c wrote defaults without a type.
            transition.setdefault("type", "default")
    _read_tables(program)
    _read_constants(program)
    return program


def _read_headers(program: Program) -> None:
    types = {
        kind["name"]: tuple((f[0], None if f[1] == "*" else f[1]) for f in kind["fields"])
        for kind in program.json["header_types"]
    }
    by_id = {}
    for header in program.json["headers"]:
        kind = types[header["header_type"]]
        by_id[header["id"]] = (header["name"], kind)
        program.headers[header["name"]] = kind
        program.widths[header["name"], "$valid$"] = 1
        for name, width in kind:
            program.widths[header["name"], name] = width or 0
    for stack in program.json["header_stacks"]:
        program.headers[stack["name"]] = by_id[stack["header_ids"][0]][1]
        for name, width in program.headers[stack["name"]]:
            program.widths[stack["name"], name] = width or 0
    unions = {union["id"]: union for union in program.json["header_unions"]}
    for stack in program.json["header_union_stacks"]:
        union = unions[stack["header_union_ids"][0]]
        for header_id in union["header_ids"]:
            name, kind = by_id[header_id]
            program.headers[f"{stack['name']}.{name.rsplit('.', 1)[-1]}"] = kind


def _read_tables(program: Program) -> None:
    actions = {
        action["id"]: Action(
            action["name"], tuple((p["name"], p["bitwidth"]) for p in action["runtime_data"])
        )
        for action in program.json["actions"]
    }
    for pipeline in program.json["pipelines"]:
        for table in pipeline["tables"]:
            if table["name"].startswith("tbl_"):
                continue  # generated by p4c, for statements between tables
            keys = tuple(
                (
                    key["match_type"],
                    (key["target"][0], key["target"][1]),
                    program.widths[tuple(key["target"])],
                )
                for key in table["key"]
            )
            default = table.get("default_entry", {})
            program.tables.append(
                Table(
                    name=table["name"],
                    kind=table["type"],
                    keys=keys,
                    actions=tuple(actions[number] for number in table["action_ids"]),
                    profile=table.get("action_profile"),
                    has_const_entries=bool(table.get("entries")),
                    has_const_default=default.get("action_const", False),
                    has_counters=table["with_counters"],
                    meter=table["direct_meters"],
                )
            )


def _read_constants(program: Program) -> None:
    found: dict[int, set[int]] = {}
    for part in ("actions", "pipelines", "parsers", "checksums"):
        for text in _hexadecimal(program.json[part]):
            digits = text.lower().removeprefix("-").removeprefix("0x")
            if digits:
                # p4c writes as many digits as the width has.
                found.setdefault((len(digits) + 1) // 2, set()).add(int(digits, 16))
    program.constants = {size: sorted(numbers) for size, numbers in found.items()}


def _hexadecimal(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if node.get("type") == "hexstr" and isinstance(node.get("value"), str):
            yield node["value"]
        for child in node.values():
            yield from _hexadecimal(child)
    elif isinstance(node, list):
        for child in node:
            yield from _hexadecimal(child)
