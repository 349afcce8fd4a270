"""A journey as a tree of lines in order of time, and a packet's path over all switches of a fabric as one.

The tree is compact unless `everything` is requested: then it also has every extracted field, statement and
local variable. Copies of the packet are branches at the step that made them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from eeon_tools.explain import eeon, values
from eeon_tools.explain.endings import Ending, endings
from eeon_tools.explain.journeys import Journey, Way
from eeon_tools.explain.scene import Scene
from eeon_tools.explain.source import field_name, is_temporary

if TYPE_CHECKING:
    from eeon_engine.json_types import (
        EgressStep,
        ExtractEvent,
        IngressStep,
        JourneyStep,
        NamedMatch,
        NamedValue,
        ParsedStep,
        QueuedStep,
        SelectKey,
        SetEvent,
        TableEvent,
        TableHit,
        TraceEvent,
    )

_ROUNDS_SHOWN = 3
_EVENT_BITS = 128
_MAX_PRIORITY = 2**31 - 1


@dataclass
class Node:
    """One line and the lines below it. `kind` is the sort of line: `stage`, `table`, `set`, `why`, ..."""

    kind: str
    text: str
    children: list[Node] = field(default_factory=list)

    def add(self, kind: str, text: str) -> Node:
        """Adds a line below this one and returns it."""
        node = Node(kind, text)
        self.children.append(node)
        return node

    def lines(self, depth: int = 0) -> Iterable[str]:
        """Yields the tree as plain text, indented by two spaces per level."""
        yield f"{'  ' * depth}{self.text}"
        for child in self.children:
            yield from child.lines(depth + 1)


class Amount(Enum):
    """The amount of detail."""

    BRIEF = "brief"
    """One line for each ending."""
    REASONS = "reasons"
    """With the reasons."""
    STEPS = "steps"
    """With tables, registers, conditions and changed fields."""
    ALL = "all"
    """With every extracted field, statement and local variable."""


def tell(scene: Scene, journey: Journey, amount: Amount = Amount.STEPS) -> Node:
    """Returns the tree of one switch: first the reasons for the outcome of the packet and of each copy, then
    the steps."""
    root = Node("title", f"{journey.title}: {_first_line(journey)}")
    _add_reasons(root.add("why", "why"), scene, journey, amount)
    _add_steps(root, scene, journey, amount)
    return root


def tell_way(scene: Scene, way: Way, amount: Amount = Amount.REASONS) -> Node:
    """Returns the tree; with `Amount.BRIEF`, one line for each hop."""
    found = {name: endings(scene, journey) for name, journey in way.journeys.items()}
    head = f"{way.title}, {values.size(way.frame_bytes)} from {way.sender}"
    root = Node("title", f"{head}: {_outcome(way, found)}")
    root.add("queue", _sent(way))
    for name, journey in way.journeys.items():
        first = journey.steps[0]
        assert first["step"] == "arrived", "a packet's first step is its arrival"
        node = root.add("stage", f"{name}, received on port {first['port']} at {values.time(first['at_ps'])}")
        if amount is Amount.BRIEF:
            node.text += f": {found[name][0].reasons[0]}"
            continue
        _add_reasons(node, scene, journey, amount)
        _add_steps(node, scene, journey, amount)
    if way.delivered_ps is not None:
        root.add("sent", f"received by {way.receiver} at {values.time(way.delivered_ps)}")
    return root


def _outcome(way: Way, found: dict[str, list[Ending]]) -> str:
    """Returns the packet's outcome, with the switches that marked, dropped or held it the longest."""
    parts = [f"marked at {name}" for name, all_ in found.items() if all_[0].verdict == "marked"]
    waits = {name: _waited(journey) for name, journey in way.journeys.items()}
    longest = max(waits, key=lambda name: waits[name], default=None)
    if longest is not None and waits[longest]:
        parts.append(f"waited longest at {longest}, {values.time(waits[longest])}")
    words = {"dropped": "dropped at", "to_cpu": "sent to the CPU by", "inside": "still at"}
    parts += [f"{words[all_[0].outcome]} {name}" for name, all_ in found.items() if all_[0].outcome in words]
    if way.delivered_ps is not None:
        parts.append(f"at {way.receiver} after {values.time(way.delivered_ps - way.offered_ps)}")
    elif not found:
        parts.append("it reached no switch")
    return "; ".join(parts)


def _sent(way: Way) -> str:
    text = f"{way.sender} offers it at {values.time(way.offered_ps)}"
    if way.left_ps is None:
        return f"{text}; its NIC has not sent it"
    if way.left_ps == way.offered_ps:
        return f"{text} and sends it at once"
    return f"{text}; its NIC begins to send it {values.time(way.left_ps - way.offered_ps)} later"


def _waited(journey: Journey) -> int:
    """Returns the picoseconds from the packet's first queue to its last departure from one."""
    steps = journey.of_packet(journey.root)
    queued = next((step["at_ps"] for step in steps if step["step"] == "queued"), None)
    left = next((step["at_ps"] for step in reversed(steps) if step["step"] == "dequeued"), None)
    return left - queued if queued is not None and left is not None else 0


def _add_reasons(node: Node, scene: Scene, journey: Journey, amount: Amount) -> None:
    """Adds the reasons for the outcome of the packet and of each copy."""
    for ending in endings(scene, journey):
        line = node.add("ending", _ending_line(ending, journey))
        if amount is not Amount.BRIEF:
            for reason in ending.reasons[1:]:
                line.add("reason", reason)


def _add_steps(node: Node, scene: Scene, journey: Journey, amount: Amount) -> None:
    """Adds the steps at one switch, if `amount` includes them."""
    if amount in (Amount.STEPS, Amount.ALL) and journey.steps:
        _Teller(scene, journey, amount is Amount.ALL).packet(node, journey.root)
    if journey.is_cut:
        node.add("note", "the record of steps is full; later steps are not shown")


def _first_line(journey: Journey) -> str:
    if not journey.steps:
        return "it has not arrived at the switch"
    first = journey.steps[0]
    assert first["step"] == "arrived", "a packet's first step is its arrival"
    return (
        f"{values.size(len(journey.frame))} received on port {first['port']} at {values.time(first['at_ps'])}"
    )


def _ending_line(ending: Ending, journey: Journey) -> str:
    text = ending.reasons[0]
    return text if len(journey.packets()) == 1 else f"packet {ending.packet - journey.root}: {text}"


class _Teller:
    def __init__(self, scene: Scene, journey: Journey, everything: bool) -> None:
        self._source = scene.source
        self._names = eeon.NAMES if scene.is_eeon else {}
        self._statement = ("", "")
        self._frame = b""
        self._journey = journey
        self._all = everything

    def packet(self, node: Node, packet: int) -> None:
        steps = self._journey.of_packet(packet)
        rounds = _split(steps)
        hidden = range(0) if self._all else range(_ROUNDS_SHOWN - 1, len(rounds) - 1)
        for number, some in enumerate(rounds):
            if number not in hidden:
                self._steps(node, some)
            elif number == hidden.start:
                span = f"{values.time(some[0]['at_ps'])} to {values.time(rounds[-2][-1]['at_ps'])}"
                node.add("note", f"{values.plural(len(hidden), 'more round')} from {span}: --all shows them")

    def _steps(self, node: Node, steps: list[JourneyStep]) -> None:
        queued_at = None
        self._frame = self._journey.frame if steps[0]["step"] == "arrived" else b""
        for step in steps:
            if step["step"] == "queued":
                queued_at = step["at_ps"]
            self._step(node, step, queued_at)

    def _step(self, node: Node, step: JourneyStep, queued_at: int | None) -> None:
        match step["step"]:
            case "parsed":
                self._parser(node, step)
            case "ingress" | "egress":
                self._pipeline(node, step)
            case "queued":
                node.add("queue", _queued(step))
            case "dequeued":
                waited = values.time(step["at_ps"] - queued_at if queued_at is not None else 0)
                node.add("queue", f"left the queue at {values.time(step['at_ps'])} after {waited}")
            case "deparsed":
                self._checksums(node, step["events"])
            case "copied":
                self._copy(node, step["to"])
            case "not_copied":
                node.add("note", f"no copy was made: {step['cause'].replace('_', ' ')}")
            case "no_clone_session":
                node.add("note", f"no clone was made: session {step['session']} does not exist")
            case "arrived" | "clone" | "replica":
                pass  # the title has it, or the line where the copy was made
            case "resubmitted":
                node.add("queue", "resubmitted: ingress again, now")
            case "recirculated":
                node.add("queue", f"recirculated: back in ingress at {values.time(step['back_at_ps'])}")
            case "dropped":
                cause = step["cause"].replace("_", " ")
                node.add("drop", f"dropped at {values.time(step['at_ps'])} ({cause}, port {step['port']})")
            case "sent":
                bytes_ = len(step["frame"]) // 2
                node.add(
                    "sent",
                    f"sent on port {step['port']} at {values.time(step['at_ps'])}: {values.size(bytes_)}, "
                    f"{values.time(step['wire_time_ps'])} on the wire",
                )

    def _checksums(self, node: Node, events: list[TraceEvent]) -> None:
        changes: list[TraceEvent] = [event for event in events if event["event"] != "checksum"]
        if changes:
            self._events(node.add("stage", "checksums"), changes)

    def _copy(self, node: Node, packet: int) -> None:
        steps = self._journey.of_packet(packet)
        kind = next((step for step in steps if step["step"] in ("clone", "replica")), None)
        how = "copy"
        if kind is not None and kind["step"] == "clone":
            how = f"clone of {'egress' if kind['egress'] else 'ingress'}, session {kind['session']}"
        elif kind is not None:
            how = f"replica of group {kind['group']}, rid {kind['rid']}, port {kind['port']}"
        self.packet(node.add("copy", f"packet {packet - self._journey.root}: {how}"), packet)

    def _parser(self, node: Node, step: ParsedStep) -> None:
        stage = node.add("stage", "parser")
        here = stage
        select: Node | None = None
        names: list[str] = []
        for event in step["events"]:
            if event["event"] == "state":
                names = self._source.select_names(event["parser"], event["state"])
                name = self._source.state(event["parser"], event["state"])
                if select is not None:
                    select.text += f" -> {name}"
                    select = None
                here = stage.add("state", name)
            elif event["event"] == "extract":
                here.add("extract", self._extract(event))
            elif event["event"] == "select":
                shown = [field_name(part["name"] or "") for part in event["key"]]
                if len(names) == len(shown):
                    shown = names
                pairs = zip(event["key"], shown, strict=True)
                key = ", ".join(_named(part, name or "key") for part, name in pairs)
                select = here.add("select", f"select {key}")
            else:
                self._event(here, event)
        if step["error"] != "NoError":
            here.add("drop", f"parser error {step['error']}")
        elif select is not None:
            select.text += " -> accept"
        if not step["checksums_hold"]:
            stage.add("drop", "a checksum is wrong")

    def _extract(self, event: ExtractEvent) -> str:
        whole = _whole(event, self._frame)
        shown = " ".join(_named(f, f["name"]) for f in whole if self._all or f["value"])
        where = f"{event['header']}, {values.size(event['bytes'])} at {event['offset']}"
        return f"extract {where}: {shown}" if shown else f"extract {where}"

    def _pipeline(self, node: Node, step: IngressStep | EgressStep) -> None:
        stage = node.add("stage", step["step"])
        self._events(stage, step["events"])
        if step["fault"]:
            stage.add("drop", f"the program failed: {step['fault']}")

    def _events(self, stage: Node, events: list[TraceEvent]) -> None:
        here = stage
        table: Node | None = None
        for event in events if self._all else _merged(events):
            match event["event"]:
                case "condition":
                    text, place = self._source.condition(event["pipeline"], event["conditional"])
                    stage.add("if", f"if {text}: {_yes(event['holds'])}{_at(place)}")
                    here, table = stage, None
                case "table":
                    table = here = stage.add("table", _table(event))
                case "action":
                    params = ", ".join(_named(p, p["name"]) for p in event["params"])
                    here = (table or stage).add("action", f"{event['action']}({params})")
                    table = None
                case _:
                    self._event(here, event)

    def _meaning(self, name: str, value: int) -> str:
        """Returns the program's name for a value."""
        words = self._names.get(name, ())
        return f" ({words[value]})" if value < len(words) else ""

    def _event(self, node: Node, event: TraceEvent) -> None:
        match event["event"]:
            case "statement":
                operation, text, place = self._source.statement(event["action_index"], event["primitive"])
                self._statement = (text, place)
                if self._all and operation != "_jump_if_zero":
                    node.add("statement", f"{text}{_at(place)}")
            case "branch":
                text, place = self._statement
                node.add("if", f"if {text}: {_yes(event['holds'])}{_at(place)}")
            case "set" if self._all or not is_temporary(event["field"]):
                node.add("set", _set(event) + self._meaning(event["field"], event["new"]))
            case "register_read":
                found = "is beyond the array: not read"
                if event["value"] is not None:
                    found = f"= {event['value']}{self._meaning(event['register'], event['value'])}"
                node.add("read", f"register {event['register']}[{event['index']}] {found}")
            case "register_write":
                done = " is beyond the array: not written"
                if event["new"] is not None:
                    meaning = self._meaning(event["register"], event["new"])
                    done = f": {event['old']} -> {event['new']}{meaning}"
                node.add("write", f"register {event['register']}[{event['index']}]{done}")
            case "count":
                counted = "is beyond the array: not counted"
                if event["packets"] is not None and event["bytes"] is not None:
                    packets = values.plural(event["packets"], "packet")
                    counted = f"now {packets}, {values.size(event['bytes'])}"
                node.add("count", f"counter {event['counter']}[{event['index']}] {counted}")
            case "meter":
                colour = {0: "green", 1: "yellow", 2: "red", None: "none, beyond the array"}
                shown = colour.get(event["colour"], event["colour"])
                node.add("count", f"meter {event['meter']}[{event['index']}]: {shown}")
            case "hash":
                node.add("hash", f"hash: {event['result']} (base {event['base']}, size {event['size']})")
            case "random":
                node.add("random", f"random in {event['low']} .. {event['high']}: {event['drawn']}")
            # With every statement shown, the statement's own line has it.
            case "request" if not (self._all and self._statement[0].startswith(event["primitive"])):
                arguments = ", ".join(str(argument) for argument in event["arguments"])
                node.add("request", f"{event['primitive']}({arguments})")
            case "exit":
                node.add("request", "exit")


def _merged(events: list[TraceEvent]) -> list[TraceEvent]:
    """Returns the events without reads of registers that are written before any decision: the write shows the
    value that was read."""
    kept: list[TraceEvent | None] = []
    reads: dict[tuple[str, int], tuple[int, int | None]] = {}
    for event in events:
        match event["event"]:
            case "register_read":
                reads[event["register"], event["index"]] = len(kept), event["value"]
            case "register_write":
                read = reads.pop((event["register"], event["index"]), None)
                if read is not None and read[1] == event["old"]:
                    kept[read[0]] = None
            case "branch" | "condition" | "table" | "action":
                reads.clear()
        kept.append(event)
    return [event for event in kept if event is not None]


def _whole(event: ExtractEvent, frame: bytes) -> list[NamedValue]:
    """Returns the fields of a header with the full values of those wider than 128 bits, taken from the frame
    as it arrived: events have only the low 128 bits. Without the frame they stay unchanged."""
    header = frame[event["offset"] : event["offset"] + event["bytes"]]
    found: list[NamedValue] = []
    bits, at = int.from_bytes(header, "big"), 8 * len(header)
    for part in event["fields"]:
        at -= part["width"] or 8 * part["value"]  # a field of variable length has its length as value
        value = part["value"]
        if part["width"] > _EVENT_BITS and at >= 0:
            value = bits >> at & ((1 << part["width"]) - 1)
        found.append({"name": part["name"], "width": part["width"], "value": value})
    return found


def _split(steps: list[JourneyStep]) -> list[list[JourneyStep]]:
    """Splits steps into rounds: each ends with a recirculation, except the last."""
    rounds: list[list[JourneyStep]] = [[]]
    for step in steps:
        rounds[-1].append(step)
        if step["step"] == "recirculated":
            rounds.append([])
    return [some for some in rounds if some]


def _named(part: NamedValue | SelectKey, name: str) -> str:
    if part["width"] == 0:  # the value of a field of variable length is its length
        return f"{name}={values.size(part['value'])}"
    return f"{name}={values.of_field(part['name'] or '', part['width'] or 0, part['value'])}"


def _set(event: SetEvent) -> str:
    name, width = event["field"], event["width"]
    if name.endswith(".$valid$"):
        header = name.removesuffix(".$valid$")
        return f"{header} is {'valid' if event['new'] else 'no longer valid'}"
    old, new = (values.of_field(name, width, value) for value in (event["old"], event["new"]))
    return f"{field_name(name)}: {old} -> {new}"


def _table(event: TableEvent) -> str:
    key = ", ".join(_named(part, part["name"]) for part in event["key"])
    head = f"table {event['table']}" + (f", {key}" if key else "")
    hit = event["hit"]
    if hit is None:
        return f"{head}: miss" if key else head
    parts = [_match(part, wanted, hit) for part, wanted in zip(event["key"], hit["key"], strict=True)]
    tail = f"entry {hit['handle']}"
    if hit["priority"] is not None:
        tail += f", priority {_priority(hit['priority'])}"
    text = f"{head}: hit {', '.join(parts)} ({tail})"
    if event["group"] is not None:
        text += (
            f", group {event['group']} of {event['profile']}: "
            f"hash 0x{event['hash']:x} mod {event['members']} -> member {event['member']}"
        )
    elif event["member"] is not None:
        text += f", member {event['member']} of {event['profile']}"
    return text


def _priority(priority: int) -> int:
    """Returns a priority as it was written. For entries from P4Runtime, the engine has the difference from
    the maximum, because in BMv2 lower numbers win; the priorities of a program's own entries are small."""
    return _MAX_PRIORITY - priority if priority > _MAX_PRIORITY // 2 else priority


def _match(part: NamedValue, wanted: NamedMatch, hit: TableHit) -> str:
    width, name = part["width"], part["name"]
    if "first" in wanted:
        first, last = (values.of_field(name, width, end) for end in (wanted["first"], wanted["last"]))
        return f"{first}..{last}"
    value, mask = wanted["value"], wanted["mask"]
    shown = values.of_field(name, width, value)
    full = (1 << width) - 1
    if mask == full and hit["prefix_length"] != width:
        return shown
    ones = f"{mask:0{width}b}".rstrip("0")
    if hit["prefix_length"] is not None and "0" not in ones:
        return f"{shown}/{len(ones)}"
    return "any" if mask == 0 else f"{shown} under 0x{mask:x}"


def _queued(step: QueuedStep) -> str:
    now = step["at_ps"]
    text = f"queue of port {step['port']}"
    if step["priority"]:
        text += f", priority {step['priority']}"
    text += f" at {values.time(now)}: {values.plural(step['packets_ahead'], 'packet')} ahead, "
    text += f"{values.size(step['bytes_ahead'])} in the port"
    if step["gate_opens_ps"] is None:
        text += "; its gate never opens"
    elif step["gate_opens_ps"] > now:
        text += f"; its gate opens at {values.time(step['gate_opens_ps'])}"
    if step["pause_ends_ps"] > now:
        text += f"; paused until {values.time(step['pause_ends_ps'])}"
    if step["wire_free_ps"] > now:
        text += f"; the wire is free at {values.time(step['wire_free_ps'])}"
    return text


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _at(place: str) -> str:
    return f"   [{place}]" if place else ""
