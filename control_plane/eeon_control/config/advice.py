"""Warnings about settings that are valid but unwise, each with its reason and source. Pure.

T: the E-EON thesis; M: the marking-threshold paper; DCTCP: Alizadeh et al., SIGCOMM 2010.
"""

from collections.abc import Iterator

from eeon_control.config.model import FabricConfig
from eeon_control.config.queues import Queue
from eeon_control.errors import PlanError, Problem
from eeon_control.model_base import FULL_FRAME_BYTES
from eeon_control.port_settings import Aqm, Codel, Eee, MarkThreshold, Red
from eeon_control.port_settings.mark_threshold import DCTCP_RTT, bandwidth_delay_share, default_threshold
from eeon_control.sources import KeyPath
from eeon_control.units import PS_PER_S, Bytes, DataRate, Duration, Packets

# T section 6.5: commodity switches have less than 1 MB per port; those compared have 300 KB and 3 MB.
_DEEP_BUFFER = Bytes.parse("1MB")
_LONG_HOLD_WITH_MARKING = Duration.parse("500us")  # T section 7.4.2
# Preamble and SFD, FCS, gap (IEEE 802.3): a frame's overhead on the wire.
_WIRE_OVERHEAD = Bytes(24)
_LONG_HOLD = Duration.parse("1ms")  # T section 4.3.3.1
_FAR = 100
"""Multiple of the default threshold above which a mistake in the unit is likely."""
_SLOWEST_WITH_A_THRESHOLD = DataRate.parse("1Gbps")  # slowest link with a threshold by DCTCP's authors

_Warnings = Iterator[tuple[tuple[str, ...], str]]  # the keys that may cause each, the text


def queue_warnings(
    config: FabricConfig, path: KeyPath, aqm: Aqm, queue: Queue, rate: DataRate, topology_rtt: Duration | None
) -> Iterator[Problem]:
    """Yields warnings about the AQM at `path` in a queue profile, on links of one speed."""
    found: _Warnings = iter(())
    if isinstance(aqm, MarkThreshold):
        found = _threshold(aqm, queue, rate, topology_rtt)
    elif isinstance(aqm, Red):
        found = _red(aqm, queue, rate, topology_rtt)
    elif isinstance(aqm, Codel):
        found = _codel(aqm, rate, topology_rtt)
    for keys, text in found:
        key = next((key for key in keys if config.document.has((*path, key))), None)
        yield config.document.warning(path if key is None else (*path, key), text)


def _threshold(aqm: MarkThreshold, queue: Queue, rate: DataRate, topology_rtt: Duration | None) -> _Warnings:
    settings = aqm.settings_at(rate)
    threshold, l4s = settings.threshold, settings.l4s_threshold
    keys = ("threshold", "mark_threshold")
    shown = f"auto is {threshold} at {rate}, " if aqm.threshold is None else ""
    never = (
        f"not below the buffer ({queue.buffer}): the port drops before it marks, so nothing is ever marked"
    )
    if threshold >= queue.buffer_bytes:
        yield keys, shown + never
    if aqm.l4s_threshold is not None and l4s >= queue.buffer_bytes:
        yield ("l4s_threshold",), never
    if aqm.threshold is not None and (low := _below_share(threshold, rate, aqm.rtt, topology_rtt)):
        yield keys, low
    is_auto = aqm.threshold is None and aqm.rtt is None and topology_rtt is not None
    if is_auto and (low := _below_share(threshold, rate, None, topology_rtt, is_auto=True)):
        yield keys, f"{shown}for an RTT of {DCTCP_RTT}. {low}"
    if aqm.threshold is not None and aqm.rtt is None and (high := _far_above_default(threshold, rate)):
        yield keys, high


def _red(aqm: Red, queue: Queue, rate: DataRate, topology_rtt: Duration | None) -> _Warnings:
    settings = aqm.settings_at(rate)
    low, high = settings.min, settings.max
    keys = ("max", "target_delay", "autored", "red")
    at_rate = f" at {rate}" if aqm.target_delay is not None else ""
    holds: Bytes | Packets = queue.buffer
    buffer = f"the buffer ({queue.buffer})"
    if isinstance(holds, Packets) and isinstance(high, Bytes):
        holds = queue.buffer_bytes
        buffer = f"the {holds} of full frames that fit in the buffer ({queue.buffer})"
    elif isinstance(holds, Bytes) and isinstance(high, Packets):
        holds = Packets(holds // FULL_FRAME_BYTES)
        buffer = f"the {holds} of {FULL_FRAME_BYTES}B that fit in the buffer ({queue.buffer})"
    if low >= holds:
        yield keys, f"min is {low}{at_rate}, not below {buffer}: this is the same as drop_tail"
    elif high > holds:
        text = f"max is {high}{at_rate}, above {buffer}: the buffer overflows before RED marks every packet"
        yield keys, text
    in_bytes = Bytes(high * FULL_FRAME_BYTES) if isinstance(high, Packets) else high
    if aqm.ecn and (why := _below_share(in_bytes, rate, None, topology_rtt)):
        yield keys, f"max: {why}"
    if aqm.target_delay is None and (why := _far_above_default(in_bytes, rate)):
        yield keys, f"max: {why}"
    if not aqm.ecn:
        yield ("ecn",), "without ECN, RED drops ECT packets instead of marking them"
    elif aqm.protect == "ect":
        text = (
            "only ECT packets are protected. Pure ACKs, SYNs and SYN-ACKs are never ECT: with aggressive "
            "thresholds most drops are of these, and throughput falls (E-EON thesis sections 6.4.1 and "
            "6.4.3; marking-threshold paper section 4.1); protect: ack_syn protects them"
        )
        yield ("protect",), text
    if aqm.average_shift > 0:
        text = (
            "RED on the averaged queue behaves like drop_tail under shuffle bursts (E-EON thesis section "
            "5.3.1); average_weight: 1 uses the instantaneous queue"
        )
        yield ("average_weight",), text


def _codel(aqm: Codel, rate: DataRate, topology_rtt: Duration | None) -> _Warnings:
    frame = Duration(8 * PS_PER_S * (aqm.mtu + _WIRE_OVERHEAD) // rate)
    if aqm.target < frame:
        text = (
            f"target {aqm.target} is below the {_rounded(frame)} that one frame of {aqm.mtu} takes at "
            f"{rate}: a packet that waits for one other already exceeds it (RFC 8289 section 4.4)"
        )
        yield ("target",), text
    if aqm.interval < aqm.target:
        text = (
            f"interval {aqm.interval} is below target {aqm.target}; it should be the longest round-trip "
            "time, and target 5 to 10% of it (RFC 8289 sections 4.3 and 4.4)"
        )
        yield ("interval",), text
    elif topology_rtt is not None and aqm.interval < topology_rtt:
        text = (
            f"interval {aqm.interval} is below the unloaded round-trip time of the longest path "
            f"({_rounded(topology_rtt)}): senders get another signal before they can react to the first "
            "(RFC 8289 section 4.3)"
        )
        yield ("interval",), text
    if not aqm.ecn:
        yield ("ecn",), "without ECN, CoDel drops ECT packets instead of marking them"
    elif aqm.protect == "ect":
        text = (
            "only ECT packets are protected. Pure ACKs, SYNs and SYN-ACKs are never ECT and are dropped in "
            "their place (marking-threshold paper section 4.1); protect: ack_syn protects them"
        )
        yield ("protect",), text


def _below_share(
    threshold: Bytes,
    rate: DataRate,
    given_rtt: Duration | None,
    topology_rtt: Duration | None,
    *,
    is_auto: bool = False,
) -> str | None:
    """Returns why a threshold is too low for its link, or None."""
    rtt = given_rtt or topology_rtt
    if rtt is None or threshold >= bandwidth_delay_share(rate, rtt):
        return None if given_rtt or is_auto else _below_slower_links(threshold, rate)
    share = Bytes(round(bandwidth_delay_share(rate, rtt)))
    of = "as given" if given_rtt else "of the longest path, unloaded"
    # auto's default RTT must not be recommended if it results in too low a threshold as well.
    told = Duration(max(DCTCP_RTT, _rounded(rtt))) if given_rtt is None else given_rtt
    auto = "auto" if told in (given_rtt, DCTCP_RTT) else f"auto with rtt: {told}"
    try:
        would_be = str(default_threshold(rate, told))
    except PlanError:
        would_be = "more than 32 bits can hold"
    return (
        f"{threshold} is below C x RTT / 7 = {share} ({rate}, RTT {_rounded(rtt)} {of}): senders drain "
        "the queue and leave the link idle (Alizadeh et al. 2010, DCTCP); "
        f"threshold: {auto} would be {would_be}"
    )


def _far_above_default(threshold: Bytes, rate: DataRate) -> str | None:
    """Returns why a threshold is implausibly high, or None."""
    default = default_threshold(rate)
    if threshold < _FAR * default:
        return None
    takes = Duration(8 * PS_PER_S * threshold // rate)
    return (
        f"{threshold} is {threshold // default:,} times what auto would be at {rate} ({default}): packets "
        f"wait {_rounded(takes)} before any is marked or dropped"
    )


def _below_slower_links(threshold: Bytes, rate: DataRate) -> str | None:
    """Returns why a threshold is too low if no RTT with hosts is given: it is below the default of a link ten
    times slower. None if it is not."""
    slower = DataRate(rate // 10)
    if slower < _SLOWEST_WITH_A_THRESHOLD or threshold >= default_threshold(slower):
        return None
    return (
        f"{threshold} is low for {rate}: auto is {default_threshold(slower)} at {slower} and "
        f"{default_threshold(rate)} here, because hosts send in bursts and add to the round-trip time. With "
        "a lower threshold, senders may leave the link idle (Alizadeh et al. 2010, DCTCP). Set the flows' "
        "rtt if it is known"
    )


def hold_warning(eee: Eee, queue: Queue, rate: DataRate) -> str | None:
    """Returns why a port's holding time does not suit its queue, or None."""
    if eee.mode != "coalesce" or eee.hold is None:
        return None
    brought = Bytes(rate * eee.hold // (8 * PS_PER_S))
    shallow = queue.buffer_bytes < _DEEP_BUFFER
    depth = f"{'shallow' if shallow else 'deep'} buffer ({queue.buffer})"
    if any(map(marks, queue.aqms)):
        if eee.hold < _LONG_HOLD_WITH_MARKING:
            return None
        latency = "almost 50%" if shallow else "10%"
        return (
            f"a hold of {eee.hold} with ECN marking on a {depth}: {brought} arrive in that time at {rate}, "
            "but marking keeps fewer bytes in flight, so the link runs idle. With ECN, 500us500 cost about "
            f"25% of the runtime and 1ms1000 more than 50%, added {latency} latency, and saved no energy "
            "(E-EON thesis section 7.4.2); 120us100 keeps the throughput (section 7.4.3)"
        )
    if shallow and eee.hold >= _LONG_HOLD:
        return (
            f"a hold of {eee.hold} on a {depth}: {brought} arrive in that time at {rate}. With shallow "
            "buffers 1ms1000 and 10ms1000 have unacceptably large overheads, 12us10 and 120us100 less than "
            "5% (E-EON thesis section 4.3.3.1)"
        )
    return None


def marks(aqm: Aqm) -> bool:
    """Returns whether an AQM marks ECT packets."""
    return isinstance(aqm, MarkThreshold) or (isinstance(aqm, Red | Codel) and aqm.ecn)


def _rounded(span: Duration) -> Duration:
    """Rounds a duration to nanoseconds, for messages."""
    return Duration(round(int(span), -3))
