"""gNMI of a switch: ports and queues in OpenConfig's models, on P4Runtime's socket."""

import contextlib
import json
import queue
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from eeon_engine import Port, Program, Switch
from eeon_engine.gnmi import model
from eeon_engine.p4runtime import serve
from finsy.proto import gnmi
from gnmi_client import GnmiClient, path, plain, request, subscription, text, until_sync, updates
from google.protobuf import text_format
from p4rt_client import INSERT, Connect, Names, admit_all, primary, program_json
from test_engine_twin import DATAGRAM, route

pytestmark = pytest.mark.system

COUNTERS = "interfaces/interface[name=port2]/state/counters"
COMPILED = Path(__file__).parents[3] / "p4src" / "compiled"
STATUS = "interfaces/interface[name=*]/state/oper-status"


@pytest.fixture
def switch(fabric_program: Program) -> Switch:
    """Returns a switch with two ports that send a byte per microsecond."""
    ports = [Port(number, rate_bps=8_000_000) for number in (1, 2)]
    return Switch(fabric_program, ports=ports, tick_ps=1000)


@pytest.fixture
def address(switch: Switch, fabric_names: Names) -> Iterator[str]:
    with serve(switch, p4info=fabric_names.info) as server:
        yield server.address


@pytest.fixture
def client(address: str, gnmi_clients: Connect) -> GnmiClient:
    return gnmi_clients(address)


def refused(call: Callable[[], object]) -> tuple[str, str]:
    """Returns status and message of a call that fails."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code().name, caught.value.details()


def test_the_places_of_verdicts_are_those_of_the_program(fabric_program):
    found = json.loads((COMPILED / "constants.json").read_text())
    assert found["constants"]["VERDICT_CELLS"] == model._VERDICT_CELLS
    assert found["constants"]["RECEIVED_CELLS"] == model._RECEIVED_CELLS
    for name in ("MARKED", "EARLY_DROPPED", "TAIL_DROPPED"):
        assert found["verdict_t"][name] == getattr(model, name)


REFUSAL = re.compile(r'(?P<code>\w+) "(?P<message>[^"]*)" (?P<call>\w+) (?P<text>.*)')
REFUSALS = [
    REFUSAL.fullmatch(line)
    for line in (Path(__file__).parent / "gnmi_refusals.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize("line", REFUSALS, ids=lambda line: line["message"][:60])
def test_a_request_that_cannot_be_met_is_refused_in_words(client, line):
    name = line["call"]
    asked = text_format.Parse(line["text"], getattr(gnmi, f"{name}Request")())
    if name == "Subscribe":
        found = refused(lambda: next(client.subscribe(asked)))
    else:
        found = refused(lambda: getattr(client.stub, name)(asked, timeout=60))
    assert found == (line["code"], line["message"])


SCRIPTS = re.split(r"(?m)^\[(.*)\]\n", (Path(__file__).parent / "gnmi_scripts.txt").read_text())[1:]
MODES = gnmi.SubscriptionList.Mode


class Session:
    """The steps of a script, which `gnmi_scripts.txt` explains."""

    def __init__(self, client: GnmiClient, switch: Switch, address: str, names: Names) -> None:
        self._stub, self._switch, self._address, self._names = client.stub, switch, address, names
        self._stack = contextlib.ExitStack()
        self._asked: queue.SimpleQueue[gnmi.SubscribeRequest | None] = queue.SimpleQueue()
        self._call: Any = None

    def step(self, line: str) -> list[str]:
        """Makes a step, and returns the values that come of it, a line each; or its error."""
        try:
            return self._step(line)
        except grpc.RpcError as error:
            return [f"{error.code().name} {error.details()}"]

    def _step(self, line: str) -> list[str]:
        word, _, rest = line.partition(" ")
        where, _, fields = rest.partition(" ")
        match word:
            case "SWITCH":
                program = None if where == "bare" else Program(program_json(where))
                other = Switch(program, ports=[Port(int(port)) for port in fields.split()])
                server = self._stack.enter_context(serve(other))
                self._stub = self._stack.enter_context(contextlib.closing(GnmiClient(server.address))).stub
            case "LINK":
                self._switch.port_set_link(int(where), fields == "up")
            case "ROUTE":
                self._route()
            case "FRAMES":
                for _ in range(int(where)):
                    self._switch.inject(1, DATAGRAM)
                self._switch.advance_to(self._switch.now_ps + int(fields))
            case "COUNT":
                octets, packets = fields.split()
                self._switch.write_counters("verdicts", int(where), int(octets), int(packets))
            case "GONE":
                self._switch.port_remove(int(where))
            case "GET":
                asked = gnmi.GetRequest(
                    path=[] if where == "-" else [path(where.strip("/"))], encoding=gnmi.PROTO
                )
                answer = self._stub.Get(text_format.Merge(fields, asked), timeout=60)
                return told(answer.notification[0])
            case "CAPABILITIES":
                answer = self._stub.Capabilities(gnmi.CapabilityRequest(), timeout=60)
                return [text_format.MessageToString(answer, as_one_line=True)]
            case "NEXT":
                return told(next(self._call).update)
            case "AGAIN":
                self._asked.put(gnmi.SubscribeRequest(poll=gnmi.Poll()))
                return self._until_sync()
            case "END" | "ENDED":
                if word == "END":
                    self._asked.put(None)
                return [str(message) for message in self._call]
            case mode:
                of_one, _, of_all = fields.partition("|")
                one = text_format.Merge(of_one, subscription(where.strip("/")))
                asked = request(one, mode=MODES.Value(mode))
                text_format.Merge(of_all, asked.subscribe)
                self._asked.put(asked)
                self._call = self._stub.Subscribe(iter(self._asked.get, None), timeout=60)
                return self._until_sync()
        return []

    def _route(self) -> None:
        """Admits all frames, and routes those for h2 to port 2."""
        with primary(self._address) as client:
            client.write(admit_all(self._names), (INSERT, route(self._names)))

    def close(self) -> None:
        """Ends the requests, for which gRPC uses a thread, and the stream."""
        self._asked.put(None)
        if self._call is not None:
            self._call.cancel()
        self._stack.close()

    def _until_sync(self) -> list[str]:
        found = []
        while not (message := next(self._call)).sync_response:
            found += told(message.update)
        return found


def told(notification: gnmi.Notification) -> list[str]:
    """Returns the changes in a notification, a line each: path and value in JSON, or `gone`;
    and for which target it is, if the client named one."""
    gone = [f"{text(one)} gone" for one in notification.delete]
    of = [f"of {notification.prefix.target}"] if notification.prefix.target else []
    return of + gone + [f"{text(one.path) or '/'} {in_json(one.val)}" for one in notification.update]


def in_json(value: gnmi.TypedValue) -> str:
    found = plain(value)
    return json.dumps(json.loads(found) if isinstance(found, bytes) else found)


@pytest.mark.parametrize("steps", SCRIPTS[1::2], ids=SCRIPTS[::2])
def test_steps_of_a_session_give_their_values(client, switch, address, fabric_names, steps):
    found: list[str] = []
    with contextlib.closing(Session(client, switch, address, fabric_names)) as session:
        for line in [line for line in steps.splitlines() if line and not line.startswith("#")]:
            if line.startswith("= "):
                found.remove(line.removeprefix("= "))
                continue
            assert found == [], line
            found = session.step(line)
    assert found == []


def test_what_a_request_may_ask_for_is_limited(client):
    assert refused(lambda: client.get(*["interfaces"] * 513)) == (
        "RESOURCE_EXHAUSTED",
        "513 paths in one request, the limit is 512; send several requests",
    )


def test_an_answer_has_a_limit_of_values(gnmi_clients):
    """Requests all of v1model's ports, sixty-four times."""
    with serve(Switch()) as server:
        client = gnmi_clients(server.address)
        code, message = refused(lambda: client.get(*["interfaces"] * 64))
    assert code == "RESOURCE_EXHAUSTED"
    assert message.endswith("values, the limit is 65536; ask for fewer paths")


@pytest.mark.parametrize("mode", [gnmi.SAMPLE, gnmi.TARGET_DEFINED])
def test_samples_come_at_their_interval_and_unchanged_ones_can_be_left_out(client, switch, mode):
    counter = f"{COUNTERS}/in-pkts"
    sampled = subscription(counter, mode, sample_interval=100_000_000)
    call = client.subscribe(request(sampled))
    assert until_sync(call) == {counter: 0}
    first, second = next(call).update, next(call).update
    assert updates(first) == updates(second) == {counter: 0}
    # Two intervals, minus the delay of the first message; far from the switch's own interval of ten seconds.
    assert 0 < second.timestamp - first.timestamp < 5 * 10**9
    call.cancel()
    sampled.suppress_redundant = True
    call = client.subscribe(request(sampled))
    until_sync(call)
    # Samples that have not changed are due meanwhile.
    time.sleep(0.3)
    switch.inject(2, DATAGRAM, 0)
    switch.advance_to(1_000_000)
    assert updates(next(call).update) == {counter: 1}
    call.cancel()


def test_the_switch_tells_states_on_change_and_samples_counters(client, switch):
    asked = subscription("interfaces/interface[name=port2]/state", sample_interval=100_000_000)
    call = client.subscribe(request(asked))
    assert len(until_sync(call)) == 10
    assert set(updates(next(call).update)) == {
        f"{COUNTERS}/{name}" for name in ("in-pkts", "in-octets", "out-pkts", "out-octets", "out-discards")
    }
    switch.port_set_link(2, False)
    while (found := updates(next(call).update)).keys() & {f"{COUNTERS}/in-pkts"}:
        pass
    assert found == {"interfaces/interface[name=port2]/state/oper-status": "DOWN"}
    call.cancel()


def test_the_lowest_interval_is_as_low_as_the_limit_of_values_allows(client):
    call = client.subscribe(request(*[subscription("", gnmi.SAMPLE)] * 20))
    until_sync(call)
    assert len(next(call).update.update) > 0
    call.cancel()
