"""The EEE hold on both: by recirculation on BMv2, by the port gate on the engine, with the same arrivals.

Bursts of numbered packets go to a port with EEE on; between them the port is idle for long, so that each
finds it asleep. Even bursts wait for the timer, odd ones reach the trigger. BMv2 runs in real time: when
each packet was handed to it is written down, and the engine gets the same packets at the same times.

While packets are held, probes go through BMv2 to a port without EEE. They share its ingress thread with the
packets that go round, its sockets and this computer's scheduler, so their passage is what BMv2 needs
without any hold: the measure for how much later than the gate opens a held packet may leave.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from eeon_engine import Program, Switch
from eeon_engine.thrift import serve

from .bmv2 import Bmv2
from .constants import WIRE_TIME_ONE
from .engine import START_PS, TICK_PS
from .subjects import checksum
from .thrift import Call, Client, match

PROGRAM = Path(__file__).resolve().parents[1] / "p4src/compiled/eeon.json"
IN, HELD, PROBED = 1, 2, 3
HELD_NET, PROBED_NET = 2, 3
"""Third byte of the addresses behind each."""

SLEEP_US, WAKE_US, HOLD_US = 200, 100, 30_000
TRIGGER_PACKETS = 6
SPACING_US = 2_000
"""Between packets of a burst."""
PROBE_AFTER_US = 700
"""After each packet of a burst: the hold is on."""
IDLE_US = 60_000
"""From when a burst's gate opens to the next burst: much more than BMv2 is late, so that each finds the port
asleep."""
_FRAME_BYTES = 200
_TICKS_PER_BYTE_Q24 = round(0.008 * WIRE_TIME_ONE)
_TIMER_PACKETS = TRIGGER_PACKETS // 2
_END_SECONDS = 20.0


@dataclass(frozen=True)
class Planned:
    """A packet: when it is to arrive, since the start, and where it goes. `burst` counts from 0."""

    at_us: int
    number: int
    net: int
    burst: int


@dataclass
class Course:
    """What became of the plan on one side: microseconds since the start, by packet number; and the order in
    which held packets left."""

    arrived_us: dict[int, float] = field(default_factory=dict)
    left_us: dict[int, float] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)


def plan(bursts: int) -> list[Planned]:
    """Packets in order of time."""
    found: list[Planned] = []
    start, number = 0, 0
    for burst in range(bursts):
        count = TRIGGER_PACKETS if burst % 2 else _TIMER_PACKETS
        for place in range(count):
            at = start + place * SPACING_US
            found.append(Planned(at, number, HELD_NET, burst))
            if place < count - 1:
                found.append(Planned(at + PROBE_AFTER_US, number + 1, PROBED_NET, burst))
            number += 2
        start += HOLD_US + WAKE_US + IDLE_US
    assert all(before.at_us < after.at_us for before, after in pairwise(found))
    return found


def frame(packet: Planned) -> bytes:
    """Returns a UDP packet over IPv4; the number is its identification."""
    length = _FRAME_BYTES - 14
    header = bytearray(20)
    header[0], header[8], header[9] = 0x45, 64, 17
    header[2:4], header[4:6] = length.to_bytes(2, "big"), packet.number.to_bytes(2, "big")
    header[12:20] = bytes([10, 0, 1, 1, 10, 0, packet.net, 1])
    header[10:12] = checksum(bytes(header)).to_bytes(2, "big")
    udp = b"\x00\x07\x00\x09" + (length - 20).to_bytes(2, "big") + bytes(2)
    return (bytes(12) + b"\x08\x00" + header + udp).ljust(_FRAME_BYTES, b"\0")


def number_of(data: bytes) -> int:
    """Returns the number of a packet that left."""
    return int.from_bytes(data[18:20], "big")


def configure(make: Callable[[Call], object]) -> None:
    """Routes to both ports for whatever station the frames are, and EEE on one."""
    admit: tuple[object, ...] = (0, "eeon_ingress.admit.l3_admit", "eeon_ingress.admit.admit_to_l3", [])
    make(Call("standard", "bm_mt_set_default_action", admit))
    profile, table = "eeon_ingress.route.ecmp_selector", "eeon_ingress.route.ipv4_route"
    for port, net in ((HELD, HELD_NET), (PROBED, PROBED_NET)):
        hop = [port.to_bytes(2, "big"), bytes(6), bytes(6)]
        member = make(
            Call("standard", "bm_mt_act_prof_add_member", (0, profile, "eeon_ingress.route.forward", hop))
        )
        key = [match("lpm", bytes([10, 0, net, 0]), 24)]
        added = make(Call("standard", "bm_mt_indirect_add_entry", (0, table, key, member, {"priority": 0})))
        assert isinstance(added, int), added
    widths = (6, 6, 6, 6, 4, 4, 6, 2)
    values = (SLEEP_US, WAKE_US, 0, HOLD_US, TRIGGER_PACKETS, 0, _TICKS_PER_BYTE_Q24, 24)
    data = [value.to_bytes(width, "big") for value, width in zip(values, widths, strict=True)]
    key = [match("exact", HELD.to_bytes(2, "big"))]
    arguments = (
        0,
        "eeon_ingress.eee_admit.port_eee",
        key,
        "eeon_ingress.eee_admit.eee",
        data,
        {"priority": 0},
    )
    added = make(Call("standard", "bm_mt_add_entry", arguments))
    assert isinstance(added, int), added


def on_bmv2(packets: list[Planned]) -> Course:
    """Hands the packets over at their times, or as soon after as can be, and hears what leaves."""
    switch = Bmv2(PROGRAM)
    try:
        configure(switch.control)
        course = Course()
        start = time.monotonic()

        def since_start() -> float:
            return 1e6 * (time.monotonic() - start)

        def hear(count: int, seconds: float) -> None:
            for port, data in switch.receive(count, seconds):
                course.left_us[number_of(data)] = since_start()
                if port == HELD:
                    course.order.append(number_of(data))

        for packet in packets:
            while (left := packet.at_us - since_start()) > 0:
                hear(1, left / 1e6)
            course.arrived_us[packet.number] = since_start()
            switch.send(IN, frame(packet))
        deadline = time.monotonic() + _END_SECONDS
        while len(course.left_us) < len(packets) and time.monotonic() < deadline:
            hear(1, 0.1)
        return course
    finally:
        switch.close()


def on_engine(packets: list[Planned], arrived_us: dict[int, float]) -> Course:
    """Returns the same packets at the times at which BMv2 was given them, in virtual time."""
    switch = Switch(
        Program(PROGRAM.read_bytes()), tick_ps=TICK_PS, cpu_port=None, gate_register="gate_open_at"
    )
    switch.advance_to(START_PS)
    with serve(switch, "127.0.0.1:0") as server:
        client = Client(int(server.address.rpartition(":")[2]))
        configure(client.make)
        client.close()
    course = Course(arrived_us=dict(arrived_us))
    for packet in packets:
        switch.inject(IN, frame(packet), START_PS + int(arrived_us[packet.number]) * TICK_PS)
    last = START_PS + int(max(arrived_us.values()) + 2 * HOLD_US) * TICK_PS
    for at_ps, port, data in switch.advance_to(last):
        course.left_us[number_of(data)] = (at_ps - START_PS) / TICK_PS
        if port == HELD:
            course.order.append(number_of(data))
    return course


def bursts_of(packets: list[Planned]) -> Iterator[list[Planned]]:
    """Yields the held packets of each burst."""
    for burst in range(packets[-1].burst + 1):
        yield [packet for packet in packets if packet.burst == burst and packet.net == HELD_NET]
