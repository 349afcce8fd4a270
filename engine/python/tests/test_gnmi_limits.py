"""The cost of gNMI clients, and the limits that keep them from blocking others."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from eeon_engine import Port, Program, Switch
from eeon_engine.gnmi import calls as gnmi_calls
from eeon_engine.p4runtime import serve
from eeon_engine.p4runtime.server import calls as server_calls
from finsy.proto import gnmi, gnmi_grpc
from gnmi_client import GnmiClient, request, subscription, until_sync
from p4rt_client import p4info
from test_gnmi import STATUS, refused

from control_plane.tests.waiting import SECONDS, wait_until

pytestmark = pytest.mark.system

ON_CHANGE = request(subscription(STATUS, gnmi.ON_CHANGE))


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Serves a switch with two places for subscriptions, and with other limits that a test sets."""
    with contextlib.ExitStack() as stack:

        def serving(program: Program | None = None, **limits: float) -> str:
            for name, value in {"MAX_STREAMS": 2, **limits}.items():
                monkeypatch.setattr(gnmi_calls if name == "MAX_STREAMS" else server_calls, name, value)
            switch = Switch(program, ports=[Port(number) for number in range(1, 401)])
            info = None if program is None else p4info()
            return stack.enter_context(serve(switch, p4info=info)).address

        yield serving


def opened(client: GnmiClient) -> Any:
    call = client.subscribe(ON_CHANGE)
    until_sync(call)
    return call


def has_place(client: GnmiClient) -> bool:
    """Returns whether there is a place for another subscription."""
    try:
        opened(client).cancel()
    except grpc.RpcError as error:
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        return False
    return True


def test_a_subscription_too_many_is_refused_until_one_ends(served, gnmi_clients):
    client = gnmi_clients(served())
    first, _ = opened(client), opened(client)
    message = "2 subscriptions are open, the limit; end one, or use Get"
    assert refused(lambda: next(client.subscribe(ON_CHANGE))) == ("RESOURCE_EXHAUSTED", message)
    # A client that reads once is still served.
    assert client.get("interfaces/interface[name=port1]/name")
    first.cancel()
    wait_until(lambda: has_place(client), "the place is not given back")


def test_a_primary_has_places_that_others_do_not_take(served, program, gnmi_clients, clients):
    address = served(program)
    stranger, own, primary = gnmi_clients(address), gnmi_clients(address), clients(address)
    _ = opened(stranger), opened(stranger)
    primary.arbitrate()
    # On the primary's single connection, as in the controller.
    own.stub = gnmi_grpc.gNMIStub(primary.channel)
    opened(own).cancel()


def test_a_stream_without_a_message_makes_way(served, gnmi_clients):
    client = gnmi_clients(served(MAX_STREAMS=8, MAX_SILENT_STREAMS=1))
    silent = client.subscribe()
    deadline = time.monotonic() + SECONDS
    while silent.is_active() and time.monotonic() < deadline:
        call = client.subscribe()
        time.sleep(0.05)
        call.cancel()
    assert not silent.is_active(), "the silent stream keeps its place"


def test_who_takes_no_answers_is_ended_and_gives_the_place_back(served, gnmi_clients):
    address = served(MAX_STREAMS=1, SEND_SECONDS=0.5)
    # Some megabytes each time, which the client does not read.
    asked = request(*[subscription("interfaces")] * 11, mode=gnmi.SubscriptionList.POLL)
    polls = [gnmi.SubscribeRequest(poll=gnmi.Poll())] * 50
    stalled = gnmi_clients(address).subscribe(asked, *polls, timeout=2 * SECONDS)
    # It has its place, and reads nothing more.
    next(stalled)
    other = gnmi_clients(address)
    wait_until(lambda: has_place(other), "the place is not given back")
