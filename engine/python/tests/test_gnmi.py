"""gNMI of a switch: ports and queues in OpenConfig's models, on P4Runtime's socket."""

import json
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
from gnmi_client import GnmiClient, path, request, subscription, text, until_sync, updates
from google.protobuf import text_format
from p4rt_client import INSERT, Connect, Names, admit_all, lpm, one_shot, primary
from test_engine_twin import udp_frame

pytestmark = pytest.mark.system

COUNTERS = "interfaces/interface[name=port2]/state/counters"
QUEUE = "qos/interfaces/interface[interface-id=port2]/output/queues/queue[name=all]/state"
COMPILED = Path(__file__).parents[3] / "p4src" / "compiled"
STATUS = "interfaces/interface[name=*]/state/oper-status"
OPERATIONAL = ("type", "oper-status", "ifindex", "id")
JSON, JSON_IETF, PROTO = gnmi.JSON, gnmi.JSON_IETF, gnmi.PROTO


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


def forward(address: str, names: Names) -> None:
    """Routes 10.0.1.2 to port 2, whose queue marks above 2000 bytes and holds 6000."""
    send = names.action("forward", 2, 0x020100000001, 0x020000000102)
    route = names.entry("ipv4_route", lpm(1, 0x0A000102, 32), action=one_shot((send, 1)))
    with primary(address) as client:
        client.write(admit_all(names), (INSERT, route))


def test_capabilities_name_models_encodings_and_version(client: GnmiClient) -> None:
    answer = client.stub.Capabilities(gnmi.CapabilityRequest(), timeout=60)
    assert [one.name for one in answer.supported_models] == [
        "openconfig-interfaces",
        "openconfig-qos",
        "openconfig-p4rt",
        "eeon-qos",
    ]
    assert list(answer.supported_encodings) == [JSON, JSON_IETF, PROTO]
    assert answer.gNMI_version == "0.8.0"


def test_a_path_without_keys_has_every_port(client: GnmiClient, switch: Switch) -> None:
    switch.port_set_link(2, False)
    assert client.values("interfaces/interface/state/oper-status") == {
        "interfaces/interface[name=port1]/state/oper-status": "UP",
        "interfaces/interface[name=port2]/state/oper-status": "DOWN",
    }


def test_counters_are_those_of_the_port(
    client: GnmiClient, switch: Switch, address: str, fabric_names: Names
) -> None:
    forward(address, fabric_names)
    for _ in range(3):
        switch.inject(1, udp_frame(1000))
    switch.advance_to(1)
    waiting = client.values(QUEUE)
    assert waiting[f"{QUEUE}/queue-len"] == switch.queue_bytes(2) > 0
    switch.advance_to(10_000_000_000_000)
    # The frames have a route and no ECN: they are forwarded, and none is marked or dropped.
    assert client.values(COUNTERS) == {
        f"{COUNTERS}/in-pkts": 0,
        f"{COUNTERS}/in-octets": 0,
        f"{COUNTERS}/out-pkts": 3,
        f"{COUNTERS}/out-octets": 3000,
        f"{COUNTERS}/out-discards": 0,
    }
    assert client.values(QUEUE) == {
        f"{QUEUE}/name": "all",
        f"{QUEUE}/queue-len": 0,
        f"{QUEUE}/max-queue-len": switch.port_stats(2)["max_queue_bytes"],
        f"{QUEUE}/transmit-pkts": 3,
        f"{QUEUE}/transmit-octets": 3000,
        f"{QUEUE}/dropped-pkts": 0,
        f"{QUEUE}/ecn-marked-pkts": 0,
        f"{QUEUE}/ecn-marked-octets": 0,
    }


def test_marks_and_drops_are_what_the_program_has_counted_at_the_port(
    client: GnmiClient, switch: Switch
) -> None:
    # Cell port 2 << 7 | class << 4 | verdict: marked, dropped early, dropped at the tail; and one of port 1.
    for packet_class, verdict, packets in (
        (0, 1, 5),
        (6, 1, 2),
        (1, 2, 3),
        (2, 3, 4),
        (0, 0, 100),
        (0, 4, 7),
    ):
        switch.write_counters("verdicts", 2 << 7 | packet_class << 4 | verdict, packets * 10, packets)
    switch.write_counters("verdicts", 1 << 7 | 1, 90, 9)
    found = client.values(QUEUE)
    assert found[f"{QUEUE}/ecn-marked-pkts"] == 7
    assert found[f"{QUEUE}/ecn-marked-octets"] == 70
    assert found[f"{QUEUE}/dropped-pkts"] == 7


def test_the_places_of_verdicts_are_those_of_the_program(fabric_program: Program) -> None:
    constants = json.loads((COMPILED / "constants.json").read_text())
    verdicts = constants["verdict_t"]
    assert (
        constants["constants"]["VERDICT_CELLS"],
        constants["constants"]["RECEIVED_CELLS"],
    ) == (model._VERDICT_CELLS, model._RECEIVED_CELLS)
    assert tuple(verdicts[name] for name in ("MARKED", "EARLY_DROPPED", "TAIL_DROPPED")) == (
        model.MARKED,
        model.EARLY_DROPPED,
        model.TAIL_DROPPED,
    )


def test_another_program_has_counters_and_no_marks(program: Program, gnmi_clients: Connect) -> None:
    with serve(Switch(program, ports=[Port(1)])) as server:
        found = gnmi_clients(server.address).values("qos")
    names = {name.rpartition("/")[2] for name in found}
    assert "transmit-pkts" in names
    assert not {name for name in names if name.startswith("ecn-")}


def test_a_switch_without_a_program_has_ports(gnmi_clients: Connect) -> None:
    with serve(Switch(ports=[Port(1)])) as server:
        client = gnmi_clients(server.address)
        assert client.values("interfaces/interface/state/oper-status") == {
            "interfaces/interface[name=port1]/state/oper-status": "UP"
        }
        code, message = refused(lambda: client.get("interfaces/interface[name=port1]/state/counters"))
        assert client.values("interfaces/interface/state/counters") == {}
    assert (code, message) == (
        "NOT_FOUND",
        "path /interfaces/interface[name=port1]/state/counters does not exist on this switch at present",
    )


def test_a_switch_without_ports_has_an_empty_answer_for_all_of_them_and_none_for_one(
    gnmi_clients: Connect,
) -> None:
    with serve(Switch(ports=[])) as server:
        client = gnmi_clients(server.address)
        for asked in ("", "interfaces", "interfaces/interface[name=*]", "qos/interfaces/interface/state"):
            (notification,) = client.get(asked)
            assert (notification.timestamp > 0, list(notification.update)) == (True, [])
            (notification,) = client.get(asked, encoding=JSON_IETF)
            assert list(notification.update) == []
        for asked in ("interfaces/interface[name=port1]", "qos/interfaces/interface[interface-id=port1]"):
            code, _ = refused(lambda asked=asked: client.get(asked))
            assert code == "NOT_FOUND"


@pytest.mark.parametrize(
    "element",
    [
        ["interfaces", "interface[name=port1]", "name"],
        ["interfaces", r"interface[name=por\t1]", "name"],
    ],
)
def test_a_path_in_elem_and_in_the_deprecated_element_is_followed(
    client: GnmiClient, element: list[str]
) -> None:
    asked = path("interfaces/interface[name=port1]/name")
    asked.element.extend(element)
    prefix = gnmi.Path(target="leaf1")
    answer = client.stub.Get(gnmi.GetRequest(prefix=prefix, path=[asked], encoding=PROTO), timeout=60)
    assert updates(answer.notification[0]) == {"interfaces/interface[name=port1]/name": "port1"}


def test_a_subtree_in_json_ietf_has_modules_and_numbers_of_64_bits_as_text(client: GnmiClient) -> None:
    (notification,) = client.get("interfaces/interface[name=port2]", encoding=JSON_IETF)
    (update,) = notification.update
    assert text(update.path) == "interfaces/interface[name=port2]"
    assert json.loads(update.val.json_ietf_val) == {
        "openconfig-interfaces:name": "port2",
        "openconfig-interfaces:config": {"name": "port2"},
        "openconfig-interfaces:state": {
            "name": "port2",
            "type": "iana-if-type:ethernetCsmacd",
            "oper-status": "UP",
            "ifindex": 2,
            "openconfig-p4rt:id": 2,
            "counters": {
                "in-pkts": "0",
                "in-octets": "0",
                "out-pkts": "0",
                "out-octets": "0",
                "out-discards": "0",
            },
        },
    }


def test_the_root_in_json_has_both_trees_with_lists(client: GnmiClient) -> None:
    (notification,) = client.get("", encoding=JSON)
    (update,) = notification.update
    tree = json.loads(update.val.json_val)
    assert [one["name"] for one in tree["interfaces"]["interface"]] == ["port1", "port2"]
    (queue,) = tree["qos"]["interfaces"]["interface"][1]["output"]["queues"]["queue"]
    assert queue["state"]["ecn-marked-pkts"] == 0
    assert tree["interfaces"]["interface"][0]["state"]["type"] == "ethernetCsmacd"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (gnmi.GetRequest.CONFIG, {"name", "config/name"}),
        (gnmi.GetRequest.OPERATIONAL, {"name", *(f"state/{leaf}" for leaf in OPERATIONAL)}),
    ],
)
def test_a_type_of_data_chooses_leaves(client: GnmiClient, kind: int, expected: set[str]) -> None:
    base = "interfaces/interface[name=port1]"
    found = client.values(base, type=kind)
    assert {name.removeprefix(f"{base}/") for name in found if "counters" not in name} == expected


@pytest.mark.parametrize("kind", gnmi.GetRequest.DataType.values())
def test_every_type_of_data_names_the_entries_of_lists(client: GnmiClient, kind: int) -> None:
    (notification,) = client.get("", type=kind, encoding=JSON)
    tree = json.loads(notification.update[0].val.json_val)
    ports = tree["interfaces"]["interface"]
    queues = tree["qos"]["interfaces"]["interface"]
    assert [port["name"] for port in ports] == [one["interface-id"] for one in queues] == ["port1", "port2"]
    assert [one["output"]["queues"]["queue"][0]["name"] for one in queues] == ["all", "all"]


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (("openconfig-interfaces",), {"name", "type", "oper-status", "ifindex", "counters"}),
        (("openconfig-p4rt",), {"id"}),
        (("openconfig-interfaces", "openconfig-p4rt"), {"name", "counters", *OPERATIONAL}),
    ],
)
def test_the_models_that_a_client_names_choose_leaves(
    client: GnmiClient, named: tuple[str, ...], expected: set[str]
) -> None:
    models = [gnmi.ModelData(name=name) for name in named]
    (notification,) = client.get("", use_models=models, encoding=JSON)
    tree = json.loads(notification.update[0].val.json_val)
    assert tree.keys() == {"interfaces"}
    ports = tree["interfaces"]["interface"]
    assert [port["name"] for port in ports] == ["port1", "port2"]
    assert all(port["state"].keys() == expected for port in ports)
    asked = request(subscription(""), mode=gnmi.SubscriptionList.ONCE, use_models=models)
    assert until_sync(client.subscribe(asked)) == client.values("", use_models=models)


def test_a_prefix_is_in_front_of_every_path_and_its_target_comes_back(client: GnmiClient) -> None:
    prefix = path("interfaces/interface[name=port1]")
    prefix.target = "leaf1"
    (notification,) = client.get("state/oper-status", prefix=prefix)
    assert updates(notification) == {"interfaces/interface[name=port1]/state/oper-status": "UP"}
    assert notification.prefix.target == "leaf1"


def test_a_wildcard_that_stands_for_two_lists_takes_the_one_with_the_key(client: GnmiClient) -> None:
    asked = gnmi.Path(elem=[{"name": "*"}, {"name": "interface", "key": {"name": "port1"}}, {"name": "name"}])
    answer = client.stub.Get(gnmi.GetRequest(path=[asked], encoding=PROTO), timeout=60)
    assert updates(answer.notification[0]) == {"interfaces/interface[name=port1]/name": "port1"}


REFUSAL = re.compile(r'(?P<code>\w+) "(?P<message>[^"]*)" (?P<call>\w+) (?P<text>.*)')
REFUSALS = [
    REFUSAL.fullmatch(line)
    for line in (Path(__file__).parent / "gnmi_refusals.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
REQUESTS = {"Get": gnmi.GetRequest, "Set": gnmi.SetRequest, "Subscribe": gnmi.SubscribeRequest}


@pytest.mark.parametrize("line", REFUSALS, ids=lambda line: line["message"][:60])
def test_a_request_that_cannot_be_followed_is_refused_in_words(
    client: GnmiClient, line: re.Match[str]
) -> None:
    asked = text_format.Parse(line["text"], REQUESTS[line["call"]]())
    calls: dict[str, Callable[[], object]] = {
        "Get": lambda: client.stub.Get(asked, timeout=60),
        "Set": lambda: client.stub.Set(asked, timeout=60),
        "Subscribe": lambda: next(client.subscribe(asked)),
    }
    assert refused(calls[line["call"]]) == (line["code"], line["message"])


def test_what_a_request_may_ask_for_is_limited(client: GnmiClient) -> None:
    assert refused(lambda: client.get(*["interfaces"] * 513)) == (
        "RESOURCE_EXHAUSTED",
        "513 paths in one request, the limit is 512; send several requests",
    )


def test_an_answer_has_a_limit_of_values(gnmi_clients: Connect) -> None:
    """Requests all of v1model's ports, sixty-four times."""
    with serve(Switch()) as server:
        client = gnmi_clients(server.address)
        code, message = refused(lambda: client.get(*["interfaces"] * 64))
    assert code == "RESOURCE_EXHAUSTED"
    assert message.endswith("values, the limit is 65536; ask for fewer paths")


def test_bytes_that_are_no_message_are_refused(client: GnmiClient) -> None:
    get: Any = client.channel.unary_unary("/gnmi.gNMI/Get")
    assert refused(lambda: get(b"\xff\xff\xff", timeout=60)) == (
        "INVALID_ARGUMENT",
        "the request is not a gnmi.GetRequest",
    )
    subscribe: Any = client.channel.stream_stream("/gnmi.gNMI/Subscribe")
    assert refused(lambda: list(subscribe(iter([b"\xff\xff\xff"]), timeout=60))) == (
        "INVALID_ARGUMENT",
        "the request is not a gnmi.SubscribeRequest",
    )


def test_once_sends_all_values_and_ends(client: GnmiClient) -> None:
    call = client.subscribe(request(subscription(STATUS), mode=gnmi.SubscriptionList.ONCE))
    assert until_sync(call) == {
        "interfaces/interface[name=port1]/state/oper-status": "UP",
        "interfaces/interface[name=port2]/state/oper-status": "UP",
    }
    assert list(call) == []


@pytest.mark.parametrize(("updates_only", "at_first"), [(False, {"UP"}), (True, set())])
def test_poll_sends_all_values_each_time_it_is_asked(
    client: GnmiClient, switch: Switch, updates_only: bool, at_first: set[str]
) -> None:
    asks: Any = __import__("queue").Queue()
    asks.put(request(subscription(STATUS), mode=gnmi.SubscriptionList.POLL, updates_only=updates_only))
    call = client.stub.Subscribe(iter(asks.get, None), timeout=60)
    assert set(until_sync(call).values()) == at_first
    switch.port_set_link(1, False)
    asks.put(gnmi.SubscribeRequest(poll=gnmi.Poll()))
    assert until_sync(call)["interfaces/interface[name=port1]/state/oper-status"] == "DOWN"
    asks.put(None)
    assert list(call) == []


def test_on_change_sends_the_port_that_changed_and_nothing_else(client: GnmiClient, switch: Switch) -> None:
    call = client.subscribe(request(subscription(STATUS, gnmi.ON_CHANGE)))
    assert len(until_sync(call)) == 2
    switch.port_set_link(2, False)
    assert updates(next(call).update) == {"interfaces/interface[name=port2]/state/oper-status": "DOWN"}
    switch.port_set_link(2, True)
    assert updates(next(call).update) == {"interfaces/interface[name=port2]/state/oper-status": "UP"}
    call.cancel()


def test_on_change_tells_that_a_port_is_gone(client: GnmiClient, switch: Switch) -> None:
    call = client.subscribe(request(subscription(STATUS, gnmi.ON_CHANGE)))
    until_sync(call)
    switch.port_remove(2)
    notification = next(call).update
    assert [text(one) for one in notification.delete] == [
        "interfaces/interface[name=port2]/state/oper-status"
    ]
    assert not notification.update
    call.cancel()


@pytest.mark.parametrize("mode", [gnmi.SAMPLE, gnmi.TARGET_DEFINED])
def test_samples_come_at_their_interval_and_unchanged_ones_can_be_left_out(
    client: GnmiClient, switch: Switch, mode: int
) -> None:
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
    switch.inject(2, udp_frame(), 0)
    switch.advance_to(1_000_000)
    assert updates(next(call).update) == {counter: 1}
    call.cancel()


def test_a_heartbeat_repeats_what_has_not_changed(client: GnmiClient) -> None:
    call = client.subscribe(request(subscription(STATUS, gnmi.ON_CHANGE, heartbeat_interval=100_000_000)))
    before = until_sync(call)
    assert updates(next(call).update) == before
    call.cancel()


@pytest.mark.parametrize("mode", [gnmi.SAMPLE, gnmi.TARGET_DEFINED])
def test_a_heartbeat_repeats_a_sample_that_is_not_due_yet(client: GnmiClient, mode: int) -> None:
    counter = f"{COUNTERS}/in-pkts"
    sampled = subscription(
        counter, mode, sample_interval=3600 * 10**9, suppress_redundant=True, heartbeat_interval=10**8
    )
    call = client.subscribe(request(sampled))
    assert until_sync(call) == {counter: 0}
    assert updates(next(call).update) == updates(next(call).update) == {counter: 0}
    call.cancel()


def test_the_switch_tells_states_on_change_and_samples_counters(client: GnmiClient, switch: Switch) -> None:
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


def test_only_updates_are_sent_where_that_is_asked_for(client: GnmiClient, switch: Switch) -> None:
    call = client.subscribe(request(subscription(STATUS, gnmi.ON_CHANGE), updates_only=True))
    assert until_sync(call) == {}
    switch.port_set_link(1, False)
    assert updates(next(call).update) == {"interfaces/interface[name=port1]/state/oper-status": "DOWN"}
    call.cancel()


def test_the_lowest_interval_is_as_low_as_the_limit_of_values_allows(client: GnmiClient) -> None:
    call = client.subscribe(request(*[subscription("", gnmi.SAMPLE)] * 20))
    until_sync(call)
    assert len(next(call).update.update) > 0
    call.cancel()


def test_a_second_request_ends_a_stream(client: GnmiClient) -> None:
    asked = request(subscription(STATUS, gnmi.ON_CHANGE))
    code, message = refused(lambda: list(client.subscribe(asked, asked)))
    assert code == "INVALID_ARGUMENT"
    assert message.startswith("after its first message")
