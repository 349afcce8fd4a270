"""Scripts of requests with the answer to each, to check any server that runs the test programs. For tests
only.

A script in `scripts/` is a line `[area::situation]`, as docs/develop/conformance.md names tests, and then a
line for each step:

    CODE "SAID" KIND ENTITY               an update over P4Runtime, by itself, or a READ
    ANSWER SERVICE.METHOD(ARGUMENTS)      a call over Thrift: OK, or the exception and its code
    = ENTITY, or = VALUE                  below a READ or a call: what it finds, a line each; or `= nothing`
    BATCH                                 the updates that follow are one batch, of either atomic kind
    BATCH CONTINUE_ON_ERROR               the same, each with an answer of its own
    CODE "SAID" PUSH ACTION PROGRAM COOKIE    a pipeline; what is reconciled or saved keeps its state
    ... WITH CHANGE                       behind a PUSH: a change of it, by name (`CHANGES`); `no FIELD`,
                                          `program TEXT`, `p4info of PROGRAM`, `without KIND`; or
                                          `KIND ALIAS: TEXT` or `KIND ALIAS PART: TEXT`, for an object of its
                                          P4Info or the first of the object's parts
    PIPELINE PROGRAM COOKIE               the pipeline that the switch has, or `PIPELINE bare`
    FRAME KEY TYPE -> PORTS               a frame that arrives on port 1, and the ports on which it leaves, or
                                          PORT:LENGTH for each
    3 FRAMES KEY TYPE FROM PORT -> PORTS  the same for several equal frames at once, on another port
    SENT -> PORTS                         the ports on which frames leave without another arrival
    UNTIL 10 ms -> PORTS                  the same, until this time of the switch
    SPREAD -> PORT: FRAMES, ...           400 frames with different keys, and how many leave on each port
    LINK PORT up, or LINK PORT down       the state of a port's link
    PORT PORT attached, or gone           whether the switch has the port
    AT 10 ms                              the switch's time
    SAY MESSAGE                           a message on the stream of the P4Runtime client
    TOLD "SAID" MESSAGE                   the next message of the stream, without its time stamp and words
    AS NAME ELECTION_ID ROLE              another client from here on, whose stream has begun nothing;
                                          `primary` is the first one, of the default role and id 1
    LEAD CODE                             the client sends its election id, and the status in the answer
    ENDS CODE "SAID"                      the server has ended the stream of the client
    LEAVES                                the client ends its stream

Parentheses behind a code or an answer have BMv2's if it differs, and quotation marks a part of the message.
An entity or a message is in Protobuf's text format, in which `$name` stands for an id and `$9xff` for nine
bytes of 0xff; a value is Python's, as `differential.thrift` has it, and "$resources" is this program.
Scripts in `bare.txt` begin with a switch without a program; its names are those of `everything`.
"""

import ast
import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from eeon_engine import Program, Switch
from eeon_engine import thrift as thrift_server
from eeon_engine.p4runtime import serve
from eeon_engine.thrift.interface import simple_pre_lag, simple_switch, standard
from finsy.proto import p4r, rpc_code
from google.protobuf import text_format
from p4rt_client import Client, Failed, Names, failure, p4info, pipeline, program_json, without_struct

from differential import thrift
from ptf_tests.lib.packets import keyed

SCRIPTS = Path(__file__).parent / "scripts"
BARE = "bare"
PROGRAMS = ("everything", "resources", BARE)
ROLLBACK, ATOMIC = p4r.WriteRequest.ROLLBACK_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC
_REQUEST = re.compile(
    r'(?P<code>\w+)(?: \((?P<bmv2>\w+)\))?(?: "(?P<said>[^"]*)")? '
    r"(?P<kind>INSERT|MODIFY|DELETE|UNSPECIFIED|READ) (?P<text>.*)"
)
_CALL = re.compile(
    r"(?P<answer>[\w.]+)(?: \((?P<bmv2>[\w.]+)\))? (?P<service>\w+)\.(?P<method>\w+)\((?P<arguments>.*)\)"
)
_PUSH = re.compile(
    r'(?P<code>\w+)(?: "(?P<said>[^"]*)")? PUSH (?P<action>\w+)(?: (?P<program>\w+) (?P<cookie>\d+))?'
)
_FRAMES = re.compile(
    r"(?:(?P<count>\d+) )?FRAMES? (?P<key>\w+)(?: (?P<type>0x\w+))?(?: FROM (?P<port>\d+))? ->(?P<ports>.*)"
)
_WORDS = re.compile(r'(?:"([^"]*)" )?(.*)')
_ENDS = re.compile(r'(\w+)(?: "([^"]*)")?')
# Enough for any frame to leave a switch whose ports have no rate.
_STEP_PS = 1_000_000
_SERVICES = (standard, simple_pre_lag, simple_switch)


@dataclass
class Served:
    """A switch that runs a test program, the P4Runtime client that acts, and a Thrift client."""

    switch: Switch
    client: Client
    thrift: thrift.Client
    connect: Callable[[int, str], Client]
    clients: dict[str, Client] = field(default_factory=dict)

    def leave(self, until_ps: int | None = None) -> list[tuple[int, int]]:
        """Returns the ports and lengths of frames that leave until a time, or because some have arrived."""
        sent = self.switch.advance_to(self.switch.now_ps + _STEP_PS if until_ps is None else until_ps)
        return [(port, len(data)) for _, port, data in sent]

    def state(self) -> list[Any] | str:
        """Returns all state that can be read, or why there is none."""
        try:
            return self.client.state()
        except Failed as failed:
            return failed.message


@contextlib.contextmanager
def served(program: str) -> Iterator[Served]:
    """Serves a new switch that runs a test program, or none."""
    is_bare = program == BARE
    switch = Switch(None if is_bare else Program(program_json(program)))
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(serve(switch, p4info=None if is_bare else p4info(program)))
        own = stack.enter_context(thrift_server.serve(switch, "127.0.0.1:0"))
        of_thrift = stack.enter_context(thrift.Client(own.address))

        def connect(election_id: int, role: str) -> Client:
            made = Client(server.address, election_id=election_id, role=role)
            return stack.enter_context(contextlib.closing(made))

        client = connect(1, "")
        client.arbitrate()
        yield Served(switch, client, of_thrift, connect, {"primary": client})


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
                return "OK", "", client.read(self.entity, role=client.role)
            client.write(self.update)
        except Failed as failed:
            ((code, message),) = failed.updates or [(failed.code, failed.message)]
            return rpc_code.Code.Name(code), message, None
        return "OK", "", None

    def __call__(self, served: Served) -> None:
        """Checks the answer of a server; a refused request changes nothing and has a short message."""
        before = None if self.code == "OK" else served.state()
        code, message, found = self.answer(served.client)
        assert (code, self.said in message) == (self.code, True), (self, message)
        assert len(message) < 300
        if self.found is not None:
            assert found == self.found, self.entity
        assert before is None or served.state() == before, self


@dataclass
class Batch:
    """Updates in one request, which are accepted or refused together unless it `goes_on`."""

    goes_on: bool
    updates: list[Request] = field(default_factory=list)

    def __call__(self, served: Served) -> None:
        """Checks that the batch has these codes, and changes nothing if it is refused."""
        updates = [request.update for request in self.updates]
        codes = [request.code for request in self.updates]
        if self.goes_on:
            failed = served.client.refused(*updates)
            assert [rpc_code.Code.Name(code) for code, _ in failed.updates] == codes, failed.updates
            assert all((message == "") == (code == rpc_code.OK) for code, message in failed.updates)
            bad = len(codes) - codes.count("OK")
            assert failed.message.startswith(f"{bad} of {len(codes)} updates failed; first, update ")
            return
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


def _resorted(config: p4r.ForwardingPipelineConfig) -> None:
    """Puts fields, parameters and metadata into reverse order."""
    for items in _numbered_lists(config.p4info):
        backwards = list(items)[::-1]
        del items[:]
        items.extend(backwards)


def _renumbered(config: p4r.ForwardingPipelineConfig) -> None:
    """Gives fields, parameters and metadata descending ids."""
    for items in _numbered_lists(config.p4info):
        for number, item in enumerate(reversed(items), 1):
            item.id = number


def _numbered_lists(info: Any) -> Iterator[Any]:
    parts = {"tables": "match_fields", "actions": "params", "value_sets": "match"}
    for kind, part in (*parts.items(), ("controller_packet_metadata", "metadata")):
        for item in getattr(info, kind):
            yield getattr(item, part)


def _tuple_digest(config: p4r.ForwardingPipelineConfig) -> None:
    """Makes the digest of `resources` one of a tuple, to which p4c gives two names."""
    config.p4_device_config = without_struct(config.p4info, config.p4_device_config)


def _two_tuple_digests(config: p4r.ForwardingPipelineConfig) -> None:
    """Makes it two digests, whose messages have one name in the program."""
    info = config.p4info
    parsed = json.loads(without_struct(info, config.p4_device_config, in_program="digest"))
    parsed["learn_lists"].append({**parsed["learn_lists"][0], "id": 2})
    info.digests.add().CopyFrom(info.digests[0])
    info.digests[1].preamble.id += 1
    info.digests[1].preamble.name = "digest_1"
    config.p4_device_config = json.dumps(parsed).encode()


CHANGES: dict[str, Callable[[p4r.ForwardingPipelineConfig], None]] = {
    "resorted": _resorted,
    "renumbered": _renumbered,
    "tuple_digest": _tuple_digest,
    "two_tuple_digests": _two_tuple_digests,
    "empty_p4info": lambda config: config.p4info.Clear(),
}


def _config(program: str, cookie: str, changes: Sequence[str] = ()) -> p4r.ForwardingPipelineConfig:
    made = pipeline(program)
    made.cookie.cookie = int(cookie)
    for change in changes:
        _change(made, change)
    return made


def _change(config: p4r.ForwardingPipelineConfig, change: str) -> None:
    where, _, text = change.partition(": ")
    match where.split():
        case [name] if name in CHANGES:
            CHANGES[name](config)
        case ["no", name]:
            config.ClearField(name)
        case ["program", *words]:
            config.p4_device_config = " ".join(words).encode()
        case ["p4info", "of", program]:
            config.p4info.CopyFrom(p4info(program))
        case ["without", kind]:
            config.p4info.ClearField(kind)
        case [kind, alias, *part]:
            item = next(one for one in getattr(config.p4info, kind) if one.preamble.alias == alias)
            text_format.Merge(text, getattr(item, part[0])[0] if part else item)


@dataclass
class Push:
    """A pipeline that is set, and the expected answer."""

    code: str
    said: str
    action: str
    config: p4r.ForwardingPipelineConfig | None
    is_changed: bool

    def __call__(self, served: Served) -> None:
        """Checks the answer. The state is the same after a refusal, and where it must be kept."""
        action = p4r.SetForwardingPipelineConfigRequest.Action.Value(self.action)
        before, program = served.state(), served.switch.program
        if self.code == "OK":
            served.client.push(action, self.config)
        else:
            code, said = rpc_code.Code.Value(self.code), re.escape(self.said)
            failure(code, said, served.client.push, action, self.config)
        if self.code != "OK" or self.action in ("VERIFY", "VERIFY_AND_SAVE"):
            assert served.switch.program is program
        # A changed P4Info may have other ids for the same state.
        is_kept = self.action in ("VERIFY", "COMMIT") or (
            self.action == "RECONCILE_AND_COMMIT" and not self.is_changed
        )
        if self.code != "OK" or is_kept:
            assert served.state() == before


def _pipeline(program: str, cookie: str, served: Served) -> None:
    if program == BARE:
        assert served.switch.program is None
        failure(rpc_code.FAILED_PRECONDITION, "No forwarding pipeline config", served.client.pipeline)
    else:
        assert served.client.pipeline() == _config(program, cookie)
        assert served.switch.program is not None
        assert served.switch.program.json == program_json(program)


@dataclass
class As:
    """A P4Runtime client that makes the steps from here on."""

    name: str
    election_id: str = "1"
    role: str = ""

    def __call__(self, served: Served) -> None:
        """Connects the client if it is a new one."""
        if self.name not in served.clients:
            served.clients[self.name] = served.connect(int(self.election_id), self.role)
        served.client = served.clients[self.name]


def _lead(code: str, served: Served) -> None:
    found = served.client.arbitrate()
    # Another kind of message has no arbitration, and so the status OK.
    assert (found.device_id, found.status.code) == (1, rpc_code.Code.Value(code))


def _ends(code: str, said: str, served: Served) -> None:
    failed = failure(rpc_code.Code.Value(code), re.escape(said), served.client.receive)
    assert len(failed.message) < 300


def _sent(to: list[str], until_ps: int | None, served: Served) -> None:
    with_lengths = any(":" in one for one in to)
    found = sorted(served.leave(until_ps))
    assert [f"{port}:{length}" if with_lengths else str(port) for port, length in found] == to


def _frames(count: int, key: int, ether_type: int, port: int, to: list[str], served: Served) -> None:
    for _ in range(count):
        served.switch.inject(port, keyed(key, ether_type))
    _sent(to, None, served)


def _spread(shares: dict[int, int], served: Served) -> None:
    for number in range(400):
        served.switch.inject(1, keyed(0x0A000000 + number * 7919))
    assert Counter(port for port, _ in served.leave()) == shares


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
        asked = [step for step in self.steps if isinstance(step, Request | Batch | Call | Push | As)]
        found = [step for step in asked if isinstance(step, kind)]
        return found if len(found) == len(asked) else []


def _with_bytes(text: str) -> str:
    return re.sub(r"\$(\d+)x([0-9a-f]{2})", lambda many: f"\\x{many[2]}" * int(many[1]), text)


def _ps(time: str) -> int:
    return int(time.strip().removesuffix(" ms")) * 10**9


def _argument(text: object) -> object:
    return program_json(text[1:]).decode() if isinstance(text, str) and text.startswith("$") else text


def _entity(text: str, names: Names, kind: type = p4r.Entity) -> Any:
    with_ids = re.sub(r"\$(\w+)", lambda name: str(names[name[1]]), _with_bytes(text))
    return text_format.Parse(with_ids, kind())


_PORTS: dict[tuple[str, str], Callable[[Switch, int], None]] = {
    ("LINK", "up"): lambda switch, port: switch.port_set_link(port, True),
    ("LINK", "down"): lambda switch, port: switch.port_set_link(port, False),
    ("PORT", "attached"): lambda switch, port: switch.port_add(f"veth{port}", port),
    ("PORT", "gone"): lambda switch, port: switch.port_remove(port),
}


def _step(line: str, names: Names) -> Step:
    if match := _REQUEST.fullmatch(line):
        code, entity = match["code"], _entity(match["text"], names)
        return Request(code, match["bmv2"] or code, match["said"] or "", match["kind"], entity)
    if match := _CALL.fullmatch(line):
        given = ast.literal_eval(f"[{_with_bytes(match['arguments'])}]")
        arguments = tuple(_argument(one) for one in given)
        call = thrift.Call(match["service"], match["method"], arguments)
        return Call(match["answer"], match["bmv2"] or match["answer"], call)
    push, *changes = line.split(" WITH ")
    if match := _PUSH.fullmatch(push):
        config = _config(match["program"], match["cookie"], changes) if match["program"] else None
        return Push(match["code"], match["said"] or "", match["action"], config, bool(changes))
    if match := _FRAMES.fullmatch(line):
        to = match["ports"].split()
        kind, port = int(match["type"] or "0x1234", 0), int(match["port"] or 1)
        return partial(_frames, int(match["count"] or 1), int(match["key"], 0), kind, port, to)
    if line.startswith("SPREAD -> "):
        shares = (share.split(": ") for share in line.removeprefix("SPREAD -> ").split(", ") if share)
        return partial(_spread, {int(port): int(count) for port, count in shares})
    word, _, rest = line.partition(" ")
    match word:
        case "SAY":
            message = _entity(rest, names, p4r.StreamMessageRequest)
            return lambda served: served.client.send(message)
        case "TOLD":
            said, text = _WORDS.fullmatch(rest).groups("")
            return partial(_told, said, _entity(text, names, p4r.StreamMessageResponse))
        case "AT":
            at_ps = _ps(rest)
            return lambda served: served.switch.advance_to(at_ps)
        case "SENT" | "UNTIL":
            time, _, to = rest.partition("->")
            return partial(_sent, to.split(), _ps(time) if time else None)
        case "AS":
            return As(*rest.split())
        case "LEAD":
            return partial(_lead, rest)
        case "LEAVES":
            return lambda served: served.client.close()
        case "ENDS":
            return partial(_ends, *_ENDS.fullmatch(rest).groups(""))
        case "PIPELINE":
            program, _, cookie = rest.partition(" ")
            return partial(_pipeline, program, cookie)
    port, state = rest.split()
    act = _PORTS[word, state]
    return lambda served: act(served.switch, int(port))


def _steps(lines: Sequence[str], names: Names) -> list[Step]:
    steps: list[Step] = []
    for line in lines:
        last = steps[-1] if steps else None
        if line in ("BATCH", "BATCH CONTINUE_ON_ERROR"):
            steps.append(Batch(goes_on=line != "BATCH"))
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
    names = Names(p4info("everything" if program == BARE else program))
    lines = (SCRIPTS / f"{program}.txt").read_text().splitlines()
    told = "\n".join(line for line in lines if line and not line.startswith("#"))
    blocks = re.split(r"(?m)^\[(.*)\]\n", told)[1:]
    assert len(set(blocks[::2])) == len(blocks[::2]), "two scripts have the same name"
    return [
        Script(name, program, _steps(text.splitlines(), names))
        for name, text in zip(blocks[::2], blocks[1::2], strict=True)
    ]


ALL = [script for program in PROGRAMS for script in scripts(program)]
