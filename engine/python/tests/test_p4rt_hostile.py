"""Messages that no honest client sends: they are refused, and the server's state is the switch's."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import grpc
import pytest
from eeon_engine import Switch
from eeon_engine.p4runtime import Server, serve
from eeon_engine.p4runtime.server.rooms import Room
from finsy.proto import p4r, rpc_code
from p4rt_client import INSERT, Client, Failed, codes, exact, failure, p4info, primary
from test_p4rt_read_limits import Served

from control_plane.tests.waiting import wait_until
from ptf_tests.lib.packets import keyed

pytestmark = pytest.mark.system


def arbitrated(client: Client, status: int | None = None) -> Client:
    """Returns the client after its arbitration, which ends with this status."""
    assert client.arbitrate().status.code == status or status is None
    return client


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("p4.v1.P4Runtime/Write", "the request is not a p4.v1.WriteRequest"),
        ("p4.v1.P4Runtime/Read", "the request is not a p4.v1.ReadRequest"),
        ("p4.v1.P4Runtime/SetForwardingPipelineConfig", "p4.v1.SetForwardingPipelineConfigRequest"),
        ("p4.v1.P4Runtime/StreamChannel", ""),
        ("gnmi.gNMI/Get", "the request is not a gnmi.GetRequest"),
        ("gnmi.gNMI/Subscribe", "the request is not a gnmi.SubscribeRequest"),
    ],
)
def test_bytes_that_are_no_message_end_the_call_alone(client, method, said):
    with pytest.raises(grpc.RpcError) as caught:
        list(client.channel.stream_stream(f"/{method}")(iter([b"\xff" * 20]), timeout=60))
    assert said in caught.value.details()
    assert not said or caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert client.read(p4r.TableEntry())


def test_more_streams_than_the_server_keeps_are_exhausted_and_calls_still_get_through(connect, names):
    clients = [arbitrated(connect(election_id=number)) for number in range(64, 0, -1)]
    with pytest.raises(Failed, match="64 clients"):
        connect().arbitrate(election_id=0)
    entry = names.entry("exact_table", exact(1, 1), action=names.action("drop"))
    clients[0].write((INSERT, entry))


def test_where_all_streams_are_taken_a_backup_makes_way_for_a_primary(connect):
    clients = [arbitrated(connect(election_id=number)) for number in range(64, 0, -1)]
    primary = arbitrated(connect(election_id=65), rpc_code.OK)
    failure(rpc_code.RESOURCE_EXHAUSTED, "a primary took this place", clients[-1].receive)
    # A primary keeps its place, whatever role another client invents.
    for number in range(40):
        with pytest.raises(Failed):
            connect(role=f"made up {number}").arbitrate()
    primary.write()


def test_roles_that_nobody_knows_leave_room_for_those_of_the_program(resource_server, clients):
    answers = []
    for number in range(40):
        try:
            answers.append(clients(resource_server.address, role=f"made up {number}").arbitrate().status.code)
        except Failed as failed:
            answers.append(failed.code)
    assert answers == [rpc_code.OK] * 32 + [rpc_code.RESOURCE_EXHAUSTED] * 8
    arbitrated(clients(resource_server.address, role="routing"), rpc_code.OK)


def test_streams_that_never_speak_keep_nobody_out(connect, names):
    silent = [connect() for _ in range(100)]
    for stranger in silent[:-20]:
        # The last endings show that all streams were accepted: each stream was ended for a later one.
        failure(rpc_code.DEADLINE_EXCEEDED, "sent no MasterArbitrationUpdate", stranger.receive)
    primary = arbitrated(connect(), rpc_code.OK)
    entry = names.entry("exact_table", exact(1, 1), action=names.action("drop"))
    primary.write((INSERT, entry))
    assert primary.read(p4r.TableEntry(table_id=entry.table_id)) == [entry]


def begin(
    server: Server, method: str, channel: grpc.Channel | None = None
) -> tuple[grpc.Channel, grpc.Future]:
    """Starts a call without a request, on a new connection if none is given."""
    if channel is None:
        channel = grpc.insecure_channel(server.address, options=[("grpc.use_local_subchannel_pool", 1)])
    never = threading.Event()

    def requests() -> Iterator[bytes]:
        never.wait(120)
        yield b""

    call = channel.stream_unary(f"/p4.v1.P4Runtime/{method}").future(requests(), timeout=120)
    return channel, call


def test_a_primarys_request_makes_way_for_nobody(server, client):
    _, own = begin(server, "Write", client.channel)
    strangers = [begin(server, "Write") for _ in range(80)]
    for _, call in strangers[:20]:
        assert call.exception(timeout=60).code() == grpc.StatusCode.CANCELLED
    assert not own.done()
    own.cancel()
    for channel, _ in strangers:
        channel.close()


@pytest.mark.parametrize("method", ["Write", "Read", "Capabilities", "SetForwardingPipelineConfig"])
def test_requests_that_never_come_keep_nobody_out(server, client, names, method):
    calls = [begin(server, method) for _ in range(80)]
    # The first calls have been ended, so all later ones were accepted.
    for _, call in calls[:20]:
        assert call.exception(timeout=60).code() == grpc.StatusCode.CANCELLED
    entry = names.entry("exact_table", exact(1, 1), action=names.action("drop"))
    client.write((INSERT, entry))
    assert client.read(p4r.TableEntry(table_id=entry.table_id)) == [entry]
    assert client.pipeline().p4info
    for channel, _ in calls:
        channel.close()


def test_a_stream_and_a_request_that_never_come_are_given_up_when_their_time_is_over(
    monkeypatch, switch, clients
):
    for name in ("FIRST_MESSAGE_SECONDS", "REQUEST_SECONDS"):
        monkeypatch.setattr(f"eeon_engine.p4runtime.server.calls.{name}", 0.2)
    with serve(switch, p4info=p4info()) as quick:
        said = "sent no MasterArbitrationUpdate"
        failure(rpc_code.DEADLINE_EXCEEDED, said, clients(quick.address).receive)
        channel, call = begin(quick, "Write")
        assert call.exception(timeout=60).code() == grpc.StatusCode.CANCELLED  # type: ignore[attr-defined]
        channel.close()


@pytest.mark.nightly
def test_clients_that_do_not_take_their_answers_keep_nobody_out(monkeypatch, clients):
    entered = [0.0]

    class TimedRoom(Room):
        def enter(self, give_up: Callable[[], object]) -> object:
            entered[0] = time.monotonic()
            return super().enter(give_up)

    monkeypatch.setattr("eeon_engine.p4runtime.server.calls.Room", TimedRoom)
    with closing(Served(200_000)) as served:
        # Each response is megabytes long, and the client reads none of it.
        request = p4r.ReadRequest(device_id=1, entities=[p4r.Entity(register_entry=served.register)])
        readers = [clients(served.server.address) for _ in range(12)]
        answers = [reader.stub.Read(request, timeout=120) for reader in readers]
        for answer in answers:
            answer.initial_metadata()
        # Messages are sent until all buffers are full; then each waits longer than any that a client reads.
        wait_until(lambda: time.monotonic() - entered[0] >= 1.5, "answers are taken that nobody reads")
        index = p4r.RegisterEntry(register_id=served.register.register_id, index=p4r.Index(index=1))
        for _ in range(5):
            assert len(served.client.read(index)) == 1
        assert len(served.client.read(served.register)) == 200_000


def test_a_request_beyond_what_its_kind_needs_is_refused(client):
    large = p4r.TableEntry(metadata=bytes(1 << 20))
    failure(rpc_code.RESOURCE_EXHAUSTED, "the limit is 1048576", client.read, large)


def test_a_client_that_does_not_read_its_stream_holds_nobody_up(connect, client, switch, names):
    """Packets for a primary that reads nothing: some are queued, the rest are dropped and logged, and other
    clients are served."""
    client.write((INSERT, names.entry("exact_table", exact(1, 9), action=names.action("to_cpu"))))
    other = arbitrated(connect(election_id=0))
    # More than the network and the outbox can hold together.
    big = keyed(9, payload=bytes(16_000))
    for _ in range(40):
        for _ in range(250):
            switch.inject(1, big)
        switch.advance_to(switch.now_ps + 1000)
    assert len(other.read(p4r.TableEntry(table_id=names["exact_table"]))) == 1
    assert other.arbitrate(election_id=0).status.code == rpc_code.ALREADY_EXISTS


def test_concurrent_writers_of_one_primary_are_serial(connect, client, names):
    """Eight connections write with the primary's election id: each update has one answer, none is lost."""

    def work(number: int) -> int:
        writer = connect()
        action = names.action("forward", number)
        entries = [names.entry("exact_table", exact(1, key), action=action) for key in range(8)]
        inserted = 0
        for entry in entries:
            try:
                writer.write((INSERT, entry))
                inserted += 1
            except Failed as failed:
                assert codes(failed) == [rpc_code.ALREADY_EXISTS]
        return inserted

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) == 8
    assert len(client.read(p4r.TableEntry(table_id=names["exact_table"]))) == 8


def test_a_message_beyond_the_servers_limit_is_exhausted_and_the_next_is_served(program, names):
    with (
        serve(Switch(program), p4info=p4info(), max_message_bytes=1 << 20) as small,
        primary(small.address) as client,
    ):
        entry = names.entry("exact_table", exact(1, 9), action=names.action("drop"), metadata=bytes(1 << 20))
        failure(rpc_code.RESOURCE_EXHAUSTED, "", client.write, (INSERT, entry))
        assert client.read(p4r.TableEntry())


def test_a_call_makes_way_only_when_it_has_waited_for_the_grace_of_its_room():
    room = Room(1, seconds=60, grace_s=0.1)
    ended: list[str] = []
    room.enter(lambda: ended.append("first"))
    room.enter(lambda: ended.append("second"))
    assert ended == []
    time.sleep(0.1)
    room.sweep()
    assert ended == ["first"]
