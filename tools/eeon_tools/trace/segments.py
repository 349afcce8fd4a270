"""What TCP makes of a list of fetches: every segment that every host sends, and when.

Scope. This is a generator of traces, not a simulator of networks: it produces what hosts would offer to a
fabric so that a replay can put the same offer through different switch settings. Hosts do not react to what a
replay does. Nothing is ever lost here and nothing is reordered. docs/models/shuffle.md has the equations and
the limits.

The network of the model is two queues and a constant between them:

    sender's NIC --(serialises at the host's link rate)--> one-way delay --> receiver's access link -->
    receiver
                                                                             (serialises again; unbounded;
                                                                             ECN)

* A frame starts to leave when the NIC is free: a trace never sends faster than a host's link. Its time in the
  trace is that start, rounded up to a nanosecond.
* `one_way_delay_ns` is from that start to the moment at which the frame joins the receiver's access-link
  queue.
* Incast arises by itself, in the queue of the receiver's link. A data frame in ECT(0) that finds more than
  `ce_threshold_bytes` in that queue counts as CE: its receiver sets ECE in every ACK until it sees CWR (RFC
  3168 6.1.3). The frame in the trace still says ECT(0), for that is what its host sent.

The endpoints: three-way handshake with ECN negotiation (RFC 3168 6.1.1: SYN with ECE and CWR, SYN-ACK with
ECE, all of them Not-ECT), one request, initial window of 10 segments (RFC 6928), slow start with L = 2 (RFC
3465), congestion avoidance, one halving a window on ECE (RFC 3168 6.1.2), a window limit; the receiver
acknowledges every second data segment, and at once a segment with PSH (the last of a response). Because
nothing is lost, no delayed-ACK timer ever decides anything: a sender has at least two segments of window, so
a receiver never waits for a second one in vain.

Invariants: sequence numbers of a direction rise without gaps; snd_una <= snd_nxt; events of one time run in
the order in which they were made, so the same input gives the same trace.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from eeon_tools.trace.frames import (
    ACK,
    CE,
    CWR,
    ECE,
    ECT_0,
    FIN,
    MIN_FRAME_BYTES,
    NOT_ECT,
    PSH,
    SYN,
    SYN_OPTIONS_BYTES,
    WIRE_OVERHEAD_BYTES,
    FlowTemplate,
    max_segment_bytes,
)
from eeon_tools.trace.hosts import TraceHost

INITIAL_WINDOW_SEGMENTS = 10
"""RFC 6928 section 2."""
MIN_WINDOW_SEGMENTS = 2
"""RFC 5681 (4) lets ssthresh fall to 2 segments, not below."""
SLOW_START_LIMIT_SEGMENTS = 2
"""RFC 3465 2.3: L = 2, so that an ACK of two segments opens the window by two."""
EPHEMERAL_PORTS = (32768, 60999)
"""Linux's ip_local_port_range."""
_HEADER_BYTES = {False: 14 + 20 + 20, True: 14 + 40 + 20}
# Ethernet, IP and TCP headers without options, by `ipv6`.
_RECEIVE_WINDOW_BYTES = 4 << 20
# Advertised and never reached; the limit of the model is the sender's.
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class TcpModel:
    """How endpoints and the network between them behave. One object a trace; written into the manifest."""

    one_way_delay_ns: int = 30_000
    """From a frame's first bit leaving its host to the receiver's access queue. Default: four hops of a
    leaf-spine with one full frame each at 1, 10, 10 Gbit/s, and about 15 us in the hosts' own stacks."""
    window_bytes: int = 65_536
    """Maximum number of bytes that a sender has in flight. The thesis uses 64 KB (Hadoop's default buffers)
    and 1 MB (tuned), section 4.2."""
    ce_threshold_bytes: int = 97_500
    """Depth of the receiver's access queue above which data counts as CE. Default 65 frames of 1500 bytes,
    the DCTCP authors' setting for 10 Gbit/s, which on 1 Gbit/s is 780 us."""
    ecn: bool = True
    """Whether connections negotiate ECN; without it nothing is ECT and nothing carries ECE."""
    request_bytes: int = 280
    """HTTP request that a Hadoop reducer sends for one map output (an order of magnitude, it fits one
    segment)."""
    server_port: int = 13562
    """Hadoop's mapreduce.shuffle.port."""
    ipv6: bool = False
    """IPv6 instead of IPv4."""
    dscps: tuple[int, ...] = (0,)
    """DSCPs of the connections (RFC 2474), which take them in turn as they begin; both directions of one have
    the same."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """One transfer: `client` opens a connection to `server`, asks, and is sent `size_bytes`. Hosts are
    indices."""

    client: int
    server: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Segment:
    """One frame as its host sends it. `headers` ends where the payload would begin."""

    time_ns: int
    source: int
    flags: int
    payload_bytes: int
    ecn: int
    headers: bytes
    frame_bytes: int


@dataclass(slots=True)
class _Connection:
    """Both ends of one fetch. Sequence numbers are relative: a SYN has number 0, the first byte 1."""

    client: int
    server: int
    end: int
    """Number after the last byte of the response; the server's FIN has it."""
    request_bytes: int
    client_isn: int
    server_isn: int
    client_template: FlowTemplate
    server_template: FlowTemplate
    on_done: Callable[[int], None] | None
    cwnd: int
    ssthresh: int
    snd_una: int = 1
    snd_nxt: int = 1
    recover: int = 0
    """What had been sent when the window was halved; it is not halved again before that is acknowledged."""
    in_cwr: bool = False
    cwr_due: bool = False
    """The next data segment says CWR."""
    ece_latch: bool = False
    """The client's ACKs say ECE."""
    ack_pending: int = 0
    """Data segments that the client has not acknowledged."""


# A frame in flight: connection, whether the client sent it, flags, relative seq and ack, payload, ECN field.
_Flight = tuple[_Connection, bool, int, int, int, int, int]

_ENTER, _DELIVER, _TIMER = range(3)


class SegmentModel:
    """Runs fetches and yields segments in the order of time.

    A workload calls `at` for timers and `fetch` to begin a transfer; both may be called before `run` and from
    callbacks. Memory is what is in flight: flows not yet begun and flows that have ended take none.
    """

    def __init__(self, hosts: list[TraceHost], model: TcpModel, seed: int) -> None:
        self._hosts = hosts
        self._model = model
        self._seed = seed
        self._mss = max_segment_bytes(model.ipv6)
        self._window = max(model.window_bytes, MIN_WINDOW_SEGMENTS * self._mss)
        self._nic_free = [0] * len(hosts)
        self._access_free = [0] * len(hosts)
        self._wire_ns = [_WireTime(host.rate_bps) for host in hosts]
        self._ports_used: dict[tuple[int, int], int] = {}
        self._events: list[tuple[int, int, int, object]] = []
        self._made = 0
        self._now = 0
        self.connections = 0
        """Connections begun so far."""

    # What a workload calls.

    def at(self, time_ns: int, action: Callable[[int], None]) -> None:
        """Calls `action(now)` at `time_ns`, or now if that is past."""
        self._push(max(time_ns, self._now), _TIMER, action)

    def fetch(self, fetch: Fetch, on_done: Callable[[int], None] | None = None) -> None:
        """Begins a transfer now. `on_done(now)` is called when its last byte and FIN have reached the
        client."""
        if fetch.client == fetch.server:
            raise ValueError("a fetch within one host sends nothing; the workload must leave it out")
        if fetch.size_bytes < 1:
            raise ValueError("a fetch moves at least one byte")
        conn = self._connect(fetch, on_done)
        flags = SYN | (ECE | CWR if self._model.ecn else 0)
        self._send(conn, True, flags, 0, 0, 0, NOT_ECT)

    def run(self) -> Iterator[Segment]:
        """Yields every segment, in order of time; ends when all transfers have ended and no timer is left."""
        events = self._events
        delay = self._model.one_way_delay_ns
        while events:
            now, _, kind, what = heapq.heappop(events)
            self._now = now
            # What an event holds follows from its kind; a check of each would take longer than the event.
            if kind == _ENTER:
                yield self._enter(now, now - delay, what)  # type: ignore[arg-type] # a flight
            elif kind == _DELIVER:
                self._deliver(now, what)  # type: ignore[arg-type] # a flight
            else:
                what(now)  # type: ignore[operator] # a timer's action

    # The network.

    def _push(self, time_ns: int, kind: int, what: object) -> None:
        # The running number makes ties go in order of creation and keeps `what` out of the comparison.
        self._made += 1
        heapq.heappush(self._events, (time_ns, self._made, kind, what))

    def _send(
        self, conn: _Connection, from_client: bool, flags: int, seq: int, ack: int, payload: int, ecn: int
    ) -> None:
        host = conn.client if from_client else conn.server
        start = max(self._now, self._nic_free[host])
        self._nic_free[host] = start + self._wire_ns[host].of(self._frame_bytes(flags, payload))
        flight = (conn, from_client, flags, seq, ack, payload, ecn)
        self._push(start + self._model.one_way_delay_ns, _ENTER, flight)

    def _enter(self, now: int, sent_at: int, flight: _Flight) -> Segment:
        """Puts a frame into the queue of the receiver's link, where it may count as CE. Returns it as it is
        written down."""
        conn, from_client, flags, seq, ack, payload, ecn = flight
        source, target = (conn.client, conn.server) if from_client else (conn.server, conn.client)
        backlog_ns = self._access_free[target] - now
        if backlog_ns > 0:
            start = now + backlog_ns
            # bytes = ns * bit/s / 8e9, compared without division
            threshold = self._model.ce_threshold_bytes * 8 * _NS_PER_S
            if ecn == ECT_0 and backlog_ns * self._hosts[target].rate_bps > threshold:
                flight = (conn, from_client, flags, seq, ack, payload, CE)
        else:
            start = now
        done = start + self._wire_ns[target].of(self._frame_bytes(flags, payload))
        self._access_free[target] = done
        self._push(done, _DELIVER, flight)
        if from_client:
            isn, peer_isn, template = conn.client_isn, conn.server_isn, conn.client_template
        else:
            isn, peer_isn, template = conn.server_isn, conn.client_isn, conn.server_template
        ack_number = (peer_isn + ack) & 0xFFFFFFFF if flags & ACK else 0
        headers, frame_bytes = template.headers((isn + seq) & 0xFFFFFFFF, ack_number, flags, payload, ecn)
        return Segment(sent_at, source, flags, payload, ecn, headers, frame_bytes)

    def _frame_bytes(self, flags: int, payload: int) -> int:
        header = _HEADER_BYTES[self._model.ipv6] + (SYN_OPTIONS_BYTES if flags & SYN else 0)
        return max(MIN_FRAME_BYTES, header + payload)

    # The endpoints.

    def _connect(self, fetch: Fetch, on_done: Callable[[int], None] | None) -> _Connection:
        client, server = self._hosts[fetch.client], self._hosts[fetch.server]
        pair = (fetch.client, fetch.server)
        used = self._ports_used.get(pair, 0)
        self._ports_used[pair] = used + 1
        first, last = EPHEMERAL_PORTS
        span = last - first + 1
        offset = _mix(self._seed, fetch.client, fetch.server) % span
        port = first + (offset + used) % span
        service = self._model.server_port
        v6 = self._model.ipv6
        client_ip, server_ip = (client.ipv6, server.ipv6) if v6 else (client.ipv4, server.ipv4)
        dscp = self._model.dscps[self.connections % len(self._model.dscps)]

        conn = _Connection(
            client=fetch.client,
            server=fetch.server,
            end=1 + fetch.size_bytes,
            request_bytes=self._model.request_bytes,
            client_isn=_mix(self._seed, self.connections, 1) & 0xFFFFFFFF,
            server_isn=_mix(self._seed, self.connections, 2) & 0xFFFFFFFF,
            client_template=FlowTemplate(
                client.mac,
                client.gateway_mac,
                client_ip,
                server_ip,
                port,
                service,
                _RECEIVE_WINDOW_BYTES,
                dscp,
            ),
            server_template=FlowTemplate(
                server.mac,
                server.gateway_mac,
                server_ip,
                client_ip,
                service,
                port,
                _RECEIVE_WINDOW_BYTES,
                dscp,
            ),
            on_done=on_done,
            cwnd=min(INITIAL_WINDOW_SEGMENTS * self._mss, self._window),
            ssthresh=self._window,
        )
        self.connections += 1
        return conn

    def _deliver(self, now: int, flight: _Flight) -> None:
        conn, from_client, flags, seq, ack, payload, ecn = flight
        if from_client:
            self._server_receives(conn, flags, ack, payload)
        else:
            self._client_receives(now, conn, flags, seq, payload, ecn)

    def _server_receives(self, conn: _Connection, flags: int, ack: int, payload: int) -> None:
        if flags & SYN:
            self._send(conn, False, SYN | ACK | (ECE if self._model.ecn else 0), 0, 1, 0, NOT_ECT)
        elif flags & FIN:
            # Both directions are closed now; the last ACK covers the client's FIN.
            self._send(conn, False, ACK, conn.end + 1, conn.request_bytes + 2, 0, NOT_ECT)
        elif payload:
            self._send_response(conn)
        elif ack > conn.snd_una:
            self._acknowledged(conn, ack, bool(flags & ECE))
            self._send_response(conn)

    def _acknowledged(self, conn: _Connection, ack: int, ece: bool) -> None:
        """Moves the window (RFC 5681 3.1) and react to ECE at most once a window (RFC 3168 6.1.2)."""
        acked = ack - conn.snd_una
        conn.snd_una = ack
        if conn.in_cwr and ack > conn.recover:
            conn.in_cwr = False
        if ece and not conn.in_cwr:
            conn.in_cwr = conn.cwr_due = True
            conn.recover = conn.snd_nxt
            conn.ssthresh = max(conn.cwnd // 2, MIN_WINDOW_SEGMENTS * self._mss)
            conn.cwnd = conn.ssthresh
        elif conn.in_cwr:
            return
        elif conn.cwnd < conn.ssthresh:
            conn.cwnd += min(acked, SLOW_START_LIMIT_SEGMENTS * self._mss)
        else:
            conn.cwnd += max(1, self._mss * acked // conn.cwnd)
        conn.cwnd = min(conn.cwnd, self._window)

    def _send_response(self, conn: _Connection) -> None:
        """Sends what the window allows, whole segments except the last, and FIN after the last byte."""
        ack = conn.request_bytes + 1
        ecn = ECT_0 if self._model.ecn else NOT_ECT
        while conn.snd_nxt < conn.end:
            payload = min(self._mss, conn.end - conn.snd_nxt)
            if conn.snd_nxt + payload - conn.snd_una > conn.cwnd:
                return
            flags = ACK
            if conn.cwr_due:
                flags |= CWR
                conn.cwr_due = False
            if conn.snd_nxt + payload == conn.end:
                flags |= PSH
            self._send(conn, False, flags, conn.snd_nxt, ack, payload, ecn)
            conn.snd_nxt += payload
        if conn.snd_nxt == conn.end:
            self._send(conn, False, FIN | ACK, conn.end, ack, 0, NOT_ECT)
            conn.snd_nxt += 1

    def _client_receives(
        self, now: int, conn: _Connection, flags: int, seq: int, payload: int, ecn: int
    ) -> None:
        if flags & SYN:
            self._send(conn, True, ACK, 1, 1, 0, NOT_ECT)
            data_ecn = ECT_0 if self._model.ecn else NOT_ECT
            self._send(conn, True, ACK | PSH, 1, 1, conn.request_bytes, data_ecn)
        elif payload:
            # CWR first: if the same segment is CE, the congestion is new (RFC 3168 6.1.3).
            if flags & CWR:
                conn.ece_latch = False
            if ecn == CE:
                conn.ece_latch = True
            conn.ack_pending += 1
            if conn.ack_pending == 2 or flags & PSH:
                conn.ack_pending = 0
                ece = ECE if conn.ece_latch else 0
                self._send(conn, True, ACK | ece, conn.request_bytes + 1, seq + payload, 0, NOT_ECT)
        elif flags & FIN:
            self._send(conn, True, FIN | ACK, conn.request_bytes + 1, seq + 1, 0, NOT_ECT)
            if conn.on_done is not None:
                conn.on_done(now)


class _WireTime:
    """Time of a frame on a link, overhead included, in nanoseconds rounded up; few lengths occur, so it
    remembers."""

    __slots__ = ("_known", "_rate_bps")

    def __init__(self, rate_bps: int) -> None:
        self._rate_bps = rate_bps
        self._known: dict[int, int] = {}

    def of(self, frame_bytes: int) -> int:
        try:
            return self._known[frame_bytes]
        except KeyError:
            bits = (frame_bytes + WIRE_OVERHEAD_BYTES) * 8
            ns = self._known[frame_bytes] = -(-bits * _NS_PER_S // self._rate_bps)
            return ns


def _mix(*parts: int) -> int:
    """Returns a well-spread 64-bit number from small integers (the finaliser of splitmix64, Steele et al.
    2014)."""
    value = 0
    for part in parts:
        value = (value + part + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        value ^= value >> 31
    return value
