"""Hostile clients of the Thrift server: malformed and endless calls, too many clients. It continues."""

import logging
import socket
import struct
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest
from eeon_engine import ConfigError, Switch
from eeon_engine.thrift import Server, connection, serve
from eeon_engine.thrift import server as server_module
from eeon_engine.thrift.names import Context
from eeon_engine.thrift.reader import MAX_DEPTH, MAX_VALUES, MessageError, Reader
from eeon_engine.values import Entry
from thrift_client import EXACT, ThriftClient, add, standard
from thriftpy2.thrift import TApplicationException, TException, TType

from control_plane.tests.waiting import wait_until

pytestmark = pytest.mark.system


@pytest.fixture
def server(switch: Switch) -> Iterator[Server]:
    with serve(switch, "127.0.0.1:0") as server:
        yield server


def connect(server: Server) -> socket.socket:
    host, _, port = server.address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def wait_until_accepted(stranger: socket.socket) -> None:
    """Waits until the server has accepted the connection, in a thread whose name contains the address."""
    own = "({}:{})".format(*stranger.getsockname())
    wait_until(lambda: any(own in one.name for one in threading.enumerate()), f"{own} is not accepted")


def is_ended(stranger: socket.socket) -> bool:
    """Returns whether the connection is closed without an answer, or reset because of unread data."""
    try:
        return stranger.recv(1) == b""
    except ConnectionResetError:
        return True


def is_alive(server: Server) -> bool:
    """Returns whether another client is still served."""
    with ThriftClient(server.address) as client:
        return client.standard.bm_mt_get_num_entries(0, EXACT) == 0


def header(name: bytes, version: int = 0x80010001) -> bytes:
    return struct.pack("!II", version, len(name)) + name + struct.pack("!i", 1)


def string_field(number: int, length: int) -> bytes:
    return struct.pack("!bhi", TType.STRING, number, length)


GET_NUM = header(b"standard:bm_mt_get_num_entries")


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "not Thrift's strict binary protocol"),
        (struct.pack("!I", 40) + GET_NUM, "not Thrift's strict binary protocol"),
        (header(b"x", 0x80010002), "is not a call"),
        (struct.pack("!Ii", 0x80010001, -1), "method name of -1 bytes"),
        (struct.pack("!Ii", 0x80010001, 1 << 30), "method name of 1073741824 bytes"),
        (GET_NUM + string_field(2, (1 << 31) - 1), "string of 2147483647 bytes"),
        (GET_NUM + string_field(2, -5), "string of -5 bytes"),
        (GET_NUM + struct.pack("!bh", 77, 9), "type 77 is not a"),
        # A list of two billion elements of a type without bytes.
        (
            GET_NUM + struct.pack("!bhbi", TType.LIST, 9, 77, (1 << 31) - 1),
            "container of 2147483647 elements",
        ),
        (GET_NUM + struct.pack("!bhbi", TType.LIST, 9, 77, 1000), "type 77 is not a"),
        (GET_NUM + struct.pack("!bhbbi", TType.MAP, 9, 8, 8, -1), "container of -1 elements"),
        (GET_NUM + struct.pack("!bh", TType.STRUCT, 9) * 100, "nested deeper than 16"),
        (
            GET_NUM + struct.pack("!bh", TType.LIST, 9) + struct.pack("!bi", TType.LIST, 1) * 100,
            "nested deeper",
        ),
        # A list of empty structs has one byte for each.
        pytest.param(
            GET_NUM + struct.pack("!bhbi", TType.LIST, 9, TType.STRUCT, MAX_VALUES) + bytes(MAX_VALUES),
            f"more than {MAX_VALUES} values",
            id="values",
        ),
    ],
)
def test_bytes_that_are_no_call_end_that_connection_with_a_log_line_and_no_other(server, caplog, sent, said):
    with caplog.at_level(logging.WARNING), connect(server) as stranger:
        stranger.sendall(sent)
        assert is_ended(stranger)
        assert is_alive(server)
    assert said in caplog.text
    assert "Traceback" not in caplog.text


def test_a_client_that_vanishes_in_the_middle_of_a_call_leaves_nothing_behind(server):
    before = threading.active_count()
    for _ in range(20):
        with connect(server) as stranger:
            stranger.sendall(GET_NUM + string_field(2, 1000) + b"half")
    wait_until(lambda: threading.active_count() <= before, "threads of clients are left")
    assert is_alive(server)


def test_a_call_that_does_not_come_to_its_end_is_given_up(server, monkeypatch, caplog):
    monkeypatch.setattr(connection, "CALL_SECONDS", 0.2)
    with connect(server) as stranger:
        stranger.sendall(GET_NUM)
        assert is_ended(stranger)
    assert "call incomplete after" in caplog.text


def test_only_one_long_call_is_read_at_a_time(server, monkeypatch):
    monkeypatch.setattr(connection, "LONG_CALL_BYTES", 1000)
    config = header(b"standard:bm_load_new_config") + string_field(1, 5000)
    with connect(server) as first:
        first.sendall(config)
        while not server._long_calls.locked():
            time.sleep(0.001)
        monkeypatch.setattr(connection, "CALL_SECONDS", 0.2)
        with connect(server) as second:
            second.sendall(config + b"{" * 5000 + b"\0")
            assert is_ended(second)
        monkeypatch.setattr(connection, "CALL_SECONDS", 30.0)
        first.sendall(b"{" * 5000 + b"\0")
        assert first.recv(4) == struct.pack("!I", 0x80010003)
    assert not server._long_calls.locked()


def test_where_all_places_are_taken_the_quietest_client_makes_way(switch, monkeypatch, caplog):
    monkeypatch.setattr(server_module, "MAX_CONNECTIONS", 3)
    with serve(switch, "127.0.0.1:0") as server:
        with ThriftClient(server.address) as busy:
            guests = []
            for _ in range(10):
                guests.append(connect(server))
                wait_until_accepted(guests[-1])
                # A client that sends calls is not the quietest.
                assert busy.standard.bm_mt_get_num_entries(0, EXACT) == 0
            assert is_alive(server)
            assert all(is_ended(guest) for guest in guests[:7])
        assert "3 Thrift clients are connected" in caplog.text
        for guest in guests:
            guest.close()


def test_a_client_that_never_calls_is_closed_when_its_time_is_over(server, monkeypatch, caplog):
    monkeypatch.setattr(connection, "FIRST_CALL_SECONDS", 0.2)
    with connect(server) as stranger:
        assert is_ended(stranger)
    assert "no call in" in caplog.text


@pytest.mark.parametrize("address", [":0", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:65536"])
def test_an_address_without_a_host_or_a_port_is_refused(switch, address):
    with pytest.raises(ConfigError, match=f"^address '{address}' is not host:port, such as 127"):
        serve(switch, address)


def test_a_server_stops_with_clients_connected_and_calls_begun(switch):
    server = serve(switch, "127.0.0.1:0")
    idle, half = connect(server), connect(server)
    half.sendall(GET_NUM)
    server.stop()
    assert is_ended(idle)
    assert is_ended(half)
    server.stop()


def test_a_name_that_is_no_method_gets_an_answer_and_the_connection_goes_on(server):
    with ThriftClient(server.address) as client, connect(server) as stranger:
        for name in (b"standard:nothing", b"nobody:bm_get_config", b"bm_get_config", b"\xff\xfe"):
            stranger.sendall(header(name) + struct.pack("!bhi", TType.I32, 1, 5) + b"\0")
            assert stranger.recv(4) == struct.pack("!I", 0x80010003)
            while b"no such method" not in stranger.recv(4096):
                pass
        # A field whose type differs from the method's counts as not sent.
        stranger.sendall(GET_NUM + struct.pack("!bhi", TType.I32, 2, 5) + b"\0")
        assert stranger.recv(4) == struct.pack("!I", 0x80010002)
        with pytest.raises(TApplicationException, match="context 7"):
            client.standard.bm_mt_get_num_entries(7, EXACT)
        assert client.standard.bm_mt_get_num_entries(0, EXACT) == 0


def test_the_deepest_nesting_that_is_allowed_is_read():
    deep = struct.pack("!bh", TType.STRUCT, 1) * (MAX_DEPTH - 1) + b"\0" * MAX_DEPTH
    Reader(BytesIO(deep).read).skip_struct()
    with pytest.raises(MessageError):
        Reader(BytesIO(struct.pack("!bh", TType.STRUCT, 1) + deep + b"\0").read).skip_struct()


def test_an_answer_of_too_many_entries_is_refused_and_they_are_read_by_handle(server, monkeypatch):
    monkeypatch.setattr("eeon_engine.thrift.names.MAX_ANSWER_ENTRIES", 4)
    with ThriftClient(server.address) as client:
        for value in range(4):
            add(client, value, "drop")
        assert len(client.standard.bm_mt_get_entries(0, EXACT)) == 4
        fifth = add(client, 4, "drop")
        with pytest.raises(standard.InvalidTableOperation):
            client.standard.bm_mt_get_entries(0, EXACT)
        with pytest.raises(TException):
            client.standard.bm_serialize_state()
        assert client.standard.bm_mt_get_entry(0, EXACT, fifth).entry_handle == fifth
        profile = "EverythingIngress.selector"
        group = client.standard.bm_mt_act_prof_create_group(0, profile)
        for _ in range(4):
            member = client.standard.bm_mt_act_prof_add_member(0, profile, "EverythingIngress.drop", [])
            client.standard.bm_mt_act_prof_add_member_to_group(0, profile, member, group)
        assert len(client.standard.bm_mt_act_prof_get_members(0, profile)) == 4
        with pytest.raises(standard.InvalidTableOperation):
            client.standard.bm_mt_act_prof_get_groups(0, profile)
        client.standard.bm_mt_act_prof_add_member(0, profile, "EverythingIngress.drop", [])
        with pytest.raises(standard.InvalidTableOperation):
            client.standard.bm_mt_act_prof_get_members(0, profile)
        for number in range(1, 6):
            client.pre.bm_mc_mgrp_create(0, number)
        with pytest.raises(TException):
            client.pre.bm_mc_get_entries(0)


def test_large_answers_are_made_one_at_a_time(server, monkeypatch):
    made, most = 0, 0
    counted = threading.Condition()

    def entries(context: Context, table: str) -> list[Entry]:
        nonlocal made, most
        with counted:
            made += 1
            most = max(most, made)
            counted.notify_all()
            # Waits for the other client's call, which must not come here at the same time.
            counted.wait_for(lambda: made > 1, timeout=1)
            made -= 1
        return []

    monkeypatch.setattr(Context, "entries", entries)

    def read(_: int) -> list[standard.BmMtEntry]:
        with ThriftClient(server.address) as client:
            return client.standard.bm_mt_get_entries(0, EXACT)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(read, range(2))) == [[], []]
    assert most == 1
