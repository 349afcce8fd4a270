"""The papers' true marking threshold (E-EON thesis section 6.2): docs/models/marking.md.

The default threshold is DCTCP's: `K = 15 frames of 1500 B + C x RTT / 7`, in whole frames, rounded
up. C x RTT / 7 is the theory's lower bound for full throughput (Alizadeh et al., "Data Center TCP (DCTCP)",
SIGCOMM 2010). The 15 frames (for hosts that send in bursts) and the RTT of 420 us define the straight line
through the two values in use, 20 packets at 1 Gbps and 65 at 10 Gbps (the same paper; Linux,
Documentation/networking/dctcp.rst). The rule yields exactly these, and corresponding values for other speeds.
E-EON thesis section 6.2 quotes the 65 packets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Annotated, ClassVar, Literal

from eeon_control.errors import PlanError
from eeon_control.model_base import (
    FULL_FRAME_BYTES,
    U32_MAX,
    PositiveDurationText,
    Strict,
    auto_or_bytes,
    of_bytes,
)
from eeon_control.port_settings import codec
from eeon_control.port_settings.codec import Settings
from eeon_control.units import PS_PER_S, Bytes, DataRate, Duration

DCTCP_BURST_FRAMES = 15
DCTCP_RTT = Duration.parse("420us")


AutoThresholdText = Annotated[Bytes | None, *auto_or_bytes("a marking threshold", "97.5KB")]
ThresholdBytesText = Annotated[Bytes, *of_bytes("a marking threshold")]


class MarkThreshold(Strict):
    """The port marks ECT packets CE while more than `threshold` is queued; it drops nothing early."""

    mode: Literal["mark_threshold"]
    """`mark_threshold`: the papers' true marking threshold."""
    threshold: AutoThresholdText = None
    """Queued bytes above which ECT packets are marked. `auto`, the default, is DCTCP's threshold by link
    speed: 15 frames of 1500 B plus C x RTT / 7, that is 30KB at 1Gbps and 97.5KB at 10Gbps."""
    l4s_threshold: ThresholdBytesText | None = None
    """The same for ECT(1) packets (L4S, RFC 9331). The default is `threshold`."""
    at: Literal["enqueue", "dequeue"] = "enqueue"
    """When the queue is compared: when a packet enters it (RFC 8257 section 3.1), or when a packet leaves."""
    rtt: PositiveDurationText | None = None
    """The round-trip time of the flows, hosts included. `threshold: auto` uses it (default 420us), and the
    check of a given threshold compares with it (default: the topology's)."""

    def settings_at(self, rate: DataRate) -> MarkThresholdSettings:
        """Returns the settings at a link's speed. Raises PlanError for a default threshold above 32 bits."""
        threshold = default_threshold(rate, self.rtt) if self.threshold is None else self.threshold
        l4s_threshold = threshold if self.l4s_threshold is None else self.l4s_threshold
        return MarkThresholdSettings(threshold, l4s_threshold, self.at == "dequeue")


def bandwidth_delay_share(rate: DataRate, rtt: Duration) -> Fraction:
    """Returns C x RTT / 7 in bytes: below it, a DCTCP sender leaves the link idle (Alizadeh et al. 2010)."""
    return Fraction(rate * rtt, 7 * 8 * PS_PER_S)


def default_threshold(rate: DataRate, rtt: Duration | None = None) -> Bytes:
    """Returns the threshold of `threshold: auto` at a link speed. Raises PlanError above 32 bits."""
    share = bandwidth_delay_share(rate, DCTCP_RTT if rtt is None else rtt)
    threshold = Bytes(ceil(DCTCP_BURST_FRAMES + share / FULL_FRAME_BYTES) * FULL_FRAME_BYTES)
    if threshold > U32_MAX:
        raise PlanError(
            f"threshold auto at {rate} is {threshold}, above {U32_MAX}B (32 bits); give a threshold"
        )
    return threshold


@dataclass(frozen=True)
class MarkThresholdSettings(Settings):
    """The thresholds of one port; `l4s_threshold` is for ECT(1) packets. Nothing is rounded."""

    threshold: Bytes
    l4s_threshold: Bytes
    at_dequeue: bool

    action: ClassVar[str] = "mark_threshold"
    params = (
        ("threshold_bytes", "threshold", codec.BYTES),
        ("l4s_threshold_bytes", "l4s_threshold", codec.BYTES),
        ("at_dequeue", "at_dequeue", codec.FLAG),
    )

    def describe(self) -> str:
        """Returns `mark_threshold 97.5KB, L4S 10KB at dequeue`."""
        l4s = f", L4S {self.l4s_threshold}" if self.l4s_threshold != self.threshold else ""
        return f"mark_threshold {self.threshold}{l4s}{' at dequeue' if self.at_dequeue else ''}"

    def parts(self) -> dict[str, str]:
        same = self.l4s_threshold == self.threshold
        return {
            "marking threshold": codec.size_text(self.threshold),
            "L4S threshold": "the same" if same else codec.size_text(self.l4s_threshold),
            "marks": "at dequeue" if self.at_dequeue else "at enqueue",
        }
