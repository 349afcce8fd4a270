"""The segment model: what one connection looks like, and what no host may do."""

from __future__ import annotations

from collections import defaultdict

import pytest
from eeon_tools.trace.frames import ACK, CWR, ECE, ECT_0, FIN, NOT_ECT, PSH, SYN, WIRE_OVERHEAD_BYTES
from eeon_tools.trace.hosts import TraceHost
from eeon_tools.trace.segments import Fetch, Segment, SegmentModel, TcpModel

MSS = 1460


def run(hosts: list[TraceHost], fetches: list[Fetch], model: TcpModel | None = None) -> list[Segment]:
    segments = SegmentModel(hosts, model or TcpModel(), seed=1)
    for fetch in fetches:
        segments.fetch(fetch)
    return list(segments.run())


def tcp(segment: Segment) -> tuple[int, int]:
    """Sequence and acknowledgement number of an IPv4 segment."""
    header = segment.headers[34:54]
    return int.from_bytes(header[4:8], "big"), int.from_bytes(header[8:12], "big")


def test_a_connection_opens_with_the_handshake_that_negotiates_ecn(hosts: list[TraceHost]) -> None:
    syn, syn_ack, ack, request = run(hosts, [Fetch(0, 2, 5000)])[:4]
    # RFC 3168 6.1.1: an ECN-setup SYN has ECE and CWR, an ECN-setup SYN-ACK has ECE only; neither is ECT.
    assert (syn.source, syn.flags, syn.ecn) == (0, SYN | ECE | CWR, NOT_ECT)
    assert (syn_ack.source, syn_ack.flags, syn_ack.ecn) == (2, SYN | ACK | ECE, NOT_ECT)
    assert (ack.source, ack.flags, ack.ecn, ack.payload_bytes) == (0, ACK, NOT_ECT, 0)
    assert (request.source, request.flags, request.ecn) == (0, ACK | PSH, ECT_0)
    assert request.payload_bytes == TcpModel().request_bytes
    client_isn, server_isn = tcp(syn)[0], tcp(syn_ack)[0]
    assert tcp(syn_ack)[1] == (client_isn + 1) & 0xFFFFFFFF
    assert tcp(ack) == ((client_isn + 1) & 0xFFFFFFFF, (server_isn + 1) & 0xFFFFFFFF)


def test_without_ecn_nothing_is_ect_and_nothing_says_ece(hosts: list[TraceHost]) -> None:
    segments = run(hosts, [Fetch(0, 2, 500_000), Fetch(0, 3, 500_000)], TcpModel(ecn=False))
    assert all(segment.ecn == NOT_ECT and not segment.flags & (ECE | CWR) for segment in segments)


@pytest.mark.parametrize("size", [1, MSS, MSS + 1, 10 * MSS, 64 * MSS + 17])
def test_every_byte_is_sent_once_and_every_second_segment_is_acknowledged(
    hosts: list[TraceHost], size: int
) -> None:
    segments = run(hosts, [Fetch(0, 2, size)])
    data = [s for s in segments if s.source == 2 and s.payload_bytes]
    full, rest = divmod(size, MSS)
    assert [s.payload_bytes for s in data] == [MSS] * full + ([rest] if rest else [])
    server_isn = tcp(segments[1])[0]
    expected = server_isn + 1
    for segment in data:
        assert tcp(segment)[0] == expected & 0xFFFFFFFF
        expected += segment.payload_bytes
    # One ACK ends the handshake; then one for two segments; the last has PSH and is acknowledged at once.
    pure_acks = [s for s in segments if s.source == 0 and not s.payload_bytes and s.flags & ~ECE == ACK]
    assert len(pure_acks) == 1 + (len(data) + 1) // 2
    assert tcp(pure_acks[-1])[1] == (server_isn + 1 + size) & 0xFFFFFFFF


def test_both_sides_close_and_the_last_ack_covers_the_fin(hosts: list[TraceHost]) -> None:
    segments = run(hosts, [Fetch(0, 2, 100)])
    fins = [s for s in segments if s.flags & FIN]
    assert [s.source for s in fins] == [2, 0]
    last = segments[-1]
    assert (last.source, last.flags, last.ecn) == (2, ACK, NOT_ECT)
    assert tcp(last)[1] == (tcp(fins[1])[0] + 1) & 0xFFFFFFFF
    assert tcp(fins[1])[1] == (tcp(fins[0])[0] + 1) & 0xFFFFFFFF


def test_the_window_starts_at_ten_segments_and_never_exceeds_its_limit(hosts: list[TraceHost]) -> None:
    # A delay so long that whatever the initial window allows has left before the first ACK is sent.
    model = TcpModel(window_bytes=20 * MSS, ce_threshold_bytes=10**9, one_way_delay_ns=1_000_000)
    segments = run(hosts, [Fetch(0, 2, 200 * MSS)], model)
    isn = tcp(segments[1])[0]
    in_flight = acked = sent = 0
    before_first_ack = maximum = 0
    for segment in segments[2:]:
        if segment.source == 2 and segment.payload_bytes:
            sent += segment.payload_bytes
        elif segment.source == 0:
            # The ACK reaches the sender later than it is sent, so this is a lower bound of what is in flight.
            acked = max(acked, (tcp(segment)[1] - isn - 1) & 0xFFFFFFFF)
        if not acked:
            before_first_ack = sent
        in_flight = sent - acked
        maximum = max(maximum, in_flight)
    assert before_first_ack == 10 * MSS
    assert maximum <= 20 * MSS


def test_no_host_sends_faster_than_its_link(hosts: list[TraceHost]) -> None:
    everyone = [Fetch(a, b, 300_000) for a in range(4) for b in range(4) if a != b]
    segments = run(hosts, everyone)
    free: dict[int, int] = defaultdict(int)
    for segment in segments:
        assert segment.time_ns >= free[segment.source]
        wire_ns = (segment.frame_bytes + WIRE_OVERHEAD_BYTES) * 8 * 10**9 / hosts[segment.source].rate_bps
        free[segment.source] = segment.time_ns + int(wire_ns)


def test_segments_come_in_order_of_time(hosts: list[TraceHost]) -> None:
    times = [s.time_ns for s in run(hosts, [Fetch(0, b, 100_000) for b in (1, 2, 3)])]
    assert times == sorted(times)


def test_incast_makes_acks_carry_ece_until_cwr_and_the_sender_slows_down(hosts: list[TraceHost]) -> None:
    incast = [Fetch(0, b, 400_000) for b in (1, 2, 3)]
    alone = run(hosts, incast[:1], TcpModel(ce_threshold_bytes=30_000, window_bytes=16 * MSS))
    together = run(hosts, incast, TcpModel(ce_threshold_bytes=30_000))
    assert not any(s.flags & ECE and not s.flags & SYN for s in alone)
    for server in (1, 2, 3):
        flow = [s for s in together if server == s.source and s.payload_bytes]
        assert any(s.flags & CWR for s in flow), (
            "a sender that was told of congestion says so once it has reacted"
        )
    assert sum(1 for s in together if s.source == 0 and s.flags & ECE and not s.flags & SYN) > 10


def test_data_in_the_trace_is_never_ce_because_hosts_do_not_mark(hosts: list[TraceHost]) -> None:
    segments = run(hosts, [Fetch(0, b, 400_000) for b in (1, 2, 3)], TcpModel(ce_threshold_bytes=1))
    assert {s.ecn for s in segments if s.payload_bytes} == {ECT_0}
    assert {s.ecn for s in segments if not s.payload_bytes} == {NOT_ECT}


def test_ipv6_carries_twenty_bytes_less_in_a_full_segment(hosts: list[TraceHost]) -> None:
    segments = run(hosts, [Fetch(0, 2, 14_400)], TcpModel(ipv6=True))
    data = [s for s in segments if s.source == 2 and s.payload_bytes]
    assert [s.payload_bytes for s in data] == [1440] * 10
    assert {s.frame_bytes for s in data} == {1514}


def test_a_fetch_from_oneself_is_refused(hosts: list[TraceHost]) -> None:
    with pytest.raises(ValueError, match="within one host"):
        SegmentModel(hosts, TcpModel(), 1).fetch(Fetch(1, 1, 10))
