"""A program's operations on a packet, as lines of BMv2's log.

The texts are BMv2's, so that searches find them: behavioral-model's `parser.cpp`, `pipeline.cpp`,
`match_tables.cpp`, `match_units.cpp`, `actions.cpp`, `conditionals.cpp`, `checksums.cpp`, `deparser.cpp`,
and simple_switch's `primitives.cpp`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from ..json_types import ActionEvent, ChecksumEvent, ExtractEvent, NamedMatch, TableEvent, TraceEvent
from ..program_json import Json

_NAME_COLUMNS = 20
_KIND_COLUMNS = 10


class Line(NamedTuple):
    """A line of the log. `level` is its letter in BMv2's log: `T`, `D`, `I` or `E`."""

    level: str
    text: str


class Lines:
    """The lines of one program. `text` is its JSON, which the engine has accepted."""

    def __init__(self, text: bytes) -> None:
        program = json.loads(text, strict=False)
        self._states = {one["name"]: one["parse_states"] for one in program["parsers"]}
        self._pipelines = {one["name"]: one for one in program["pipelines"]}
        self._tables = {table["name"]: table for one in program["pipelines"] for table in one["tables"]}
        self._actions = program["actions"]
        self._checksums = program.get("checksums", [])
        self._emitted = {one["name"]: one["order"] for one in program["deparsers"]}
        self._header_ids = {header["name"]: header["id"] for header in program["headers"]}
        self._metadata = {header["name"] for header in program["headers"] if header["metadata"]}
        self._stack_ids = {
            one["name"]: one["id"]
            for kind in ("header_stacks", "header_union_stacks")
            for one in program.get(kind, [])
        }
        fields = {kind["name"]: kind["fields"] for kind in program["header_types"]}
        self._widths = {
            (header["name"], field[0]): field[1]
            for header in program["headers"]
            for field in fields[header["header_type"]]
        }
        self._first_of_stack = {
            one["name"]: next(h["name"] for h in program["headers"] if h["id"] == one["header_ids"][0])
            for one in program.get("header_stacks", [])
        }

    def parser(self, events: Sequence[TraceEvent], error: str | None) -> Iterator[Line]:
        """Yields the lines of one run of the parser. `error` is None unless the parser failed."""
        yield Line("D", "Parser 'parser': start")
        states: list[tuple[Json, list[TraceEvent]]] = []
        checks: list[ChecksumEvent] = []
        for event in events:
            if event["event"] == "state":
                states.append((self._states[event["parser"]][event["state"]], []))
            elif event["event"] == "checksum":
                checks.append(event)
            elif states:
                states[-1][1].append(event)
        walk = _Walk([event["offset"] for event in events if event["event"] == "extract"])
        for number, (state, done) in enumerate(states, start=1):
            yield Line("D", f"Parser 'parser' entering state '{state['name']}'")
            failed = error is not None and number == len(states)
            yield from self._state(state, done, walk, failed)
            if failed:
                yield Line("E", f"Exception while parsing: {error}")
            else:
                yield Line("T", f"Bytes parsed: {walk.bytes}")
        extracted = {event["header"] for event in events if event["event"] == "extract"}
        for event in checks:
            yield from self._verified(event, extracted)
        yield Line("D", "Parser 'parser': end")

    def _state(self, state: Json, events: list[TraceEvent], walk: _Walk, failed: bool) -> Iterator[Line]:
        for operation in state["parser_ops"]:
            op, parameters = operation["op"], operation["parameters"]
            if failed and not events:
                # The failed operation (an extraction, a lookahead or a verification) has left no event, and
                # is the last one.
                if op.startswith("extract"):
                    yield from self._extracting(operation, walk)
                if op.startswith("extract") or op == "verify" or parameters[-1].get("type") == "lookahead":
                    return
            if op.startswith("extract"):
                yield from self._extracting(operation, walk)
                found = _next(events, "extract")
                if found is not None and found["event"] == "extract":
                    walk.extract(found)
                walk.pass_over(events, None)
            elif op == "set":
                yield _parser_set(parameters, events, walk)
            elif op == "primitive":
                call = parameters[0]
                yield Line("D", f"Executing method {call['op']}")
                yield Line("T", f"Action {call['op']}")
                yield _primitive(call)
                target: Json = next(iter(call["parameters"]), {})
                walk.pass_over(events, target.get("value"))
            elif op == "advance":
                bits = walk.ahead(parameters[0])
                if bits % 8:
                    yield Line("E", f"advance bits amount {bits} must be a multiple of 8")
                    return
                yield Line("D", f"Advancing by {bits // 8} bytes")
                walk.bytes += bits // 8
            elif op == "shift":
                walk.bytes += int(parameters[0])
        if failed:
            return
        key = state.get("transition_key") or []
        if not key:
            yield Line("D", f"Parser state '{state['name']}' has no switch, going to default next state")
            return
        select = _next(events, "select")
        if select is not None and select["event"] == "select":
            shown = ""
            for part, bits in zip(select["key"], map(self._bits, key), strict=True):
                shown += _hex(part["value"], bits if part["width"] is None else part["width"])
            yield Line("D", f"Parser state '{state['name']}': key is {shown}")

    def _bits(self, part: Json) -> int:
        """Returns the width of a part of a transition key in bits."""
        kind, value = part["type"], part["value"]
        if kind == "lookahead":
            return int(value[1])
        name = self._first_of_stack.get(value[0], value[0]) if kind == "stack_field" else value[0]
        return int(self._widths.get((name, value[-1]), 8))

    def _extracting(self, operation: Json, walk: _Walk) -> Iterator[Line]:
        where = operation["parameters"][0]
        kind, value = where["type"], where["value"]
        if kind == "regular":
            what = "variable-sized header" if operation["op"] == "extract_VL" else "header"
            yield Line("D", f"Extracting {what} '{value}'")
            return
        name, member = (value[0], f".{value[1]}") if kind == "union_stack" else (value, "")
        following = self._header_ids.get(f"{name}[{walk.extracted.get(name, 0)}]{member}")
        walk.extracted[name] = walk.extracted.get(name, 0) + 1
        # An extraction beyond the end of a stack ends the parser without a line.
        if following is not None:
            of = "header union stack" if kind == "union_stack" else "header stack"
            yield Line("D", f"Extracting to {of} {self._stack_ids[name]}, next header is {following}")

    def _verified(self, event: ChecksumEvent, extracted: Set[str]) -> Iterator[Line]:
        name, (header, _) = (self._checksums[event["checksum"]][key] for key in ("name", "target"))
        if event["computed"] is None:
            is_valid = header in extracted or header in self._metadata
            why = "condition not met" if is_valid else "target field invalid"
            yield Line("T", f"Skipping checksum '{name}' verification because {why}")
            return
        yield Line("D", f"Checksum '{name}': computed {event['computed']:#x} - actual {event['found']:#x}")
        passed = event["computed"] == event["found"]
        yield Line("D", f"Verified checksum '{name}': {'passed' if passed else 'failed'}")
        if not passed:
            yield Line("E", f"Checksum '{name}' is not correct")

    def pipeline(
        self,
        name: str,
        events: Sequence[TraceEvent],
        fault: str | None,
        next_message: Callable[[], str | None],
    ) -> Iterator[Line]:
        """Yields the lines of one run of a pipeline, up to the `fault` if the program failed.
        `next_message` returns the next text of the program's `log_msg`."""
        yield Line("D", f"Pipeline '{name}': start")
        flow = _Flow(self._pipelines[name])
        statements = _Statements()
        looked_up: TableEvent | None = None
        ends = False
        for at, event in enumerate(events):
            match event["event"]:
                case "condition":
                    yield from statements.finish()
                    conditional = self._pipelines[event["pipeline"]]["conditionals"][event["conditional"]]
                    yield from self._keyless(flow, conditional["name"])
                    flow.decide(conditional, event["holds"])
                    yield self._condition(conditional, event["holds"])
                case "table":
                    yield from statements.finish()
                    looked_up = event
                    action = _action_of_entry(events, at + 1)
                    yield from self._keyless(flow, event["table"])
                    yield from self._table(event, action)
                    flow.apply(event["table"], action and action["action"], event["hit"] is not None)
                case "action":
                    yield from statements.finish()
                    statements = _Statements(self._actions[event["action_index"]]["primitives"])
                    if looked_up is None:
                        yield from self._keyless(flow, None, event["action_index"])
                    looked_up = None
                    yield self._action(event["action_index"])
                case "statement":
                    yield from statements.go_to(event["primitive"])
                    primitive = self._actions[event["action_index"]]["primitives"][event["primitive"]]
                    yield _primitive(primitive)
                    if primitive["op"] == "log_msg":
                        message = next_message()
                        if message is not None:
                            yield Line("I", message)
                case "branch":
                    statements.branch(event["holds"])
                case "exit":
                    ends = True
                case _:
                    yield from _effect(event)
        if fault:
            yield Line("E", f"Pipeline '{name}' failed: {fault}")
            return
        yield from statements.finish()
        if not ends:
            yield from self._keyless(flow, None)
        elif not flow.is_over:
            yield Line("D", "Packet is marked for exit, interrupting pipeline")
        yield Line("D", f"Pipeline '{name}': end")

    def _action(self, index: int) -> Line:
        action = self._actions[index]
        return Line("T", _at_source(action) + f"Action {action['name']}")

    def _keyless(self, flow: _Flow, until: str | None, action: int | None = None) -> Iterator[Line]:
        """Yields the lines of keyless tables on the way to the node `until`, or to the table that runs
        `action`: the engine runs their actions without a lookup."""
        while (table := flow.keyless(until)) is not None:
            entry = table.get("default_entry") or {}
            index = entry.get("action_id")
            told = "NULL"
            if index is not None:
                data = "".join(f"{int(value, 16):x}," for value in entry.get("action_data", []))
                told = f"{self._actions[index]['name']} - {data}"
            yield Line("T", f"Applying table '{table['name']}'")
            yield Line("D", "Looking up key:\n")
            yield Line("D", f"Table '{table['name']}': miss")
            yield Line("D", f"Action entry is {told}")
            flow.apply(table["name"], None if index is None else self._actions[index]["name"], False)
            if index is not None and index == action:
                return
            if index is not None:
                yield self._action(index)

    def _condition(self, conditional: Json, holds: bool) -> Line:
        source = conditional.get("source_info")
        text = source["source_fragment"] if source else conditional["name"]
        told = f'Condition "{text}" ({conditional["name"]}) is {str(holds).lower()}'
        return Line("T", _at_source(conditional) + told)

    def _table(self, event: TableEvent, action: ActionEvent | None) -> Iterator[Line]:
        name, hit = event["table"], event["hit"]
        table = self._tables[name]
        columns = max([_NAME_COLUMNS, *(len(part["name"]) for part in event["key"])])
        yield Line("T", f"Applying table '{name}'")
        key = "".join(
            f"* {part['name']:<{columns}}: {_hex(part['value'], part['width'])}\n" for part in event["key"]
        )
        yield Line("D", f"Looking up key:\n{key}")
        if event["group"] is not None and event["member"] is not None:
            yield Line("D", f"Choosing member {event['member']} from group {event['group']}")
        entry = "NULL" if action is None else _entry(action)
        if hit is None:
            yield Line("D", f"Table '{name}': miss")
        else:
            yield Line("D", f"Table '{name}': hit with handle {hit['handle']}")
            dump = [f"Dumping entry {hit['handle']}\nMatch key:\n"]
            for part, field, wanted in zip(event["key"], table["key"], hit["key"], strict=True):
                shown = _wanted(field["match_type"], wanted, part["width"], hit["prefix_length"])
                dump.append(f"* {part['name']:<{columns}}: {shown}\n")
            if hit["priority"] is not None:
                dump.append(f"Priority: {hit['priority']}\n")
            if event["group"] is not None:
                dump.append(f"Index: group({event['group']})\n")
            else:
                if event["member"] is not None:
                    dump.append(f"Index: member({event['member']})\n")
                dump.append(f"Action entry: {entry}\n")
            yield Line("D", "".join(dump))
        yield Line("D", f"Action entry is {entry}")

    def deparser(self, events: Sequence[TraceEvent], valid: Callable[[str], bool]) -> Iterator[Line]:
        """Yields the lines of the deparser. `valid` returns whether a header is valid."""
        yield Line("D", "Deparser 'deparser': start")
        for event in events:
            if event["event"] != "checksum":
                continue
            name = self._checksums[event["checksum"]]["name"]
            if event["computed"] is None:
                yield Line("T", f"Skipping checksum '{name}' update because condition not met")
            else:
                yield Line("D", f"Updating checksum '{name}'")
        for header in self._emitted.get("deparser", []):
            if valid(header):
                yield Line("D", f"Deparsing header '{header}'")
        yield Line("D", "Deparser 'deparser': end")


class _Statements:
    """The next primitive of an action. An unconditional jump leaves no event."""

    def __init__(self, primitives: Sequence[Json] = ()) -> None:
        self._primitives = primitives
        self._next = 0

    def go_to(self, number: int) -> Iterator[Line]:
        """Yields the lines of the primitives before a given one, which runs next."""
        yield from self._until(number)
        self._next = number + 1

    def branch(self, holds: bool) -> None:
        """Applies the outcome of a jump on zero."""
        if not holds:
            self._next = _target(self._primitives[self._next - 1])

    def finish(self) -> Iterator[Line]:
        """Yields the lines of the remaining primitives."""
        yield from self._until(len(self._primitives))

    def _until(self, number: int) -> Iterator[Line]:
        # This ends, because a loop contains a primitive that leaves an event.
        while self._next != number and self._next < len(self._primitives):
            primitive = self._primitives[self._next]
            yield _primitive(primitive)
            self._next = _target(primitive) if primitive["op"] == "_jump" else self._next + 1


def _target(jump: Json) -> int:
    return int(jump["parameters"][-1]["value"], 16)


def _action_of_entry(events: Sequence[TraceEvent], at: int) -> ActionEvent | None:
    """Returns an entry's action, whose events begin at `at`; a direct meter may write its colour before."""
    for event in events[at:]:
        if event["event"] == "action":
            return event
        if event["event"] != "set":
            break
    return None


class _Flow:
    """A packet's position among the tables and conditions of a pipeline: the name of the next one."""

    def __init__(self, pipeline: Json) -> None:
        self._tables = {table["name"]: table for table in pipeline["tables"]}
        self._next: str | None = pipeline["init_table"]

    @property
    def is_over(self) -> bool:
        return self._next is None

    def decide(self, conditional: Json, holds: bool) -> None:
        self._next = conditional["true_next" if holds else "false_next"]

    def apply(self, table: str, action: str | None, hit: bool) -> None:
        following = self._tables[table]["next_tables"]
        by_result = "__HIT__" if hit else "__MISS__"
        default = self._tables[table].get("base_default_next")
        self._next = following.get(by_result, default if action is None else following.get(action, default))

    def keyless(self, until: str | None) -> Json | None:
        """Returns the next node if it is a table without a key and not `until`."""
        table = self._tables.get(self._next or "")
        return table if table is not None and not table["key"] and self._next != until else None


class _Walk:
    """A parser's position in the packet in bytes, the fields that it has extracted, and the number of
    attempted extractions from each stack. `offsets`: positions of the remaining extractions."""

    def __init__(self, offsets: list[int]) -> None:
        self.bytes = 0
        self._offsets = offsets
        self.extracted: dict[str, int] = {}
        self.fields: dict[str, int] = {}

    def ahead(self, bits: Json) -> int:
        """Returns the bits to advance by: the program's number, or those to the next extracted header."""
        if bits["type"] == "hexstr":
            return int(bits["value"], 16)
        if bits["type"] == "field":
            return self.fields.get(".".join(bits["value"]), 0)
        return 8 * (self._offsets[0] - self.bytes) if self._offsets else 0

    def extract(self, event: ExtractEvent) -> None:
        del self._offsets[0]
        self.bytes = event["offset"] + event["bytes"]
        for field in event["fields"]:
            self.fields[f"{event['header']}.{field['name']}"] = field["value"]

    def pass_over(self, events: list[TraceEvent], header: str | None) -> None:
        """Removes the next changes of validity and of the fields of `header`: no assignment made them."""
        while events and (event := events[0])["event"] == "set":
            header_of, _, field = event["field"].rpartition(".")
            if field != "$valid$" and header_of != header:
                break
            self.fields[event["field"]] = event["new"]
            del events[0]


def _next(events: list[TraceEvent], kind: str) -> TraceEvent | None:
    """Removes the events up to and including the first of a kind from a list, and returns this event."""
    for at, event in enumerate(events):
        if event["event"] == kind:
            del events[: at + 1]
            return event
    return None


def _parser_set(parameters: list[Json], events: list[TraceEvent], walk: _Walk) -> Line:
    to, source = parameters
    name = ".".join(to["value"])
    # An assignment that does not change the value leaves no event.
    if events and events[0]["event"] == "set" and events[0]["field"] == name:
        walk.fields[name] = events[0]["new"]
        del events[0]
    value = walk.fields.get(name, 0)
    match source["type"]:
        case "field":
            told = f"from field '{'.'.join(source['value'])}' ({value})"
        case "lookahead":
            offset, bits = source["value"]
            told = f"from lookahead ({offset}, {bits}), new value is {value}"
        case "expression":
            told = f"from expression, new value is {value}"
        case _:
            told = f"to {value}"
    return Line("D", f"Parser set: setting field '{name}' {told}")


_CELLS = {
    "register_read": ("register", "value", "read", "Read", " read value {value}"),
    "register_write": ("register", "new", "write", "Wrote", " with value {new}"),
    "count": ("counter", "packets", "update", "Updated", ""),
    "meter": ("meter", "colour", "update", "Updated", ", assigning dest field the color result {colour}"),
}
"""Events at a cell: the array, what is missing beyond its end, BMv2's verbs, and the end of its line."""


def _effect(event: Mapping[str, object]) -> Iterator[Line]:
    """Yields the line that a primitive of simple_switch logs when it is done."""
    match event["event"]:
        case "hash":
            yield Line("T", f"hash(base={event['base']}, max={event['size']}) = {event['result']}")
        case "random":
            yield Line("T", f"random(lo={event['low']}, hi={event['high']}) = {event['drawn']}")
        case str(kind) if kind in _CELLS:
            array, result, attempt, done, end = _CELLS[kind]
            name, index = f"{array} '{event[array]}'", event["index"]
            if event[result] is None:
                yield Line("E", f"Attempted to {attempt} {name} at out-of-bounds index {index}.")
            else:
                yield Line("T", f"{done} {name} at index {index}{end.format_map(event)}")


def _primitive(call: Json) -> Line:
    source = call.get("source_info")
    text = source["source_fragment"] if source else "(no source info)"
    return Line("T", _at_source(call) + f"Primitive {text}")


def _at_source(thing: Json) -> str:
    """Returns `basic.p4(123) `, if the JSON has the source position."""
    source = thing.get("source_info")
    return f"{source['filename']}({source['line']}) " if source else ""


def _entry(action: ActionEvent) -> str:
    """Returns the text of an entry: `MyIngress.ipv4_forward - 80000000200,2,`."""
    return f"{action['action']} - " + "".join(f"{part['value']:x}," for part in action["params"])


def _wanted(kind: str, wanted: NamedMatch, width: int, prefix_length: int | None) -> str:
    """Returns an entry's value for a key field: `LPM       0a000202/32`."""
    column = f"{kind.upper():<{_KIND_COLUMNS}}"
    if "first" in wanted:
        return f"{column}{_hex(wanted['first'], width)} -> {_hex(wanted['last'], width)}"
    value = _hex(wanted["value"], width)
    if kind == "lpm":
        length = wanted["mask"].bit_count() if prefix_length is None else prefix_length
        return f"{column}{value}/{length}"
    if kind in ("ternary", "optional"):
        return f"{'TERNARY':<{_KIND_COLUMNS}}{value} &&& {_hex(wanted['mask'], width)}"
    return f"{column}{value}"


def _hex(value: int, width: int) -> str:
    """Returns the bytes of a value in hexadecimal."""
    return f"{value:0{2 * ((width + 7) // 8)}x}"
