"""The switch over Thrift, where a script cannot say it: time, limits, ports, programs, the engine's view."""

import array
import hashlib
import itertools
import json
from pathlib import Path

import pytest
from eeon_engine import Port, Program, Switch, Twin
from eeon_engine.thrift import serve
from made_fabrics import fabric
from p4rt_client import ports, program_json
from thrift_client import EXACT, ThriftClient, add, code_of, standard
from thriftpy2.thrift import TException

from ptf_tests.lib.packets import keyed

pytestmark = pytest.mark.system

NO_OPTIONS = standard.BmAddEntryOptions()
WIDE = "EverythingIngress.wide_cells"


def test_ports_are_shown_added_and_removed(program):
    switch = Switch(program, ports=[Port(4)], device_id=6)
    with serve(switch, "127.0.0.1:0", interfaces=["veth1"]) as server, ThriftClient(server.address) as client:
        call = client.standard
        call.bm_dev_mgr_add_port("veth1", 9, "")
        assert [(p.port_num, p.is_up) for p in call.bm_dev_mgr_show_ports()] == [(4, True), (9, True)]
        add(client, 1, "forward", b"\x09")
        switch.inject(4, keyed(1))
        assert ports(switch.advance_to(1_000_000)) == [9]
        call.bm_dev_mgr_remove_port(9)
        switch.inject(4, keyed(1))
        assert ports(switch.advance_to(2_000_000)) == []
        # Only the interfaces that were allowed at the start; a prefix of their names is not enough.
        not_allowed = [(name, 8, "") for name in ("lo", "veth10", "veth", "")]
        wrong = [("veth1", 4, ""), ("veth1", 512, ""), ("veth1", -1, ""), ("veth1", 8, "x.pcap")]
        for arguments in not_allowed + wrong:
            with pytest.raises(standard.InvalidDevMgrOperation):
                call.bm_dev_mgr_add_port(*arguments)
        with pytest.raises(standard.InvalidDevMgrOperation):
            call.bm_dev_mgr_remove_port(9)
        info = call.bm_mgmt_get_info()
        assert (info.device_id, str(info.thrift_port)) == (6, server.address.rpartition(":")[2])


def test_a_switch_of_a_twin_is_served_with_the_ports_of_its_topology(program):
    twin = Twin(program, json.dumps(fabric(2)))
    switch = twin.switch("leaf1")
    with serve(switch, "127.0.0.1:0") as server, ThriftClient(server.address) as client:
        add(client, 1, "forward", b"\x02")
        client.switch.set_egress_queue_rate(2, 1000)
        times = array.array("Q", range(1_000, 4_000, 1_000))
        offsets = array.array("Q", (len(keyed(1)) * n for n in range(4)))
        twin.feed("h1", times, offsets, keyed(1) * 3)
        twin.run_until(1_500_000_000)
        assert switch.port_stats(2)["tx_packets"] == 2
        assert client.switch.get_time_elapsed_us() == 1_500
        assert [p.port_num for p in client.standard.bm_dev_mgr_show_ports()] == [1, 2]
        with pytest.raises(standard.InvalidDevMgrOperation):
            client.standard.bm_dev_mgr_remove_port(1)


def test_the_program_is_given_back_with_the_md5_of_its_bytes(thrift):
    assert thrift.standard.bm_get_config().encode() == program_json()
    assert thrift.standard.bm_get_config_md5() == hashlib.md5(program_json()).digest()


def test_the_state_is_told_as_json(thrift):
    add(thrift, 1, "forward", b"\x02")
    thrift.standard.bm_register_write(0, WIDE, 0, 1)
    told = json.loads(thrift.standard.bm_serialize_state())
    assert told["config_md5"] == hashlib.md5(program_json()).hexdigest()
    state = told["state"]
    assert state["tables"][EXACT]["entries"] == [
        [0, [["exact", "00000001"]], 0, ["action", "EverythingIngress.forward", ["0002"]]]
    ]
    assert state["registers"][WIDE][:2] == [1, 0]


def test_parameters_of_a_custom_crc_hold_for_the_next_packet():
    # Its calculations calc_0 and calc_2 are custom CRCs of 16 and 32 bits, calc is a CRC of 16 bits.
    program = Path(__file__).parents[2] / "simple_switch/tests/constructs/hashes.json"
    switch = Switch(Program(program.read_bytes()))
    seconds = itertools.count(1)

    def hashes() -> tuple[bytes, bytes]:
        switch.inject(0, b"123456789\0")
        ((_, _, sent),) = switch.advance_to(next(seconds) * 1_000_000_000)
        return sent[12:14], sent[18:22]

    with serve(switch, "127.0.0.1:0") as server, ThriftClient(server.address) as client:
        call = client.standard
        assert hashes() == (b"\xbb\x3d", b"\xcb\xf4\x39\x26")
        # CRC-16/X-25 and CRC-32/BZIP2 of the catalogue, with its check values.
        call.bm_set_crc16_custom_parameters(0, "calc_0", standard.BmCrc16Config(0x1021, -1, -1, True, True))
        call.bm_set_crc32_custom_parameters(
            0, "calc_2", standard.BmCrc32Config(0x04C11DB7, -1, -1, False, False)
        )
        assert hashes() == (b"\x90\x6e", b"\xfc\x89\x19\x18")
        codes, set_crc = standard.CrcErrorCode, call.bm_set_crc16_custom_parameters
        parameters = standard.BmCrc16Config(1, 2, 3, True, True)
        for name, code in (
            ("calc", codes.WRONG_TYPE_CALCULATION),
            ("calc_2", codes.WRONG_TYPE_CALCULATION),
            ("none", codes.INVALID_CALCULATION_NAME),
        ):
            assert code_of(standard.InvalidCrcOperation, set_crc, 0, name, parameters) == code
        assert hashes() == (b"\x90\x6e", b"\xfc\x89\x19\x18")


# ---- tables


def test_handles_beyond_an_i32_travel_as_negative_numbers(thrift):
    handle = 0
    for _ in range(200):
        handle = add(thrift, 1, "forward", b"\x01")
        thrift.standard.bm_mt_delete_entry(0, EXACT, handle)
    assert handle == (199 << 24) - (1 << 32)


@pytest.mark.parametrize("kind", [None, 9])
def test_a_key_of_no_kind_is_a_bad_one(thrift, kind):
    key = [standard.BmMatchParam(type=kind)]
    arguments = (0, EXACT, key, "EverythingIngress.forward", [b"\1"], NO_OPTIONS)
    code = code_of(standard.InvalidTableOperation, thrift.standard.bm_mt_add_entry, *arguments)
    assert code == standard.TableOperationErrorCode.BAD_MATCH_KEY


# ---- counters, meters, registers


def test_a_cell_that_no_i64_holds_is_read_as_the_largest_one():
    document = json.loads(program_json())
    next(r for r in document["register_arrays"] if r["name"] == WIDE)["bitwidth"] = 64
    switch = Switch(Program(json.dumps(document).encode()))
    with serve(switch, "127.0.0.1:0") as server, ThriftClient(server.address) as client:
        client.standard.bm_register_write(0, WIDE, 1, -1)
        assert switch.register_read(WIDE, 1) == b"\xff" * 8
        assert client.standard.bm_register_read(0, WIDE, 1) == (1 << 63) - 1


def test_an_array_that_is_too_large_for_an_answer_is_refused_and_read_by_index(thrift, monkeypatch):
    monkeypatch.setattr("eeon_engine.thrift.names.MAX_ANSWER_CELLS", 15)
    thrift.standard.bm_register_write(0, WIDE, 3, 7)
    with pytest.raises(TException):
        thrift.standard.bm_register_read_all(0, WIDE)
    assert thrift.standard.bm_register_read(0, WIDE, 3) == 7


def test_every_cell_is_read_where_they_take_several_steps(thrift, monkeypatch):
    monkeypatch.setattr("eeon_engine.thrift.names._CELLS_PER_STEP", 5)
    for cell in range(16):
        thrift.standard.bm_register_write(0, WIDE, cell, 100 + cell)
    assert thrift.standard.bm_register_read_all(0, WIDE) == [100 + cell for cell in range(16)]
