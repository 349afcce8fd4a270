"""The program on BMv2's simple_switch: the reference for what P4 and v1model mean.

Queues are made with the EEE hold: nothing leaves before a test opens the gate, so what each packet finds
is known. Cannot see: exact times (BMv2 is software on a wall clock), other targets (ptf_tests/, engine/).
Each test starts its own switch and takes a second or two.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

scapy = pytest.importorskip("scapy.all", reason="scapy is not installed: `pip install scapy`")

from bmv2 import CPU_PORT, Bmv2, Received, cell_of, needs_bmv2  # noqa: E402

pytestmark = [pytest.mark.system, needs_bmv2]

HOST1_MAC, HOST2_MAC, SWITCH_MAC = "02:00:00:00:01:01", "02:00:00:00:02:01", "02:01:00:00:00:01"
IN, OUT, OTHER_OUT = 1, 2, 3

NOT_ECT, ECT_1, ECT_0, CE = 0, 1, 2, 3
FRAME_BYTES = 1000

# Ticks are BMv2's microseconds. 1 Gb/s is 0.008 us a byte.
GIGABIT_TICKS_PER_BYTE_Q24 = round(0.008 * 2**24)
OVERHEAD_BYTES = 24
FOREVER = 60_000_000
LONG, SHORT = 1_500_000, 100_000

Start = Callable[..., Bmv2]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a switch with 10.0.2.0/24 and fd00:0:0:2::/64 behind port OUT."""
    with ExitStack() as stack:

        def run(input_port: int = IN) -> Bmv2:
            switch = stack.enter_context(Bmv2(tmp_path, (IN, OUT, OTHER_OUT, CPU_PORT), input_port))
            switch.cli(f"table_add l3_admit admit_to_l3 {input_port} {SWITCH_MAC} =>")
            switch.route("10.0.2.0/24", (OUT, SWITCH_MAC, HOST2_MAC))
            switch.route("fd00:0:0:2::/64", (OUT, SWITCH_MAC, HOST2_MAC))
            return switch

        yield run


def tcp(
    number: int = 0, ecn: int = ECT_0, flags: str = "A", payload: int | None = None, **ip: object
) -> bytes:
    """A TCP frame over IPv4, FRAME_BYTES long unless `payload` says otherwise; `number` is the IP ID."""
    size = FRAME_BYTES - 54 if payload is None else payload
    header = scapy.IP(**{"src": "10.0.1.1", "dst": "10.0.2.1", "tos": ecn, "id": number, **ip})
    segment = scapy.TCP(sport=1000, dport=2000, flags=flags) / scapy.Raw(bytes(size))
    return bytes(scapy.Ether(src=HOST1_MAC, dst=SWITCH_MAC) / header / segment)


def tcp6(number: int = 0, ecn: int = ECT_0, hop_limit: int = 64) -> bytes:
    """As tcp(), over IPv6; `number` is the flow label."""
    header = scapy.IPv6(src="fd00:0:0:1::1", dst="fd00:0:0:2::1", tc=ecn, fl=number, hlim=hop_limit)
    segment = scapy.TCP(sport=1000, dport=2000, flags="A") / scapy.Raw(bytes(FRAME_BYTES - 74))
    return bytes(scapy.Ether(src=HOST1_MAC, dst=SWITCH_MAC) / header / segment)


def numbers(frames: list[Received]) -> list[int]:
    return [scapy.Ether(r.frame)[scapy.IP].id for r in frames]


def ecn_by_number(frames: list[Received]) -> dict[int, int]:
    parsed = [scapy.Ether(r.frame)[scapy.IP] for r in frames]
    return {ip.id: ip.tos & 3 for ip in parsed}


def expected_next_hop(frame: bytes, ecn: int | None = None) -> bytes:
    """The frame as a router must send it: next-hop MACs, TTL less one, scapy's checksum; CE where asked."""
    packet = scapy.Ether(frame)
    packet.src, packet.dst = SWITCH_MAC, HOST2_MAC
    ip = packet[scapy.IP]
    ip.ttl -= 1
    if ecn is not None:
        ip.tos = ip.tos & ~3 | ecn
    del ip.chksum
    return bytes(packet)


def eee(switch: Bmv2, port: int = OUT, hold: int = FOREVER, trigger_packets: int = 0, trigger_bytes: int = 0,
        sleep: int = 0, wake: int = 0, stall: int = 0) -> None:  # fmt: skip
    values = [
        sleep,
        wake,
        stall,
        hold,
        trigger_packets,
        trigger_bytes,
        GIGABIT_TICKS_PER_BYTE_Q24,
        OVERHEAD_BYTES,
    ]
    switch.cli(f"table_add port_eee eee {port} => {' '.join(map(str, values))}")


def release(switch: Bmv2, sent: int) -> None:
    """Open the gate of OUT when each packet sent is either queued or dropped."""
    deadline = time.monotonic() + 20
    while True:
        dropped = sum(switch.verdict_counts(OUT).values())
        (queued,) = switch.registers(OUT, "occupancy_packets")
        if dropped + queued == sent:
            break
        assert time.monotonic() < deadline, f"of {sent} packets {queued} are queued and {dropped} dropped"
    switch.cli(f"register_write gate_open_at {OUT} 1")


# Forwarding


def test_packet_leaves_with_next_hop_macs_ttl_less_one_and_a_right_checksum(start: Start) -> None:
    switch = start()
    frame = tcp(7, ttl=9)
    switch.send(frame)
    assert switch.wait_for(OUT, 1)[0].frame == expected_next_hop(frame)
    assert switch.received_counts(IN) == {"DATA": 1}
    assert switch.verdict_counts(OUT) == {("DATA", "FORWARDED"): 1}
    switch.drained(OUT)


def test_checksum_stays_right_where_one_s_complement_wraps(start: Start) -> None:
    switch = start()
    eee(switch)
    switch.cli(f"table_add port_aqm mark_threshold {OUT} => 0 0 0")
    frames = [tcp(ecn=NOT_ECT)]  # the one that the others find
    for ecn in (NOT_ECT, ECT_0, ECT_1):
        # The IP identification makes the checksum whatever is wanted; none makes it 0xFFFF.
        base = int.from_bytes(tcp(0, ecn)[24:26], "big")
        for wanted in (0x0000, 0x0001, 0x0002, 0xFEFE, 0xFEFF, 0xFF00, 0xFF01, 0xFF02, 0xFFFE):
            frame = tcp((base - wanted) % 0xFFFF, ecn)
            assert int.from_bytes(frame[24:26], "big") == wanted
            frames.append(frame)
    switch.send(*frames)
    release(switch, len(frames))
    left = [r.frame for r in switch.wait_for(OUT, len(frames))]
    assert left == [expected_next_hop(f, CE if f[15] & 3 else None) for f in frames]


def test_ipv4_options_and_vlan_tags_and_padding_pass_through(start: Start) -> None:
    switch = start()
    options = tcp(1, options=[scapy.IPOption(b"\x94\x04\x00\x00"), scapy.IPOption(b"\x94\x04\x00\x00")])
    inner = scapy.Ether(tcp(2))
    tagged = bytes(
        scapy.Ether(src=HOST1_MAC, dst=SWITCH_MAC)
        / scapy.Dot1AD(vlan=5)
        / scapy.Dot1Q(vlan=6)
        / inner.payload
    )
    padded_ack = tcp(3, payload=0) + bytes(6)
    switch.send(options, tagged, padded_ack)
    frames = [r.frame for r in switch.wait_for(OUT, 3)]
    assert frames == [expected_next_hop(options), expected_next_hop(tagged), expected_next_hop(padded_ack)]
    assert switch.received_counts(IN) == {"DATA": 2, "ACK": 1}


def test_ipv6_packet_leaves_with_hop_limit_less_one(start: Start) -> None:
    switch = start()
    switch.send(tcp6(hop_limit=1), tcp6(hop_limit=2))
    packet = scapy.Ether(switch.wait_for(OUT, 1)[0].frame)
    assert (packet.src, packet.dst, packet[scapy.IPv6].hlim) == (SWITCH_MAC, HOST2_MAC, 1)
    assert switch.verdict_counts(IN) == {("DATA", "TTL_EXPIRED"): 1}


def test_packets_that_are_not_to_be_forwarded_are_dropped_and_counted_by_cause(start: Start) -> None:
    switch = start()
    bad_checksum = bytearray(tcp())
    bad_checksum[24] ^= 1
    switch.send(
        tcp(ttl=1),
        tcp(dst="10.9.9.9"),
        bytes(scapy.Ether(src=HOST1_MAC, dst=SWITCH_MAC) / scapy.ARP()),
        bytes(scapy.Ether(src=HOST1_MAC, dst="ff:ff:ff:ff:ff:ff") / scapy.ARP()),
        tcp(dst="127.0.0.1"),
        bytes(bad_checksum),
        tcp(version=5),
        tcp(len=FRAME_BYTES),  # longer than the frame
        tcp(payload=0, len=39),  # ends within the TCP header
        tcp(payload=0, len=19),  # ends within its own header
        tcp()[:30],  # ends within the IPv4 header
        tcp(99),
    )
    assert numbers(switch.wait_for(OUT, 1)) == [99]
    assert switch.verdict_counts(IN) == {
        ("DATA", "TTL_EXPIRED"): 1,
        ("DATA", "NO_ROUTE"): 1,
        ("OTHER", "NO_ROUTE"): 1,
        ("OTHER", "NOT_ADMITTED"): 1,
        ("DATA", "MARTIAN"): 1,
        ("OTHER", "MALFORMED"): 6,
    }
    assert switch.received_counts(IN) == {"DATA": 4, "OTHER": 8}
    switch.drained(OUT)


def test_classes_follow_flags_and_the_payload_that_ip_declares(start: Start) -> None:
    switch = start()
    udp = (
        scapy.Ether(src=HOST1_MAC, dst=SWITCH_MAC)
        / scapy.IP(src="10.0.1.1", dst="10.0.2.1")
        / scapy.UDP()
        / b"x"
    )
    cases = {
        "DATA": [tcp(payload=1), tcp(payload=1, flags="AE")],
        "ACK": [tcp(payload=0), tcp(payload=0) + bytes(6)],
        "ACK_ECE": [tcp(payload=0, flags="AE")],
        "SYN": [tcp(payload=0, flags="SEC")],
        "SYN_ACK": [tcp(payload=0, flags="SAE")],
        "FIN_RST": [tcp(payload=0, flags="FA"), tcp(payload=0, flags="R")],
        "OTHER": [bytes(udp), fragment()],
    }
    for frames in cases.values():
        switch.send(*frames)
    switch.wait_for(OUT, sum(map(len, cases.values())))
    assert switch.received_counts(IN) == {name: len(frames) for name, frames in cases.items()}


def fragment() -> bytes:
    """The first fragment of a TCP segment: its ports are there, but not in the ones that follow."""
    packet = scapy.Ether(tcp())
    packet[scapy.IP].flags = "MF"
    del packet[scapy.IP].chksum
    return bytes(packet)


def test_flows_spread_over_the_group_and_each_flow_keeps_its_path(start: Start) -> None:
    switch = start()
    switch.route("10.0.3.0/24", (OUT, SWITCH_MAC, HOST2_MAC), (OTHER_OUT, SWITCH_MAC, HOST2_MAC))
    flows = [
        bytes(
            scapy.Ether(src=HOST1_MAC, dst=SWITCH_MAC)
            / scapy.IP(src="10.0.1.1", dst=str(ipaddress.ip_address("10.0.3.1") + n % 16), id=n)
            / scapy.TCP(sport=1000 + n, dport=2000, flags="A")
        )
        for n in range(256)
    ]
    switch.send(*flows, *flows)
    left = switch.wait_for_all((OUT, OTHER_OUT), 2 * len(flows))
    ports = {port: numbers(frames) for port, frames in left.items()}
    assert len(ports[OUT]) + len(ports[OTHER_OUT]) == 2 * len(flows)
    assert not set(ports[OUT]) & set(ports[OTHER_OUT])
    # 128 flows a path are expected; 5 standard deviations of a fair coin are 40.
    assert 88 <= len(set(ports[OUT])) <= 168


# The controller's port


def test_packet_out_leaves_through_the_named_port_unchanged_and_is_accounted(start: Start) -> None:
    switch = start(input_port=CPU_PORT)
    frame = tcp(5, ttl=1)
    switch.send((OUT << 7).to_bytes(2, "big") + frame, (CPU_PORT << 7).to_bytes(2, "big") + frame)
    assert switch.wait_for(OUT, 1)[0].frame == frame
    assert switch.verdict_counts(OUT) == {("DATA", "FORWARDED"): 1}
    assert switch.verdict_counts(CPU_PORT) == {("DATA", "NO_ROUTE"): 1}
    switch.drained(OUT)


def test_packet_out_is_held_with_the_bytes_of_its_frame_alone(start: Start) -> None:
    switch = start(input_port=CPU_PORT)
    eee(switch, trigger_packets=2)
    frame = tcp(5)
    switch.send((OUT << 7).to_bytes(2, "big") + frame)
    switch.wait_until(OUT, occupancy_packets=1)
    assert switch.registers(OUT, "occupancy_bytes", "held_bytes") == [FRAME_BYTES, FRAME_BYTES]
    switch.send((OUT << 7).to_bytes(2, "big") + frame)
    assert [r.frame for r in switch.wait_for(OUT, 2)] == [frame, frame]
    switch.drained(OUT)


def test_packet_for_the_controller_carries_its_ingress_port(start: Start) -> None:
    switch = start()
    switch.cli(
        "act_prof_create_member ecmp_selector to_cpu",
        "table_indirect_add ipv4_route 10.0.1.254/32 => 2",
    )
    frame = tcp(dst="10.0.1.254", ttl=1)
    switch.send(frame)
    assert switch.wait_for(CPU_PORT, 1)[0].frame == (IN << 7).to_bytes(2, "big") + frame
    assert switch.verdict_counts(IN) == {("DATA", "TO_CPU"): 1}
    assert switch.registers(CPU_PORT, "occupancy_packets") == [0]


# Marking and dropping


def test_ect_is_marked_above_the_byte_threshold_and_not_at_it(start: Start) -> None:
    switch = start()
    eee(switch)
    switch.cli(f"table_add port_aqm mark_threshold {OUT} => {3 * FRAME_BYTES} {FRAME_BYTES} 0")
    frames = [tcp(n) for n in range(8)]
    switch.send(*frames)
    release(switch, 8)
    left = [r.frame for r in switch.wait_for(OUT, 8)]
    # Packet n finds n frames; 4000 bytes is the first depth above 3000. Nothing but ECN and checksum differs.
    assert left == [expected_next_hop(f, CE if n >= 4 else None) for n, f in enumerate(frames)]
    assert switch.verdict_counts(OUT) == {("DATA", "FORWARDED"): 4, ("DATA", "MARKED"): 4}


def test_not_ect_is_never_marked_nor_dropped_and_ce_is_never_cleared(start: Start) -> None:
    switch = start()
    eee(switch)
    switch.cli(f"table_add port_aqm mark_threshold {OUT} => 0 0 0")
    switch.send(*(tcp(n, ecn=NOT_ECT if n % 2 else CE) for n in range(10)))
    release(switch, 10)
    assert ecn_by_number(switch.wait_for(OUT, 10)) == {n: NOT_ECT if n % 2 else CE for n in range(10)}
    assert switch.verdict_counts(OUT) == {("DATA", "FORWARDED"): 10}


def test_ect1_has_its_own_threshold(start: Start) -> None:
    switch = start()
    eee(switch)
    switch.cli(f"table_add port_aqm mark_threshold {OUT} => {5 * FRAME_BYTES} {FRAME_BYTES} 0")
    switch.send(*(tcp(n, ecn=ECT_1) for n in range(4)))
    release(switch, 4)
    assert ecn_by_number(switch.wait_for(OUT, 4)) == {0: ECT_1, 1: ECT_1, 2: CE, 3: CE}


def test_marking_at_dequeue_looks_at_the_bytes_left_behind(start: Start) -> None:
    switch = start()
    eee(switch)
    switch.cli(f"table_add port_aqm mark_threshold {OUT} => {3 * FRAME_BYTES} {3 * FRAME_BYTES} 1")
    switch.send(*(tcp(n) for n in range(8)))
    # Packet n leaves 7 - n frames behind.
    release(switch, 8)
    assert ecn_by_number(switch.wait_for(OUT, 8)) == {n: CE if 7 - n > 3 else ECT_0 for n in range(8)}


def test_ipv6_is_marked_too(start: Start) -> None:
    switch = start()
    eee(switch)
    switch.cli(f"table_add port_aqm mark_threshold {OUT} => {FRAME_BYTES} {FRAME_BYTES} 0")
    switch.send(*(tcp6(n) for n in range(4)))
    release(switch, 4)
    packets = [scapy.Ether(r.frame)[scapy.IPv6] for r in switch.wait_for(OUT, 4)]
    assert [(p.fl, p.tc) for p in packets] == [(0, ECT_0), (1, ECT_0), (2, CE), (3, CE)]


def test_a_packet_that_does_not_fit_is_tail_dropped_and_the_next_smaller_one_is_not(start: Start) -> None:
    switch = start()
    eee(switch)
    switch.cli(f"table_add port_buffer set_buffer_limit {OUT} => {4 * FRAME_BYTES + 100}")
    switch.send(*(tcp(n) for n in range(6)), tcp(6, payload=46), tcp(7, payload=0))
    release(switch, 8)
    assert numbers(switch.wait_for(OUT, 5)) == [0, 1, 2, 3, 6]
    assert switch.verdict_counts(OUT) == {
        ("DATA", "FORWARDED"): 5,
        ("DATA", "TAIL_DROPPED"): 2,
        ("ACK", "TAIL_DROPPED"): 1,
    }
    switch.drained(OUT)


RED_CASES = [
    ("ect", 1, 0, {"DATA": 0, "ACK": 1, "ACK_ECE": 1, "SYN": 1, "SYN_ACK": 1, "FIN_RST": 1}),
    ("ece", 1, 1, {"DATA": 0, "ACK": 1, "ACK_ECE": 0, "SYN": 0, "SYN_ACK": 0, "FIN_RST": 1}),
    ("ack_syn", 1, 2, {"DATA": 0, "ACK": 0, "ACK_ECE": 0, "SYN": 0, "SYN_ACK": 0, "FIN_RST": 1}),
    ("ecn off", 0, 2, {"DATA": 1, "ACK": 0, "ACK_ECE": 0, "SYN": 0, "SYN_ACK": 0, "FIN_RST": 1}),
]


@pytest.mark.parametrize(
    ("ecn", "protect", "dropped"), [c[1:] for c in RED_CASES], ids=[c[0] for c in RED_CASES]
)
def test_red_above_max_spares_only_whom_it_protects(
    start: Start, ecn: int, protect: int, dropped: dict[str, int]
) -> None:
    switch = start()
    eee(switch)
    # One packet queued is already above max.
    switch.cli(f"table_add port_aqm red {OUT} => 0 1 0 1 0 {ecn} {protect} 0 0 0")
    switch.send(tcp(0, ecn=NOT_ECT, flags="R", payload=0))
    switch.send(
        tcp(1, ecn=ECT_0),
        tcp(2, ecn=NOT_ECT, payload=0),
        tcp(3, ecn=NOT_ECT, payload=0, flags="AE"),
        tcp(4, ecn=NOT_ECT, payload=0, flags="SEC"),
        tcp(5, ecn=NOT_ECT, payload=0, flags="SAE"),
        tcp(6, ecn=NOT_ECT, payload=0, flags="FA"),
    )
    release(switch, 7)
    switch.wait_for(OUT, 7 - sum(dropped.values()))
    counts = switch.verdict_counts(OUT)
    assert {name: counts.get((name, "EARLY_DROPPED"), 0) for name in dropped} == dropped
    assert counts.get(("DATA", "MARKED"), 0) == ecn
    switch.drained(OUT)


def test_red_lets_through_what_another_switch_has_marked(start: Start) -> None:
    switch = start()
    eee(switch)
    switch.cli(f"table_add port_aqm red {OUT} => 0 1 0 1 0 1 0 0 0 0")
    switch.send(tcp(0), tcp(1, ecn=CE), tcp(2, ecn=ECT_1))
    release(switch, 3)
    assert ecn_by_number(switch.wait_for(OUT, 3)) == {0: ECT_0, 1: CE, 2: CE}
    assert switch.verdict_counts(OUT) == {("DATA", "FORWARDED"): 2, ("DATA", "MARKED"): 1}


def test_red_marks_with_the_probability_of_its_slope(start: Start) -> None:
    switch = start()
    eee(switch)
    # Between 0 and 1000 packets the probability rises to 1: n / 1000 for packet n, 124.75 of 500 expected.
    switch.cli(f"table_add port_aqm red {OUT} => 0 1000 {round(2**48 / 1000)} 1 0 1 0 0 0 0")
    switch.send(*(tcp(n, payload=10) for n in range(500)))
    release(switch, 500)
    marked = sum(ecn == CE for ecn in ecn_by_number(switch.wait_for(OUT, 500, 30)).values())
    # The variance is the sum of p(1-p) = 83, so 5 standard deviations are 46.
    assert 79 <= marked <= 170


def test_red_average_follows_the_weight(start: Start) -> None:
    switch = start()
    eee(switch)
    switch.cli(f"table_add port_aqm red {OUT} => 4000000000 4000000000 0 0 1 1 0 0 0 0")
    switch.send(*(tcp(n) for n in range(4)))
    release(switch, 4)
    switch.wait_for(OUT, 4)
    # Weight 1/2 over depths 0, 1000, 2000, 3000: 0, 500, 1250, 2125.
    assert switch.registers(OUT, "red_average") == [2125 << 32]


# The EEE hold


def test_hold_ends_by_its_timer_and_everything_leaves_in_order(start: Start) -> None:
    switch = start()
    eee(switch, hold=LONG, sleep=1000, wake=SHORT)
    switch.send(*(tcp(n) for n in range(20)))
    switch.wait_until(OUT, held_packets=20)
    assert switch.registers(OUT, "eee_state", "occupancy_packets", "occupancy_bytes") == [
        1,
        20,
        20 * FRAME_BYTES,
    ]
    gate, wake_start = switch.registers(OUT, "gate_open_at", "wake_start")
    assert gate == wake_start + SHORT
    assert switch.received(OUT) == []
    assert numbers(switch.wait_for(OUT, 20)) == list(range(20))
    state, gate, held, nexts, serving, wakes = switch.registers(
        OUT, "eee_state", "gate_open_at", "held_packets", "ticket_next", "ticket_serving", "wakes"
    )
    assert (state, gate, held, nexts, serving, wakes) == (0, 0, 0, 20, 20, 1)
    # Asleep from 1000 us after the start, when the port first could sleep, until the timer fired.
    lpi, start_of_wake, asleep = switch.registers(OUT, "lpi_ticks", "wake_start", "asleep_at")
    assert asleep == 1000 and lpi == start_of_wake - asleep
    switch.drained(OUT)


def test_hold_ends_early_when_the_packet_trigger_is_reached(start: Start) -> None:
    switch = start()
    eee(switch, hold=FOREVER, trigger_packets=10)
    switch.send(*(tcp(n) for n in range(9)))
    switch.wait_until(OUT, held_packets=9)
    assert switch.received(OUT) == []
    switch.send(tcp(9))
    assert numbers(switch.wait_for(OUT, 10)) == list(range(10))
    switch.drained(OUT)


def test_hold_ends_early_when_the_byte_trigger_is_reached(start: Start) -> None:
    switch = start()
    eee(switch, hold=FOREVER, trigger_bytes=4 * FRAME_BYTES)
    switch.send(*(tcp(n) for n in range(3)))
    switch.wait_until(OUT, held_bytes=3 * FRAME_BYTES)
    assert switch.received(OUT) == []
    switch.send(tcp(3))
    assert numbers(switch.wait_for(OUT, 4)) == [0, 1, 2, 3]
    switch.drained(OUT)


def test_trigger_reached_after_the_timer_has_fired_changes_nothing(start: Start) -> None:
    switch = start()
    eee(switch, hold=1, wake=LONG, trigger_packets=2)
    switch.send(tcp(0))
    switch.wait_until(OUT, held_packets=1)
    times = switch.registers(OUT, "wake_start", "gate_open_at")
    switch.send(tcp(1))
    switch.wait_until(OUT, held_packets=2)
    assert switch.registers(OUT, "eee_state") == [2]
    assert switch.registers(OUT, "wake_start", "gate_open_at") == times
    switch.wait_for(OUT, 2)


@pytest.mark.parametrize(("hold", "state"), [(0, 2), (1, 1)], ids=["no coalescing", "coalescing"])
def test_a_sleep_that_has_begun_is_not_aborted(start: Start, hold: int, state: int) -> None:
    switch = start()
    eee(switch, hold=hold, sleep=FOREVER, wake=SHORT, trigger_packets=2)
    switch.send(tcp(0))
    switch.wait_until(OUT, occupancy_packets=1)
    # The port has been idle since the switch started, at 0.
    expected = [state, FOREVER, FOREVER, FOREVER + SHORT]
    assert switch.registers(OUT, "eee_state", "asleep_at", "wake_start", "gate_open_at") == expected
    switch.send(tcp(1))
    switch.wait_until(OUT, occupancy_packets=2)
    expected[0] = 2
    assert switch.registers(OUT, "eee_state", "asleep_at", "wake_start", "gate_open_at") == expected


def test_each_departure_keeps_the_wire_busy_for_its_frame_and_overhead(start: Start) -> None:
    switch = start()
    millisecond_a_byte = 1000 << 24
    values = [0, 0, FOREVER, 0, 0, 0, millisecond_a_byte, OVERHEAD_BYTES]
    switch.cli(f"table_add port_eee eee {OUT} => {' '.join(map(str, values))}")
    switch.send(tcp(0))
    switch.wait_for(OUT, 1)
    switch.drained(OUT)
    (first,) = switch.registers(OUT, "busy_until")
    switch.send(tcp(1), tcp(2))
    switch.wait_for(OUT, 3)
    switch.drained(OUT)
    assert switch.registers(OUT, "busy_until") == [first + 2 * 1000 * (FRAME_BYTES + OVERHEAD_BYTES)]


def test_without_coalescing_a_sleeping_port_wakes_at_once(start: Start) -> None:
    switch = start()
    eee(switch, hold=0, wake=LONG)
    switch.send(tcp(0))
    switch.wait_until(OUT, eee_state=2)
    assert switch.received(OUT) == []
    switch.wait_for(OUT, 1)
    assert switch.registers(OUT, "eee_state", "wakes", "held_packets") == [0, 1, 0]


def test_a_port_idle_for_less_than_its_stall_time_is_still_awake(start: Start) -> None:
    switch = start()
    eee(switch, hold=FOREVER, stall=FOREVER)
    switch.send(tcp(0), tcp(1))
    assert numbers(switch.wait_for(OUT, 2)) == [0, 1]
    assert switch.registers(OUT, "wakes", "lpi_ticks") == [0, 0]


def test_order_survives_switching_eee_off_while_packets_are_held(start: Start) -> None:
    switch = start()
    eee(switch, hold=LONG)
    switch.send(*(tcp(n) for n in range(5)))
    switch.wait_until(OUT, held_packets=5)
    switch.cli("table_clear port_eee")
    switch.send(*(tcp(n) for n in range(5, 10)))
    assert numbers(switch.wait_for(OUT, 10)) == list(range(10))
    switch.drained(OUT)
    switch.send(tcp(10))
    switch.wait_for(OUT, 11)
    # Nobody takes tickets any more.
    assert switch.registers(OUT, "ticket_next", "ticket_serving", "eee_state") == [10, 10, 0]


def test_a_ticket_that_never_comes_does_not_stop_the_port(start: Start) -> None:
    switch = start()
    eee(switch, hold=0)
    # As if ticket 0 had been lost on its way round.
    switch.cli(f"register_write ticket_next {cell_of('ticket_next', OUT)} 1")
    switch.send(*(tcp(n) for n in range(1, 6)))
    assert numbers(switch.wait_for(OUT, 5, 30)) == [1, 2, 3, 4, 5]
    assert switch.registers(OUT, "ticket_next", "ticket_serving") == [6, 6]
    switch.drained(OUT)


def test_many_short_holds_lose_nothing_and_keep_order(start: Start) -> None:
    switch = start()
    eee(switch, hold=1000, trigger_packets=10)
    total = 2000
    for first in range(0, total, 50):
        switch.send(*(tcp(n, payload=100) for n in range(first, first + 50)))
    assert numbers(switch.wait_for(OUT, total, 60)) == list(range(total))
    switch.drained(OUT)
    assert sum(switch.verdict_counts(OUT).values()) == total
    nexts, serving, wakes = switch.registers(OUT, "ticket_next", "ticket_serving", "wakes")
    assert (nexts, serving) == (total, total)
    assert wakes >= 1
