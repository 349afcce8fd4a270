"""Scripts of requests with the answer to each, to check any server that runs the test programs. For tests
only.

A script in `scripts/` is a line `[area::situation]`, as docs/develop/conformance.md names tests, and then a
line for each step:

    CODE "SAID" KIND ENTITY               an update over P4Runtime, by itself, or a READ
    ANSWER SERVICE.METHOD(ARGUMENTS)      a call over Thrift: OK, or the exception and its code
    = ENTITY, or = VALUE                  below a READ or a call: what it finds, a line each; or `= nothing`
    BATCH                                 the updates that follow are one batch, of either atomic kind
    FRAME KEY TYPE -> PORTS               a frame that arrives on port 1, and the ports on which it leaves
    3 FRAMES KEY TYPE -> PORTS            the same for several equal frames at once
    SPREAD -> PORT: FRAMES, ...           400 frames with different keys, and how many leave on each port
    LINK PORT up, or LINK PORT down       the state of a port's link
    AT 10 ms                              the switch's time
    SAY MESSAGE                           a message on the stream of the P4Runtime client
    TOLD "SAID" MESSAGE                   the next message of the stream, without its time stamp and words

Parentheses behind a code or an answer have BMv2's if it differs, and quotation marks a part of the message.
An entity or a message is in Protobuf's text format, in which `$name` stands for an id; a value is Python's,
as `differential.thrift` has it.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from eeon_engine import Switch
from eeon_engine.thrift.interface import simple_pre_lag, simple_switch, standard
from finsy.proto import p4r, rpc_code
from google.protobuf import text_format
from made_frames import frame
from p4rt_client import Client, Failed, Names, p4info, ports

from differential import thrift

SCRIPTS = Path(__file__).parent / "scripts"
PROGRAMS = ("everything", "resources")
ROLLBACK, ATOMIC = p4r.WriteRequest.ROLLBACK_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC
_REQUEST = re.compile(
    r'(?P<code>\w+)(?: \((?P<bmv2>\w+)\))?(?: "(?P<said>[^"]*)")? '
    r"(?P<kind>INSERT|MODIFY|DELETE|UNSPECIFIED|READ) (?P<text>.*)"
)
_CALL = re.compile(
    r"(?P<answer>[\w.]+)(?: \((?P<bmv2>[\w.]+)\))? (?P<service>\w+)\.(?P<method>\w+)\((?P<arguments>.*)\)"
)
_FRAMES = re.compile(r"(?:(?P<count>\d+) )?FRAMES? (?P<key>\w+)(?: (?P<type>\w+))? ->(?P<ports>.*)")
_WORDS = re.compile(r'(?:"([^"]*)" )?(.*)')
# Enough for any frame to leave a switch whose ports have no rate.
_STEP_PS = 1_000_000
_SERVICES = (standard, simple_pre_lag, simple_switch)


class Served(NamedTuple):
    """A switch that runs a test program, and a client of each of its servers."""

    switch: Switch
    client: Client
    thrift: thrift.Client

    def leave(self) -> list[int]:
        """Returns the ports on which frames leave, after those that have just arrived."""
        return ports(self.switch.advance_to(self.switch.now_ps + _STEP_PS))


@dataclass
class Request:
    """An update by itself or a read over P4Runtime, and the expected answer."""

    code: str
    bmv2: str
    said: str
    kind: str
    entity: Any
    found: list[Any] | None = None

    @property
    def update(self) -> tuple[int, Any]:
        """The update, as a client takes it."""
        return p4r.Update.Type.Value(self.kind), self.entity

    def answer(self, client: Client) -> tuple[str, str, list[Any] | None]:
        """Makes the request with a client, and returns its code, its message and what it finds."""
        try:
            if self.kind == "READ":
                return "OK", "", client.read(self.entity)
            client.write(self.update)
        except Failed as failed:
            ((code, message),) = failed.updates or [(failed.code, failed.message)]
            return rpc_code.Code.Name(code), message, None
        return "OK", "", None

    def __call__(self, served: Served) -> None:
        """Checks the answer of a server; a refused request changes nothing and has a short message."""
        before = None if self.code == "OK" else served.client.state()
        code, message, found = self.answer(served.client)
        assert (code, self.said in message) == (self.code, True), (self, message)
        assert len(message) < 300
        if self.found is not None:
            assert found is not None
            assert [entity_text(one) for one in found] == [entity_text(one) for one in self.found], (
                self.entity
            )
        assert before is None or served.client.state() == before, self


@dataclass
class Batch:
    """Updates that are accepted or refused together."""

    updates: list[Request] = field(default_factory=list)

    def __call__(self, served: Served) -> None:
        """Checks that the batch has these codes, and changes nothing if it is refused."""
        updates = [request.update for request in self.updates]
        codes = [request.code for request in self.updates]
        if set(codes) == {"OK"}:
            served.client.write(*updates, atomicity=ATOMIC)
            return
        for atomicity in (ROLLBACK, ATOMIC):
            before = served.client.state()
            failed = served.client.refused(*updates, atomicity=atomicity)
            assert [rpc_code.Code.Name(code) for code, _ in failed.updates] == codes, failed.updates
            # Entries that were restored may be in another order.
            assert sorted(map(str, served.client.state())) == sorted(map(str, before))


@dataclass
class Call:
    """A call over Thrift, and the expected answer."""

    answer: str
    bmv2: str
    call: thrift.Call
    found: list[Any] | None = None

    def asked(self, client: thrift.Client) -> tuple[str, object]:
        """Makes the call, and returns the answer in a script's form, and what it finds."""
        found: Any = client.make(self.call)
        if not isinstance(found, tuple):
            return "OK", found
        _, kind, code = found
        refusal = next((found for one in _SERVICES if (found := getattr(one, kind, None))), None)
        name = "" if refusal is None else f".{refusal.thrift_spec[1][2]._VALUES_TO_NAMES[code]}"
        return f"{kind}{name}", None

    def __call__(self, served: Served) -> None:
        answer, found = self.asked(served.thrift)
        assert answer == self.answer, self
        assert self.found is None or [found] == self.found, (self, found)


def _frames(count: int, key: int, ether_type: int, to: list[int], served: Served) -> None:
    for _ in range(count):
        served.switch.inject(1, frame(key, ether_type))
    assert sorted(served.leave()) == to


def _spread(shares: dict[int, int], served: Served) -> None:
    for number in range(400):
        served.switch.inject(1, frame(0x0A000000 + number * 7919))
    assert Counter(served.leave()) == shares


def _say(message: p4r.StreamMessageRequest, served: Served) -> None:
    served.client.send(**{field.name: value for field, value in message.ListFields()})


def _told(said: str, message: p4r.StreamMessageResponse, served: Served) -> None:
    """Compares the next message, but for a time stamp and words, of which `said` is a part."""
    found = served.client.receive()
    one = getattr(found, found.WhichOneof("update"))
    assert said in getattr(one, "message", "")
    for name in ("timestamp", "message"):
        if name in one.DESCRIPTOR.fields_by_name:
            assert getattr(one, name)
            one.ClearField(name)
    assert found == message, found


_Asked = TypeVar("_Asked", Request, Call)
Step = Callable[[Served], object]
"""Does something, and checks what comes of it."""


class Script(NamedTuple):
    """Steps on one switch, in order."""

    name: str
    program: str
    steps: Sequence[Step]

    def all_of(self, kind: type[_Asked]) -> list[_Asked]:
        """Returns the requests or the calls of a script that asks nothing else; frames are left out."""
        asked = [step for step in self.steps if isinstance(step, Request | Batch | Call)]
        found = [step for step in asked if isinstance(step, kind)]
        return found if len(found) == len(asked) else []


def entity_text(entity: p4r.Entity) -> str:
    """Returns an entity, or one of its kinds, as text to be compared and shown."""
    return text_format.MessageToString(entity, as_one_line=True)


def _entity(text: str, names: Names, kind: type = p4r.Entity) -> Any:
    with_ids = re.sub(r"\$(\w+)", lambda name: str(names[name[1]]), text)
    return text_format.Parse(with_ids, kind())


def _step(line: str, names: Names) -> Step:
    if match := _REQUEST.fullmatch(line):
        code, entity = match["code"], _entity(match["text"], names)
        return Request(code, match["bmv2"] or code, match["said"] or "", match["kind"], entity)
    if match := _CALL.fullmatch(line):
        arguments = tuple(ast.literal_eval(f"[{match['arguments']}]"))
        call = thrift.Call(match["service"], match["method"], arguments)
        return Call(match["answer"], match["bmv2"] or match["answer"], call)
    if match := _FRAMES.fullmatch(line):
        to = [int(port) for port in match["ports"].split()]
        kind = int(match["type"] or "0x1234", 0)
        return partial(_frames, int(match["count"] or 1), int(match["key"], 0), kind, to)
    if line.startswith("SPREAD -> "):
        shares = (share.split(": ") for share in line.removeprefix("SPREAD -> ").split(", ") if share)
        return partial(_spread, {int(port): int(count) for port, count in shares})
    word, _, rest = line.partition(" ")
    if word == "SAY":
        return partial(_say, _entity(rest, names, p4r.StreamMessageRequest))
    if word == "TOLD":
        said, text = _WORDS.fullmatch(rest).groups("")
        return partial(_told, said, _entity(text, names, p4r.StreamMessageResponse))
    if word == "AT":
        at_ps = int(rest.removesuffix(" ms")) * 10**9
        return lambda served: served.switch.advance_to(at_ps)
    port, state = rest.split()
    assert word == "LINK" and state in ("up", "down"), line
    return lambda served: served.switch.port_set_link(int(port), state == "up")


def _steps(lines: Sequence[str], names: Names) -> list[Step]:
    steps: list[Step] = []
    for line in lines:
        last = steps[-1] if steps else None
        if line == "BATCH":
            steps.append(Batch())
        elif line.startswith("= "):
            assert isinstance(last, Request | Call), line
            last.found = last.found or []
            if line != "= nothing":
                is_value, text = isinstance(last, Call), line.removeprefix("= ")
                found = ast.literal_eval(text) if is_value else _entity(text, names)
                last.found.append(found if is_value else getattr(found, found.WhichOneof("entity")))
        else:
            step = _step(line, names)
            is_of_batch = isinstance(last, Batch) and isinstance(step, Request) and step.kind != "READ"
            (last.updates if is_of_batch else steps).append(step)  # type: ignore[union-attr, arg-type] # as checked
    return steps


@cache
def scripts(program: str) -> list[Script]:
    """Returns the scripts for a test program."""
    names = Names(p4info(program))
    lines = (SCRIPTS / f"{program}.txt").read_text().splitlines()
    told = "\n".join(line for line in lines if line and not line.startswith("#"))
    blocks = re.split(r"(?m)^\[(.*)\]\n", told)[1:]
    assert len(set(blocks[::2])) == len(blocks[::2]), "two scripts have the same name"
    return [
        Script(name, program, _steps(text.splitlines(), names))
        for name, text in zip(blocks[::2], blocks[1::2], strict=True)
    ]


ALL = [script for program in PROGRAMS for script in scripts(program)]
