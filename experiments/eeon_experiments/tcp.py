"""How hosts' TCP behaves, in users' units; docs/models/tcp.md says what each setting does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, cast

from eeon_control.model_base import Strict, of_text, text_schema
from eeon_control.units import Bytes
from pydantic import BeforeValidator, Field

from eeon_experiments.quantities import PositiveDurationText, SmallSizeText

if TYPE_CHECKING:
    from eeon_engine.json_types import TcpSpec

Segments = Annotated[int, Field(strict=True, ge=1, le=65_535)]


class DelayedAck(Strict):
    """When data in order is acknowledged."""

    segments: Segments = 2
    """At the latest with this many segments."""
    timer: PositiveDurationText
    """At the latest after this time."""


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


def _or_off(value: object) -> object:
    return None if value == "off" else value


BufferText = Annotated[
    Bytes | None, *of_text(_buffer, {"anyOf": [{"const": "unlimited"}, text_schema(Bytes)]})
]


class Tcp(Strict):
    """TCP of all hosts, or of one application. What is left out is the engine's default."""

    algorithm: Literal["newreno", "ecn", "dctcp", "cubic", "vegas"] = "newreno"
    """`newreno`, `ecn` (NewReno that answers to marks, RFC 3168), `dctcp`, `cubic` or `vegas`."""
    dctcp_ect: Literal["data_only", "ns2", "linux"] = "ns2"
    """Which packets of a DCTCP endpoint are ECN-capable: new data, everything after the handshake (as the
    patch for ns-2), or everything, SYNs included (as Linux)."""
    dctcp_gain: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 0.0625
    """DCTCP's estimation gain g."""
    mss: SmallSizeText = Bytes(1460)
    """Maximum payload of a segment."""
    initial_window_segments: Segments = 10
    """Initial window, in segments (RFC 6928)."""
    min_window_segments: Segments = 2
    """A mark never makes the window smaller than this many segments."""
    receive_buffer: BufferText = None
    """Largest window that a receiver announces: a size, or `unlimited`, the default."""
    sack: Annotated[bool, Field(strict=True)] = True
    """Selective acknowledgements (RFC 2018, recovery as RFC 6675)."""
    delayed_ack: Annotated[DelayedAck | None, BeforeValidator(_or_off)] = None
    """Delayed acknowledgements, or `off`. The default is every second segment or 40ms."""
    initial_rto: PositiveDurationText | None = None
    """Retransmission time-out before there is a measurement; default 1s."""
    min_rto: PositiveDurationText | None = None
    """Smallest retransmission time-out; default 200ms."""
    max_rto: PositiveDurationText | None = None
    """Largest retransmission time-out; default 60s."""
    limited_transmit: Annotated[bool, Field(strict=True)] = True
    """New data on the first two duplicate ACKs (RFC 3042)."""
    restart_after_idle: Annotated[bool, Field(strict=True)] = True
    """After an idle time longer than the time-out start from the initial window (RFC 5681, 4.1)."""

    def engine(self) -> TcpSpec:
        """The keys that are given, as the engine reads them."""
        # Which members there are follows from the fields above.
        return cast("TcpSpec", dict(self._one(key) for key in sorted(self.model_fields_set)))

    def _one(self, key: str) -> tuple[str, object]:
        value = getattr(self, key)
        match key:
            case "receive_buffer":
                return "receive_buffer_bytes", None if value is None else int(value)
            case "delayed_ack":
                shown = None if value is None else {"segments": value.segments, "timer_ps": int(value.timer)}
                return "delayed_ack", shown
            case "initial_rto" | "min_rto" | "max_rto":
                return f"{key}_ps", int(value)
            case "mss":
                return "mss", int(value)
            case _:
                return key, value
