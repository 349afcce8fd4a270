"""The Thrift client: registers, queues and the clock of a switch, and peers that are not switches.

With the engine's Thrift server, BMv2's if it is installed, and other servers.
"""

import asyncio
import contextlib
import shutil
import socket
import struct
import threading

import pytest
from bmv2_process import start_bmv2
from eeon_control import config, fabric, program, topology
from eeon_control.config import Bmv2QueueValues
from eeon_control.errors import FabricError, NoRegisters
from eeon_control.fabric import read, sync, thrift
from eeon_control.fabric.read import QueueLook
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.thrift import ThriftClient
from eeon_control.targets import Target
from eeon_control.units import Duration
from eeon_control.views.eee import VIEW, eee
from engine_switches import ONE_SWITCH, TICK_PS, serving_thrift_too
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.system


FABRIC = topology.from_text(ONE_SWITCH, "one-switch.yaml")
BMV2_TICK_PS = 1_000_000


@pytest.fixture(params=["engine", "bmv2"])
def served(request, tmp_path):
    """Yields the target of a switch of either kind that runs the program."""
    with contextlib.ExitStack() as stack:
        if request.param == "bmv2":
            if shutil.which("simple_switch_grpc") is None:
                pytest.skip("simple_switch_grpc is not on PATH")
            bmv2 = stack.enter_context(start_bmv2(tmp_path))
            found, tick_ps = Target(bmv2.address, 1, None, bmv2.thrift), BMV2_TICK_PS
        else:
            found, tick_ps = stack.enter_context(serving_thrift_too()), TICK_PS
        fabric.apply_sync(FABRIC, config.load("drop_tail", "eee_120us100"), {"leaf1": found}, tick_ps)
        yield found


def cells(target: Target, *wanted: tuple[str, int], name: str = "leaf1") -> dict[tuple[str, int], int]:
    return asyncio.run(thrift.read(name, target, program.load(), wanted))


def test_registers_and_the_clock_are_read(served):
    wanted = ("wakes", 1), ("occupancy_bytes", 7)
    assert cells(served, *wanted) == dict.fromkeys(wanted, 0)
    assert asyncio.run(thrift.ask("leaf1", served, ThriftClient.elapsed_us)) >= 0


def test_a_cell_that_a_register_has_not_is_told(served):
    with pytest.raises(FabricError, match="leaf1: register wakes has 512 cells, none for 512"):
        cells(served, ("wakes", 512))


def test_queues_are_looked_at_where_p4runtime_serves_no_registers(served, monkeypatch):
    async def without_registers(session, cells):
        raise NoRegisters("leaf1: no registers")

    async def look() -> dict[int, QueueLook]:
        async with P4RuntimeSession("leaf1", served, program.load().schema()) as session:
            return await read.look_at_queues(session, served, [11], program.load())

    monkeypatch.setattr(read, "_over_p4runtime", without_registers)
    assert sync.run(look()) == {11: QueueLook(0, 0, 0)}


@pytest.mark.parametrize("served", ["bmv2"], indirect=True)
def test_a_link_that_sends_nothing_is_asleep_by_the_clock_of_a_switch_without_registers_over_p4runtime(
    served,
):
    seen = sync.run(read.observe(FABRIC, {"leaf1": served}, VIEW.wanted))
    (row,) = eee(FABRIC, seen, Duration(BMV2_TICK_PS)).rows
    assert (row["mode"], row["state"]) == ("coalesce", "active") and row["lpi_share"] > 0.5
    not_told = {"leaf1": Target(served.address, 1)}
    assert sync.run(read.observe(FABRIC, not_told, VIEW.wanted)).switches["leaf1"].registers is None


def test_queue_depth_and_rate_are_taken(served):
    asyncio.run(
        thrift.set_queues("leaf1", served, {1: Bmv2QueueValues(1024, 8000), 2: Bmv2QueueValues(64, 0)})
    )


def test_the_thrift_port_of_another_switch_is_noticed(served):
    other = Target(served.address, 2, None, served.thrift)
    with pytest.raises(
        FabricError, match=r"this is the Thrift port of device 1, not of device 2; correct `thrift`"
    ):
        cells(other, ("wakes", 1), name="leaf2")


def test_a_register_that_the_program_has_not_is_named(served):
    with (
        ThriftClient("leaf1", served.thrift) as one,
        pytest.raises(FabricError, match=r"'no_such',.*INVALID_REGISTER_NAME"),
    ):
        one.register("no_such")


def test_a_switch_without_the_program_is_told_so(served, monkeypatch):
    monkeypatch.setattr(ThriftClient, "program_md5", lambda self: b"\0" * 16)
    monkeypatch.setattr(ThriftClient, "program_json", lambda self: b"{}")
    with pytest.raises(FabricError, match="leaf1: does not run this program"):
        cells(served, ("wakes", 1))


def test_a_program_of_another_file_that_does_the_same_is_read(served, monkeypatch):
    monkeypatch.setattr(ThriftClient, "program_md5", lambda self: b"\0" * 16)
    assert cells(served, ("wakes", 1)) == {("wakes", 1): 0}


def test_the_p4runtime_port_is_told_from_a_thrift_port(served):
    wrong = Target(served.address, 1, None, served.address)
    with pytest.raises(FabricError, match="Thrift"):
        asyncio.run(thrift.ask("leaf1", wrong, ThriftClient.elapsed_us))


@pytest.mark.parametrize(
    ("address", "says"),
    [
        (None, "leaf1: no Thrift server is known; give `thrift` in the targets file"),
        ("127.0.0.1:1", r"leaf1 \(Thrift 127.0.0.1:1\): Connection refused"),
    ],
)
def test_a_server_that_is_unknown_or_not_there_is_told(address, says):
    with pytest.raises(FabricError, match=says):
        asyncio.run(thrift.ask("leaf1", Target("127.0.0.1:1", 1, None, address), ThriftClient.elapsed_us))


@contextlib.contextmanager
def stranger(answer: bytes, *, stays: bool = False):
    """Yields a server that answers every call with the same bytes."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(20)
                    connection.recv(4096)
                    connection.sendall(answer)
                    if stays:
                        over.wait(20)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(20)


def reply(payload: bytes, name: bytes = b"bm_register_read_all", kind: int = 2) -> bytes:
    return struct.pack("!Ii", 0x80010000 | kind, len(name)) + name + struct.pack("!i", 0) + payload


def exception(kind: int) -> bytes:
    """Returns an application exception with a text."""
    payload = struct.pack("!bhi", STRING, 1, 3) + b"why" + struct.pack("!bhi", 8, 2, kind) + b"\0"
    return reply(payload, kind=3)


def said_about(address: str, **more) -> str:
    with pytest.raises(FabricError) as error, ThriftClient("leaf1", address, **more) as one:
        one.register("wakes")
    return str(error.value)


STRING, LIST, I64, STRUCT, MAP = 11, 15, 10, 12, 13
TOO_MUCH = "the answer is not Thrift, or is larger than 1048576 bytes"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        # A list of more elements than bytes are allowed, and of elements that take no bytes.
        (reply(struct.pack("!bhbi", LIST, 0, I64, 2**31 - 1)), TOO_MUCH),
        (reply(struct.pack("!bhbi", LIST, 0, 0, 2**31 - 1)), TOO_MUCH),
        # A list of a type that Thrift has not, and of less than nothing.
        (reply(struct.pack("!bhbi", LIST, 0, 99, 5)), TOO_MUCH),
        (reply(struct.pack("!bhbi", LIST, 0, I64, -1)), TOO_MUCH),
        # A text of two gigabytes, and of negative length.
        (reply(struct.pack("!bhi", STRING, 9, 2**31 - 1)), TOO_MUCH),
        (reply(struct.pack("!bhi", STRING, 9, -5)), TOO_MUCH),
        # Endless nesting, and a map of maps.
        (reply(struct.pack("!bh", STRUCT, 9) * 2000), TOO_MUCH),
        (reply(struct.pack("!bhbbi", MAP, 9, MAP, MAP, 2**30)), TOO_MUCH),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "is not Thrift"),
        (b"", "the server closed the connection; it has no service standard"),
        (exception(6), "bm_register_read_all: why"),
        (exception(1), "does not know bm_register_read_all"),
    ],
)
def test_an_answer_of_a_stranger_is_told_and_one_without_bounds_is_not_read(answer, says):
    with stranger(answer) as address:
        assert says in said_about(address)


def test_a_peer_that_stays_silent_is_waited_for_no_longer_than_the_deadline():
    with stranger(reply(b"")[:10], stays=True) as address:
        assert "no answer within 0.2 s" in said_about(address, seconds=0.2)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cells=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20),
    cut=st.integers(0, 200),
    flips=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=4),
)
def test_damaged_answers_end_in_values_or_in_an_error_of_this_package(cells, cut, flips):
    whole = bytearray(
        reply(struct.pack("!bhbi", LIST, 0, I64, len(cells)) + struct.pack(f"!{len(cells)}q", *cells) + b"\0")
    )
    for at, value in flips:
        if at < len(whole):
            whole[at] = value
    end = len(whole) - min(cut, len(whole)) if cut % 3 == 0 else None
    with (
        stranger(bytes(whole[:end])) as address,
        contextlib.suppress(FabricError),
        ThriftClient("leaf1", address) as one,
    ):
        assert all(0 <= cell < 2**64 for cell in one.register("wakes"))
