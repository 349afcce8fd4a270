"""One port's settings, as its table entries have them, in the words and units of people. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from eeon_control.constants import PROTECT
from eeon_control.plan import Action
from eeon_control.units import Bytes, Duration, Packets, format_probability

_UNLIMITED = 0xFFFFFFFF  # what the program has where no limit was set
_SLOPE_ONE = 1 << 48  # probability 1 in the data plane's fixed point
_UNIT = re.compile(r"(?<=[0-9])(?=[A-Za-zµ])")
_SPARED = {"ect": "only ECT", "ece": "ECT and ACKs with ECE", "ack_syn": "ECT, ACKs and SYNs"}
_PROTECT = {number: _SPARED[name] for name, number in PROTECT.items()}
_KEPT = "not set"

Params = dict[str, int]


def buffer(before: Action | None, after: Action | None, tick: Duration) -> str:
    """`buffer 300 KB -> 150 KB`."""
    return _changed("buffer", _buffer(before), _buffer(after))


def aqm(before: Action | None, after: Action | None, tick: Duration) -> str:
    """`marking threshold 30 KB -> 97.5 KB`; another mode is described whole."""
    if before is not None and after is not None and before.name == after.name:
        describe = {"mark_threshold": _threshold_parts, "red": _red_parts}.get(after.name)
        if after.name == "codel":
            describe = partial(_codel_parts, tick=tick)
        if describe is not None:
            return _parts_changed(describe(dict(before.params)), describe(dict(after.params)))
    return _changed("AQM", _aqm(before, tick), _aqm(after, tick))


def eee(before: Action | None, after: Action | None, tick: Duration) -> str:
    """`EEE off -> coalesce, hold 120 us, 100 packets`, or only the timers that change."""
    if before is not None and after is not None and before.name == after.name == "eee":
        old, new = dict(before.params), dict(after.params)
        if bool(old.get("hold_ticks")) == bool(new.get("hold_ticks")):
            return "EEE " + _parts_changed(_eee_parts(old, tick), _eee_parts(new, tick))
    return _changed("EEE", _eee(before, tick), _eee(after, tick))


Describe = Callable[[Action | None, Action | None, Duration], str]
BY_TABLE: dict[str, Describe] = {"port_buffer": buffer, "port_aqm": aqm, "port_eee": eee}


def spaced(text: object) -> str:
    """`97.5KB` as `97.5 KB`."""
    return _UNIT.sub(" ", str(text))


def _changed(what: str, old: str, new: str) -> str:
    return f"{what} {old} -> {new}"


def _parts_changed(old: dict[str, str], new: dict[str, str]) -> str:
    changed = [f"{name} {old.get(name, 'none')} -> {new[name]}" for name in new if new[name] != old.get(name)]
    return ", ".join(changed) or "details of the same meaning"


def _buffer(action: Action | None) -> str:
    if action is None:
        return _KEPT
    limit = dict(action.params).get("buffer_bytes", 0)
    return "unlimited" if limit == _UNLIMITED else _bytes(limit)


def _aqm(action: Action | None, tick: Duration) -> str:
    if action is None:
        return _KEPT
    params = dict(action.params)
    match action.name:
        case "drop_tail":
            return "drop tail"
        case "mark_threshold":
            parts = _threshold_parts(params)
            l4s = parts["L4S threshold"]
            shown = [f"mark above {parts['marking threshold']}"]
            shown += [f"L4S above {l4s}"] if l4s != "the same" else []
            shown += ["at dequeue"] if params["at_dequeue"] else []
            return ", ".join(shown)
        case "red":
            parts = _red_parts(params)
            low, _, unit = parts["minimum"].partition(" ")
            same_unit = parts["maximum"].endswith(f" {unit}")
            queue = "instantaneous queue" if parts["average"] == "none" else f"average of {parts['average']}"
            return (
                f"RED from {low if same_unit else parts['minimum']} to {parts['maximum']}, "
                f"up to {parts['maximum probability']}, {queue}, ECN {parts['ECN']}, spares {parts['spares']}"
            )
        case "codel":
            parts = _codel_parts(params, tick)
            return (
                f"CoDel with target {parts['target']}, interval {parts['interval']}, MTU {parts['MTU']}, "
                f"ECN {parts['ECN']}, spares {parts['spares']}"
            )
        case _:
            return str(action)


def _threshold_parts(params: Params) -> dict[str, str]:
    threshold, l4s = params["threshold_bytes"], params["l4s_threshold_bytes"]
    return {
        "marking threshold": _bytes(threshold),
        "L4S threshold": "the same" if l4s == threshold else _bytes(l4s),
        "marks": "at dequeue" if params["at_dequeue"] else "at enqueue",
    }


def _red_parts(params: Params) -> dict[str, str]:
    size = _packets if params["in_packets"] else _bytes
    low, high = params["min_threshold"], params["max_threshold"]

    probability = Fraction(params["probability_slope"] * (high - low), _SLOPE_ONE)
    return {
        "minimum": size(low),
        "maximum": size(high),
        "maximum probability": format_probability(round(probability, 6)) if high > low else "none",
        "average": f"weight 1/{1 << params['average_shift']}" if params["average_shift"] else "none",
        "ECN": "on" if params["ecn"] else "off",
        "spares": _PROTECT.get(params["protect"], str(params["protect"])),
    }


def _codel_parts(params: Params, tick: Duration) -> dict[str, str]:
    return {
        "target": spaced(Duration(params["target_ticks"] * tick)),
        "interval": spaced(Duration(params["interval_ticks"] * tick)),
        "MTU": _bytes(params["mtu_bytes"]),
        "ECN": "on" if params["ecn"] else "off",
        "spares": _PROTECT.get(params["protect"], str(params["protect"])),
    }


def _eee(action: Action | None, tick: Duration) -> str:
    if action is None:
        return _KEPT
    if action.name != "eee":
        return "off" if action.name == "eee_off" else str(action)
    params = dict(action.params)
    parts = _eee_parts(params, tick)
    if not params["hold_ticks"]:
        return "standard" + (f", stall {parts['stall']}" if params["stall_ticks"] else "")
    shown = [f"hold {parts['hold']}"]
    shown += [parts[name] for name in ("trigger", "byte trigger") if parts[name] != "none"]
    shown += [f"stall {parts['stall']}"] if params["stall_ticks"] else []
    return f"coalesce, {', '.join(shown)}"


def _eee_parts(params: Params, tick: Duration) -> dict[str, str]:
    def time(name: str) -> str:
        return spaced(Duration(params[f"{name}_ticks"] * tick))

    packets, size = params["trigger_packets"], params["trigger_bytes"]
    return {
        "hold": time("hold"),
        "trigger": _packets(packets) if packets else "none",
        "byte trigger": _bytes(size) if size else "none",
        "stall": time("stall"),
        "sleep": time("sleep"),
        "wake": time("wake"),
        "wire time": f"{params['ticks_per_byte_q24'] * int(tick) / (1 << 24) / 1000:.6g} ns/byte",
        "overhead": _bytes(params["overhead_bytes"]),
    }


def _bytes(value: int) -> str:
    return spaced(Bytes(value))


def _packets(value: int) -> str:
    return spaced(Packets(value)).replace("pkt", "packet" if value == 1 else "packets")
