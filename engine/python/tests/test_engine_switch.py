"""One switch with a virtual clock, used only through the extension."""

import threading

import pytest
from eeon_engine import ClockError, ConfigError, ImmutableError, OutOfRangeError, Port, Program, Switch
from p4rt_client import program_json

from ptf_tests.lib.packets import keyed

EXACT = "EverythingIngress.exact_table"
FORWARD = "EverythingIngress.forward"


def key(value: int) -> list[tuple[str, bytes]]:
    return [("exact", value.to_bytes(4, "big"))]


def test_frames_leave_in_order_of_time_with_their_bytes(switch):
    switch.mt_add_entry(EXACT, key(9), FORWARD, [b"\x04"])
    switch.inject(1, keyed(9, payload=b"second"), at_ps=2_000)
    switch.inject(1, keyed(9, payload=b"first"), at_ps=1_000)
    assert switch.next_event_ps == 1_000
    assert switch.advance_to(1_999) == [(1_000, 4, keyed(9, payload=b"first"))]
    assert switch.now_ps == 1_999
    assert switch.advance_to(2_000) == [(2_000, 4, keyed(9, payload=b"second"))]
    assert switch.next_event_ps is None


def test_a_port_with_a_rate_takes_the_time_of_its_wire(program):
    """1000 bits per us: 25 bytes and 24 of overhead are 392 bits, which take 392 ns."""
    port = Port(4, rate_bps=1_000_000_000, overhead_bytes=24)
    switch = Switch(program, ports=[Port(1), port])
    switch.mt_add_entry(EXACT, key(9), FORWARD, [b"\x04"])
    for _ in range(3):
        switch.inject(1, keyed(9))
    assert len(keyed(9)) == 25
    assert [at for at, _, _ in switch.advance_to(0)] == [0]
    assert (switch.queue_packets(4), switch.queue_bytes(4)) == (2, 50)
    assert [at for at, _, _ in switch.advance_to(1_000_000)] == [392_000, 784_000]
    stats = switch.port_stats(4)
    assert (stats["tx_packets"], stats["tx_bytes"], stats["max_queue_packets"]) == (3, 75, 2)


def test_the_clock_does_not_run_backwards(switch):
    switch.advance_to(100)
    with pytest.raises(ClockError, match="100 ps"):
        switch.advance_to(99)
    with pytest.raises(ClockError, match="cannot arrive at 99 ps"):
        switch.inject(1, keyed(1), at_ps=99)


def test_a_switch_without_a_program_says_so_until_one_is_loaded(program):
    switch = Switch()
    assert switch.program is None
    for call in (lambda: switch.inject(1, keyed(1)), lambda: switch.mt_get_entries(EXACT), switch.stats):
        with pytest.raises(ConfigError, match="no program"):
            call()
    switch.advance_to(5)
    switch.load_program(program)
    assert switch.program is program
    switch.inject(1, keyed(1))
    assert switch.advance_to(10) == []


def test_a_program_that_the_switch_cannot_run_is_refused_and_the_old_one_runs_on(program):
    switch = Switch(program, gate_register="EverythingIngress.wide_cells", ports=[Port(1)], cpu_port=None)
    other = Program(program_json().replace(b"EverythingIngress.wide_cells", b"EverythingIngress.slim_cells"))
    for call in (switch.check_program, switch.load_program):
        with pytest.raises(ConfigError, match="wide_cells"):
            call(other)
    assert switch.program is program


@pytest.mark.parametrize(
    ("quanta_bytes", "reason"),
    [({0: 0}, "0 for priority 0"), ({8: 1500}, "priority 8"), ({2: 1500}, "the switch has 2 queues")],
)
def test_a_quantum_is_above_zero_and_of_a_queue_of_the_switch(program, quanta_bytes, reason):
    with pytest.raises(ConfigError, match=reason):
        Switch(program, ports=[Port(0, quanta_bytes=quanta_bytes)], priorities=2)


def test_a_port_without_speed_is_refused():
    with pytest.raises(ConfigError, match="port 1: rate_bps 0"):
        Port(1, rate_bps=0)


@pytest.mark.parametrize("bad", [[b"\x01"], [("exact",)], [("exact", 5)], [("near", b"\x01")], [()], 5])
def test_keys_of_the_wrong_shape_are_refused(switch, bad):
    with pytest.raises((TypeError, ValueError, IndexError)):
        switch.mt_add_entry(EXACT, bad, FORWARD, [b"\x01"])  # type: ignore[arg-type]


def test_a_pause_holds_the_clock_until_it_is_taken_back(switch):
    switch.pause()
    runner = threading.Thread(target=switch.advance_to, args=(1_000,))
    runner.start()
    runner.join(0.2)
    assert runner.is_alive()
    # Control calls are not blocked.
    switch.mt_add_entry(EXACT, key(9), FORWARD, [b"\x04"])
    assert switch.now_ps == 0
    switch.resume()
    runner.join(10)
    assert switch.now_ps == 1_000
    switch.resume()  # One too many has no effect.


def test_waiting_for_packets_in_ends_when_one_comes_or_time_is_up(switch):
    assert switch.take_packets_in(10) == []
    switch.mt_add_entry(EXACT, key(9), "EverythingIngress.to_cpu", [])
    found: list[bytes] = []
    waiter = threading.Thread(target=lambda: found.extend(switch.take_packets_in(10_000)))
    waiter.start()
    switch.inject(1, keyed(9))
    assert [port for _, port, _ in switch.advance_to(10)] == [510]
    waiter.join(5)
    assert found == [b"\x00\x80" + keyed(9)]


def test_what_is_out_of_range_or_const_has_its_exception(switch):
    """Over P4Runtime and Thrift the servers refuse both before the engine does."""
    with pytest.raises(OutOfRangeError):
        switch.register_read("EverythingIngress.wide_cells", 16)
    const = switch.mt_get_entries("EverythingIngress.const_table")[0][0]
    with pytest.raises(ImmutableError):
        switch.mt_delete_entry("EverythingIngress.const_table", const)


def test_a_link_of_a_port_that_is_not_there_cannot_be_set(switch):
    switch.port_remove(7)
    with pytest.raises(ConfigError, match="port 7 is not attached"):
        switch.port_set_link(7, False)
