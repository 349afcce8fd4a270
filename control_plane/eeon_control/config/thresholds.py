"""Thresholds that follow from a port's link speed: the default marking threshold, and RED by target delay.
Pure.

The default marking threshold is DCTCP's: `K = 15 frames of 1500 B + C x RTT / 7`, in whole frames, rounded
up. C x RTT / 7 is the theory's lower bound for full throughput (Alizadeh et al., "Data Center TCP (DCTCP)",
SIGCOMM 2010). The 15 frames for hosts that send in bursts and the RTT of 420 us are the straight line through
the two values in use, 20 packets at 1 Gbps and 65 at 10 Gbps (the same paper; Linux,
Documentation/networking/dctcp.rst): the rule gives exactly those, and by the same reasoning a value for every
other speed. E-EON thesis section 6.2 quotes the 65 packets."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from eeon_control.config.queues import MarkThreshold, Red
from eeon_control.errors import PlanError
from eeon_control.model_base import FULL_FRAME_BYTES, U32_MAX
from eeon_control.units import Bytes, DataRate, Duration, Packets

DCTCP_BURST_FRAMES = 15
DCTCP_RTT = Duration.parse("420us")
# ns-2's autoRED (E-EON thesis sections 5.3.1, 6.3): min is half of the packets of mean size, 500 B by
# default, that the link sends in the target delay, and max is three times min. Table 6.4: 12.5 to 37.5
# packets for 100us at 1GbE. The table's halves are rounded up here: a queue of whole packets reaches 12.5
# when it reaches 13.
AUTO_RED_MEAN_PACKET_BYTES = 500
AUTO_RED_MAX_OVER_MIN = 3

_PICOSECONDS = 10**12


def bandwidth_delay_share(rate: DataRate, rtt: Duration) -> Fraction:
    """C x RTT / 7 in bytes: below it a DCTCP sender leaves the link idle (Alizadeh et al. 2010)."""
    return Fraction(rate * rtt, 7 * 8 * _PICOSECONDS)


def default_threshold(rate: DataRate, rtt: Duration | None = None) -> Bytes:
    """The marking threshold of `threshold: auto` on a link speed. Raises PlanError when it does not fit 32
    bits."""
    share = bandwidth_delay_share(rate, DCTCP_RTT if rtt is None else rtt)
    threshold = Bytes(ceil(DCTCP_BURST_FRAMES + share / FULL_FRAME_BYTES) * FULL_FRAME_BYTES)
    if threshold > U32_MAX:
        raise PlanError(
            f"threshold auto at {rate} is {threshold}, above {U32_MAX}B (32 bits); give a threshold"
        )
    return threshold


def mark_thresholds(aqm: MarkThreshold, rate: DataRate) -> tuple[Bytes, Bytes]:
    """(threshold, threshold of ECT(1) packets) on a link speed. Raises PlanError."""
    threshold = default_threshold(rate, aqm.rtt) if aqm.threshold is None else aqm.threshold
    return threshold, threshold if aqm.l4s_threshold is None else aqm.l4s_threshold


def red_thresholds(red: Red, rate: DataRate) -> tuple[Bytes | Packets, Bytes | Packets]:
    """(min, max) of a RED profile on a link speed. Raises PlanError when they do not fit 32 bits."""
    if red.target_delay is None:
        assert red.min is not None and red.max is not None
        return red.min, red.max
    exact = Fraction(rate * red.target_delay, 2 * 8 * AUTO_RED_MEAN_PACKET_BYTES * _PICOSECONDS)
    low, high = ceil(exact), ceil(exact * AUTO_RED_MAX_OVER_MIN)
    if high > U32_MAX:
        raise PlanError(
            f"target_delay {red.target_delay} at {rate} gives max {high}pkt, above {U32_MAX} (32 bits)"
        )
    return Packets(low), Packets(high)
