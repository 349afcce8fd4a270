"""TCP settings of hosts, in users' units; docs/models/tcp.md explains each setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, cast

from eeon_control.model_base import Strict, of_text, text_schema
from eeon_control.units import Bytes, Duration
from pydantic import Field

from eeon_experiments.engine_form import engine_form
from eeon_experiments.quantities import DurationText, PositiveDurationText, SmallSizeText, none_for

if TYPE_CHECKING:
    from eeon_engine.json_types import TcpSpec

Segments = Annotated[int, Field(strict=True, ge=1, le=65_535)]


DEFAULT_DELAYED_ACK_TIMER = Duration.parse("40ms")
DEFAULT_MIN_RTO = Duration.parse("200ms")
"""The default of `tcp::Config` in the engine."""
FASTEST_TIMESTAMPS = Duration.parse("59ns")
"""2^32 ticks of it are as long as the maximum segment lifetime (RFC 7323, 5.4)."""


class DelayedAck(Strict):
    """When data that arrives in order is acknowledged."""

    segments: Segments = 2
    """At the latest after this many segments."""
    timer: PositiveDurationText
    """At the latest after this time."""


class HyStart(Strict):
    """The rise of the round-trip time that ends slow start: an eighth, limited by these two values."""

    min_rtt_thresh: PositiveDurationText = Duration.parse("4ms")
    """MIN_RTT_THRESH. The default, that of RFC 9406, is for the Internet; no queue in a data centre is so
    long."""
    max_rtt_thresh: PositiveDurationText = Duration.parse("16ms")
    """MAX_RTT_THRESH."""


def _buffer(text: object) -> Bytes | None:
    if text is None or text == "unlimited":
        return None
    try:
        size = Bytes.parse(text)
    except ValueError as error:
        raise ValueError(f"{error}, or `unlimited`") from None
    if size <= 0:
        raise ValueError("must be above zero, or `unlimited`")
    return size


BufferText = Annotated[
    Bytes | None, *of_text(_buffer, {"anyOf": [{"const": "unlimited"}, text_schema(Bytes)]})
]


class Tcp(Strict):
    """TCP of all hosts, or of one application. Keys that are left out have the engine's defaults."""

    algorithm: Literal["newreno", "ecn", "dctcp", "cubic", "vegas"] = "newreno"
    """`newreno`, `ecn` (NewReno that reacts to marks, RFC 3168), `dctcp`, `cubic` or `vegas`."""
    ecn: Annotated[bool, Field(strict=True)] | None = None
    """Whether connections use classic ECN (RFC 3168). The default depends on the algorithm: `newreno`,
    `cubic` and `vegas` do not use it."""
    accecn: Annotated[bool, Field(strict=True)] = False
    """With an algorithm that uses ECN: AccECN (RFC 9768), which counts marked packets in every ACK."""
    dctcp_ect: Literal["data_only", "ns2", "linux"] = "ns2"
    """Which packets of a DCTCP endpoint are ECN-capable: new data, everything after the handshake (as in the
    patch for ns-2), or everything, SYNs included (as in Linux)."""
    l4s: Annotated[bool, Field(strict=True)] = False
    """With `dctcp`: send ECT(1), so that ports apply their L4S threshold (RFC 9331)."""
    dctcp_gain: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 0.0625
    """DCTCP's estimation gain g."""
    dctcp_initial_alpha: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0
    """DCTCP's alpha at the start (RFC 8257, 4.2); forks of ns-2 start with 0."""
    ect_retransmissions: Annotated[bool, Field(strict=True)] = False
    """With ECN: retransmitted data is ECN-capable too, as in ns-2 but against RFC 3168 (6.1.5)."""
    close: Literal["fin", "never"] = "fin"
    """`fin`: a connection ends with FINs. `never`: it ends silently when all of its data is acknowledged,
    like the connections of MRPerf, which are not closed."""
    mss: Annotated[SmallSizeText, Field(serialization_alias="mss")] = Bytes(1460)
    """Maximum payload of a segment."""
    initial_window_segments: Segments = 10
    """Initial window, in segments (RFC 6928). At most 65,535 bytes leave in the first round trip, because the
    window of a SYN-ACK is not scaled (RFC 7323, 2.2)."""
    slow_start_limit: Annotated[Segments | None, none_for("unlimited")] = 2
    """Maximum growth of the window per ACK in slow start, in segments (RFC 3465), or `unlimited`, as in
    Linux."""
    hystart: Annotated[HyStart | None, none_for("off")] = None
    """End the first slow start when round-trip times rise (HyStart++, RFC 9406; `{}` has its thresholds), or
    `off`, the default. Not with `vegas`."""
    min_window_segments: Segments = 2
    """Smallest window after a mark, in segments."""
    cwr_growth: Annotated[bool, Field(strict=True)] = True
    """`true`: after a reduction for a mark, the window may grow with the next ACK without echo (ns-2).
    `false`: it may grow only when all data in flight at the reduction is acknowledged (Linux)."""
    receive_buffer: Annotated[BufferText, Field(serialization_alias="receive_buffer_bytes")] = None
    """Largest window that a receiver advertises: a size, or `unlimited`, the default."""
    sack: Annotated[bool, Field(strict=True)] = True
    """Selective acknowledgements (RFC 2018, with the recovery of RFC 6675)."""
    timestamps: Annotated[
        PositiveDurationText | None, none_for("off"), Field(serialization_alias="timestamps_ps")
    ] = None
    """Timestamps (RFC 7323) with a clock of this tick, or `off`, the default."""
    delayed_ack: Annotated[DelayedAck | None, none_for("off")] = None
    """Delayed acknowledgements, or `off`. The default is every second segment or 40ms."""
    quick_acks: Annotated[int, Field(strict=True, ge=0, le=65_535)] = 0
    """Number of segments that are acknowledged at once, at the start and after a loss is repaired; 16 in
    Linux."""
    rack: Annotated[bool, Field(strict=True)] = False
    """With SACK: detect losses by time, and probe for tail losses (RACK-TLP, RFC 8985)."""
    max_ack_delay: PositiveDurationText | None = None
    """Maximum time for which the peer delays the ACK of a single segment; a tail loss probe waits for it. The
    default is `min_rto`."""
    prr: Annotated[bool, Field(strict=True)] = False
    """With SACK: in recovery, send in proportion to the delivered data (RFC 9937)."""
    frto: Annotated[bool, Field(strict=True)] = False
    """Detect from the next ACKs whether a timeout was spurious, and restore the window if it was (F-RTO, RFC
    5682)."""
    dsack: Annotated[bool, Field(strict=True)] = False
    """With SACK: report data that arrives twice (RFC 2883), and undo the reduction for a spurious
    retransmission (RFC 3708)."""
    initial_rto: PositiveDurationText | None = None
    """Retransmission timeout before the first measurement; default 1s."""
    syn_lost_rto: PositiveDurationText | None = None
    """Retransmission timeout of data after a lost SYN, without a measurement; default 3s (RFC 6298, 5.7)."""
    min_rto: PositiveDurationText | None = None
    """Smallest retransmission timeout; default 200ms."""
    max_rto: PositiveDurationText | None = None
    """Largest retransmission timeout; default 60s."""
    rto_slop: DurationText | None = None
    """Time that is added to every retransmission timeout; default 0s; FreeBSD's `rexmit_slop` is 200ms."""
    clock_granularity: PositiveDurationText | None = None
    """Minimum by which a timeout exceeds the smoothed round-trip time (RFC 6298, 2.2); default 1us; 200ms in
    Linux."""
    syn_retries: Annotated[int, Field(strict=True, ge=0, le=255)] = 6
    """Number of SYN or SYN-ACK retransmissions before the connection is given up."""
    time_wait: PositiveDurationText | None = None
    """Duration of TIME-WAIT; default 60s."""
    tsq: Annotated[DurationText | None, none_for("off"), Field(serialization_alias="tsq_ps")] = None
    """TCP small queues: a connection may have as much data in its host's NIC as leaves in this time at its
    pacing rate, but at least two segments (1ms in Linux); or `off`, the default."""
    limited_transmit: Annotated[bool, Field(strict=True)] = True
    """Send new data on the first two duplicate ACKs (RFC 3042)."""
    restart_after_idle: Annotated[bool, Field(strict=True)] = True
    """After an idle time longer than the timeout, restart from the initial window (RFC 5681, 4.1)."""

    @property
    def uses_ecn(self) -> bool:
        """Whether data is ECN-capable, so that switches can mark it."""
        return self.algorithm in ("ecn", "dctcp") if self.ecn is None else self.ecn

    def advice(self) -> list[str]:
        """Returns advice about allowed but unusual settings, one sentence each."""
        timer = self.delayed_ack.timer if self.delayed_ack is not None else DEFAULT_DELAYED_ACK_TIMER
        delays = "delayed_ack" not in self.model_fields_set or self.delayed_ack is not None
        min_rto = DEFAULT_MIN_RTO if self.min_rto is None else self.min_rto
        found = []
        if delays and min_rto <= timer:
            found.append(
                f"min_rto is {min_rto} and ACKs are delayed by up to {timer}: a delayed ACK of a last segment"
                " causes a spurious timeout; raise min_rto, or lower delayed_ack's timer or turn it `off`"
            )
        segments = (self.delayed_ack or DelayedAck(timer=timer)).segments
        if delays and self.receive_buffer is not None and self.receive_buffer < segments * self.mss:
            found.append(
                f"receive_buffer is {self.receive_buffer}, less than the {segments} segments that an ACK "
                f"waits for, so each window waits for delayed_ack's timer of {timer}; raise receive_buffer, "
                "or turn delayed_ack `off`"
            )
        if self.timestamps is not None and self.timestamps < FASTEST_TIMESTAMPS:
            found.append(
                f"timestamps of {self.timestamps} repeat before old segments are gone (RFC 7323, 5.4), and a "
                f"receiver may discard new data as old; give at least {FASTEST_TIMESTAMPS}"
            )
        idle = [key for key in ("rack", "prr", "dsack") if getattr(self, key)] if not self.sack else []
        found += [f"{key} has no effect without sack" for key in idle]
        if self.max_ack_delay is not None and not (self.rack and self.sack):
            found.append("max_ack_delay has no effect without rack and sack")
        return found

    def engine(self) -> TcpSpec:
        """Returns the given keys in the engine's form."""
        spec = engine_form(self, self.model_fields_set)
        if "close" in spec:
            spec["fin"] = spec.pop("close") == "fin"
        return cast("TcpSpec", spec)
