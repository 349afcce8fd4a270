"""Counters, meters, registers and value sets over Thrift."""

import json

import pytest
from eeon_engine import Program, Switch
from eeon_engine.thrift import serve
from made_frames import frame
from p4rt_client import ports, program_json
from thrift_client import ThriftClient, code_of, exact, rate, standard
from thriftpy2.thrift import TException

pytestmark = pytest.mark.system

BOTH = "EverythingIngress.both"
WIDE = "EverythingIngress.wide_cells"
SIGNED = "EverythingIngress.signed_cells"


def test_a_counter_counts_packets_and_is_written_and_reset(switch: Switch, thrift: ThriftClient) -> None:
    call = thrift.standard
    switch.inject(1, frame(3))
    switch.advance_to(1_000_000)
    value = call.bm_counter_read(0, BOTH, 3)
    assert (value.bytes, value.packets) == (len(frame(3)), 1)
    call.bm_counter_write(0, BOTH, 4, standard.BmCounterValue(bytes=-1, packets=7))
    assert (switch.read_counters(BOTH, 4), call.bm_counter_read(0, BOTH, 4).bytes) == ((2**64 - 1, 7), -1)
    call.bm_counter_reset_all(0, BOTH)
    assert switch.read_counters_all(BOTH) == [(0, 0)] * 8


def test_a_registers_value_is_cut_to_its_width(switch: Switch, thrift: ThriftClient) -> None:
    call = thrift.standard
    call.bm_register_write(0, WIDE, 1, -1)
    call.bm_register_write(0, WIDE, 2, (1 << 48) + 5)
    assert call.bm_register_read_all(0, WIDE)[:4] == [0, (1 << 48) - 1, 5, 0]
    call.bm_register_write_range(0, WIDE, 14, 16, 9)
    assert call.bm_register_read_all(0, WIDE)[13:] == [0, 9, 9]
    call.bm_register_write_range(0, WIDE, 16, 16, 1)
    call.bm_register_reset(0, WIDE)
    assert call.bm_register_read_all(0, WIDE) == [0] * 16
    call.bm_register_write(0, SIGNED, 0, -5)
    assert call.bm_register_read(0, SIGNED, 0) == 0xFFFB


def test_a_cell_that_no_i64_holds_is_read_as_the_largest_one() -> None:
    document = json.loads(program_json())
    next(r for r in document["register_arrays"] if r["name"] == WIDE)["bitwidth"] = 64
    switch = Switch(Program(json.dumps(document).encode()))
    with serve(switch, "127.0.0.1:0") as server, ThriftClient(server.address) as client:
        client.standard.bm_register_write(0, WIDE, 1, -1)
        assert switch.register_read(WIDE, 1) == b"\xff" * 8
        assert client.standard.bm_register_read(0, WIDE, 1) == (1 << 63) - 1


def test_meters_keep_the_rates_they_are_given_lowest_first(
    resource_switch: Switch, resource_thrift: ThriftClient
) -> None:
    call, cells = resource_thrift.standard, "ResourcesIngress.cells"
    assert call.bm_meter_get_rates(0, cells, 1) == []
    call.bm_meter_set_rates(0, cells, 1, [rate(0.5, 100), rate(1.5, 200)])
    assert call.bm_meter_get_rates(0, cells, 1) == [rate(0.5, 100), rate(1.5, 200)]
    call.bm_meter_array_set_rates(0, cells, [rate(0.25, 1), rate(0.75, 2)])
    assert resource_switch.meter_get_rates(cells, 3) == [(0.25, 1), (0.75, 2)]
    kind, codes = standard.InvalidMeterOperation, standard.MeterOperationErrorCode
    set_rates = call.bm_meter_set_rates
    nan = [rate(float("nan"), 1), rate(1, 1)]
    assert code_of(kind, set_rates, 0, cells, 0, nan) == codes.INVALID_INFO_RATE_VALUE


def test_an_entrys_meter_colours_its_packets(resource_switch: Switch, resource_thrift: ThriftClient) -> None:
    call, table = resource_thrift.standard, "ResourcesIngress.metered_table"
    key = (7).to_bytes(4, "big")
    handle = call.bm_mt_add_entry(
        0, table, [exact(key)], "ResourcesIngress.metered", [b"\x04"], standard.BmAddEntryOptions()
    )
    call.bm_mt_set_meter_rates(0, table, handle, [rate(0.000_001, 1), rate(0.000_002, 2)])
    assert call.bm_mt_get_meter_rates(0, table, handle)[1].burst_size == 2
    for _ in range(4):
        resource_switch.inject(1, frame(7))
    # Two packets of the peak rate's burst pass; the third is red, and is dropped.
    assert ports(resource_switch.advance_to(1_000_000)) == [4, 4]
    assert call.bm_mt_read_counter(0, table, handle).packets == 4
    call.bm_mt_write_counter(0, table, handle, standard.BmCounterValue(bytes=1, packets=2))
    assert resource_switch.mt_read_counters(table, handle) == (1, 2)
    call.bm_mt_reset_counters(0, table)
    assert call.bm_mt_read_counter(0, table, handle).packets == 0


def test_an_entrys_time_out_is_set_and_read_back_with_how_long_it_was_idle(
    resource_switch: Switch, resource_thrift: ThriftClient
) -> None:
    call, table = resource_thrift.standard, "ResourcesIngress.ageing_table"
    key, nothing = [exact((5).to_bytes(4, "big"))], standard.BmAddEntryOptions()
    handle = call.bm_mt_add_entry(0, table, key, "ResourcesIngress.forward", [b"\x01"], nothing)
    assert call.bm_mt_get_entry(0, table, handle).life is None
    resource_switch.advance_to(1_000_000_000)
    call.bm_mt_set_entry_ttl(0, table, handle, 60_000)
    resource_switch.advance_to(8_000_000_000)
    life = call.bm_mt_get_entries(0, table)[0].life
    assert (life.timeout_ms, life.time_since_hit_ms) == (60_000, 7)


def test_value_sets_are_added_to_read_and_emptied(
    resource_switch: Switch, resource_thrift: ThriftClient
) -> None:
    call = resource_thrift.standard
    types = "ParserImpl.types"
    call.bm_parse_vset_add(0, types, b"\x12\x34")
    call.bm_parse_vset_add(0, types, b"\x08\x00")
    assert call.bm_parse_vset_get(0, types) == [b"\x08\x00", b"\x12\x34"]
    resource_switch.inject(1, frame(9))
    assert ports(resource_switch.advance_to(1_000_000)) == [3]
    call.bm_parse_vset_remove(0, types, b"\x12\x34")
    assert resource_switch.parse_vset_get(types) == [b"\x08\x00"]
    call.bm_parse_vset_clear(0, types)
    assert call.bm_parse_vset_get(0, types) == []


def test_an_array_that_is_too_large_for_an_answer_is_refused_and_read_by_index(
    thrift: ThriftClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eeon_engine.thrift.names.MAX_ANSWER_CELLS", 15)
    thrift.standard.bm_register_write(0, WIDE, 3, 7)
    with pytest.raises(TException):
        thrift.standard.bm_register_read_all(0, WIDE)
    assert thrift.standard.bm_register_read(0, WIDE, 3) == 7


def test_every_cell_is_read_where_they_take_several_steps(
    thrift: ThriftClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eeon_engine.thrift.names._CELLS_PER_STEP", 5)
    for cell in range(16):
        thrift.standard.bm_register_write(0, WIDE, cell, 100 + cell)
    assert thrift.standard.bm_register_read_all(0, WIDE) == [100 + cell for cell in range(16)]
