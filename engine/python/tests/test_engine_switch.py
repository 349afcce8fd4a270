"""One switch with a virtual clock, used only through the extension."""

import threading

import pytest
from eeon_engine import (
    ClockError,
    ConfigError,
    DuplicateError,
    FullError,
    ImmutableError,
    InUseError,
    InvalidValueError,
    NoSuchHandleError,
    NoSuchObjectError,
    OutOfRangeError,
    Port,
    Program,
    ProgramError,
    Switch,
)
from made_frames import frame
from p4rt_client import program_json

EXACT = "EverythingIngress.exact_table"
FORWARD = "EverythingIngress.forward"


def key(value: int) -> list[tuple[str, bytes]]:
    return [("exact", value.to_bytes(4, "big"))]


def test_frames_leave_in_order_of_time_with_their_bytes(switch: Switch) -> None:
    switch.mt_add_entry(EXACT, key(9), FORWARD, [b"\x04"])
    switch.inject(1, frame(9, payload=b"second"), at_ps=2_000)
    switch.inject(1, frame(9, payload=b"first"), at_ps=1_000)
    assert switch.next_event_ps == 1_000
    assert switch.advance_to(1_999) == [(1_000, 4, frame(9, payload=b"first"))]
    assert switch.now_ps == 1_999
    assert switch.advance_to(2_000) == [(2_000, 4, frame(9, payload=b"second"))]
    assert switch.next_event_ps is None


def test_a_port_with_a_rate_takes_the_time_of_its_wire(program: Program) -> None:
    """1000 bits per us: 25 bytes and 24 of overhead are 392 bits, which take 392 ns."""
    port = Port(4, rate_bps=1_000_000_000, overhead_bytes=24)
    switch = Switch(program, ports=[Port(1), port])
    switch.mt_add_entry(EXACT, key(9), FORWARD, [b"\x04"])
    for _ in range(3):
        switch.inject(1, frame(9))
    assert len(frame(9)) == 25
    assert [at for at, _, _ in switch.advance_to(0)] == [0]
    assert (switch.queue_packets(4), switch.queue_bytes(4)) == (2, 50)
    assert [at for at, _, _ in switch.advance_to(1_000_000)] == [392_000, 784_000]
    stats = switch.port_stats(4)
    assert (stats["tx_packets"], stats["tx_bytes"], stats["max_queue_packets"]) == (3, 75, 2)


def test_queue_limits_drop_and_count(program: Program) -> None:
    switch = Switch(program, ports=[Port(1), Port(4, rate_bps=1_000, queue_limit_packets=2)])
    switch.mt_add_entry(EXACT, key(9), FORWARD, [b"\x04"])
    for _ in range(5):
        switch.inject(1, frame(9))
    switch.advance_to(0)
    drops = switch.stats()["drops"]
    assert isinstance(drops, dict)
    assert drops["queue_full"] == 2


def test_the_same_seed_and_frames_give_the_same_bytes(program: Program) -> None:
    def run() -> list[tuple[int, int, bytes]]:
        switch = Switch(program, seed=7)
        switch.mt_add_entry(EXACT, key(9), FORWARD, [b"\x04"])
        for number in range(50):
            switch.inject(number % 8, frame(9, payload=bytes([number])), at_ps=number * 10)
        return switch.advance_to(10_000)

    assert run() == run()


def test_the_clock_does_not_run_backwards(switch: Switch) -> None:
    switch.advance_to(100)
    with pytest.raises(ClockError, match="100 ps"):
        switch.advance_to(99)
    with pytest.raises(ClockError, match="cannot arrive at 99 ps"):
        switch.inject(1, frame(1), at_ps=99)


def test_a_switch_without_a_program_says_so_until_one_is_loaded(program: Program) -> None:
    switch = Switch()
    assert switch.program is None
    for call in (lambda: switch.inject(1, frame(1)), lambda: switch.mt_get_entries(EXACT), switch.stats):
        with pytest.raises(ConfigError, match="no program"):
            call()
    switch.advance_to(5)
    switch.load_program(program)
    assert switch.program is program
    switch.inject(1, frame(1))
    assert switch.advance_to(10) == []


def test_loading_a_program_starts_from_a_clean_state(program: Program, switch: Switch) -> None:
    switch.mt_add_entry(EXACT, key(9), FORWARD, [b"\x04"])
    switch.load_program(Program(program_json()))
    assert switch.mt_get_entries(EXACT) == []


def test_a_program_that_the_switch_cannot_run_is_refused_and_the_old_one_runs_on(program: Program) -> None:
    switch = Switch(program, gate_register="EverythingIngress.wide_cells", ports=[Port(1)], cpu_port=None)
    other = Program(program_json().replace(b"EverythingIngress.wide_cells", b"EverythingIngress.slim_cells"))
    for call in (switch.check_program, switch.load_program):
        with pytest.raises(ConfigError, match="wide_cells"):
            call(other)
    assert switch.program is program


@pytest.mark.parametrize("json", [b"", b"{", b"[]", b"{}", b"\xff\xfe", b'{"__meta__": 5}', b"[" * 100_000])
def test_what_is_no_program_is_a_program_error(json: bytes) -> None:
    with pytest.raises(ProgramError):
        Program(json)


def test_a_program_knows_its_source(program: Program) -> None:
    assert program.json == program_json()
    assert len(program.digest) == 64


@pytest.mark.parametrize(
    "settings",
    [
        {"tick_ps": 0},
        {"drop_port": 600},
        {"cpu_port": 511},
        {"priorities": 9},
        {"gate_register": "nothing"},
        {"recirculation_delay_ps": 0},
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    program: Program, settings: dict[str, object]
) -> None:
    with pytest.raises(ConfigError):
        Switch(program, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("quanta_bytes", "reason"),
    [({0: 0}, "0 for priority 0"), ({8: 1500}, "priority 8"), ({2: 1500}, "the switch has 2 queues")],
)
def test_a_quantum_is_above_zero_and_of_a_queue_of_the_switch(
    program: Program, quanta_bytes: dict[int, int], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        Switch(program, ports=[Port(0, quanta_bytes=quanta_bytes)], priorities=2)


def test_a_port_without_speed_is_refused() -> None:
    with pytest.raises(ConfigError, match="rate_bps 0"):
        Port(1, rate_bps=0)


def test_refusals_have_their_exception(switch: Switch) -> None:
    handle = switch.mt_add_entry(EXACT, key(9), FORWARD, [b"\x04"])
    profile = "EverythingIngress.selector"
    member = switch.mt_act_prof_add_member(profile, FORWARD, [b"\x01"])
    switch.mt_indirect_add_entry("EverythingIngress.lpm_table", [("lpm", b"\x0a\x00\x00\x00", 8)], member)
    const = switch.mt_get_entries("EverythingIngress.const_table")[0][0]
    for error, call in [
        (NoSuchObjectError, lambda: switch.mt_get_entries("nothing")),
        (NoSuchObjectError, lambda: switch.read_counters_all("nothing")),
        (NoSuchObjectError, lambda: switch.register_read("nothing", 0)),
        (NoSuchHandleError, lambda: switch.mt_delete_entry(EXACT, handle + 100)),
        (DuplicateError, lambda: switch.mt_add_entry(EXACT, key(9), FORWARD, [b"\x05"])),
        (
            FullError,
            lambda: [switch.mt_add_entry(EXACT, key(n), FORWARD, [b"\x05"]) for n in range(100, 200)],
        ),
        (ImmutableError, lambda: switch.mt_delete_entry("EverythingIngress.const_table", const)),
        (InUseError, lambda: switch.mt_act_prof_delete_member(profile, member)),
        (OutOfRangeError, lambda: switch.register_read("EverythingIngress.wide_cells", 16)),
        (InvalidValueError, lambda: switch.mt_add_entry(EXACT, key(1), FORWARD, [b"\x02\x00"])),
        (InvalidValueError, lambda: switch.mt_add_entry(EXACT, key(1), "nothing", [])),
    ]:
        with pytest.raises(error):
            call()


@pytest.mark.parametrize("bad", [[b"\x01"], [("exact",)], [("exact", 5)], [("near", b"\x01")], [()], 5])
def test_keys_of_the_wrong_shape_are_refused(switch: Switch, bad: object) -> None:
    with pytest.raises((TypeError, ValueError, IndexError)):
        switch.mt_add_entry(EXACT, bad, FORWARD, [b"\x01"])  # type: ignore[arg-type]


def test_a_frame_on_a_port_that_is_not_there_is_dropped_and_counted(program: Program) -> None:
    switch = Switch(program, ports=[Port(1)])
    switch.inject(2, frame(9))
    assert switch.advance_to(10) == []
    drops = switch.stats()["drops"]
    assert isinstance(drops, dict)
    assert drops["no_such_port"] == 1


def test_a_pause_holds_the_clock_until_it_is_taken_back(switch: Switch) -> None:
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


def test_waiting_for_packets_in_ends_when_one_comes_or_time_is_up(switch: Switch) -> None:
    assert switch.take_packets_in(10) == []
    switch.mt_add_entry(EXACT, key(9), "EverythingIngress.to_cpu", [])
    found: list[bytes] = []
    waiter = threading.Thread(target=lambda: found.extend(switch.take_packets_in(10_000)))
    waiter.start()
    switch.inject(1, frame(9))
    assert [port for _, port, _ in switch.advance_to(10)] == [510]
    waiter.join(5)
    assert found == [b"\x00\x80" + frame(9)]
