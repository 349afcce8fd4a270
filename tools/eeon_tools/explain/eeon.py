"""The E-EON program's reasons: its verdict with the numbers that it was made of, and what a packet waited
for.

Everything is read from the trace: the program's metadata after ingress and egress, the parameters of the
port's entries, what registers were read and written. Nothing is computed again except the probability of
RED, which the program never holds as one value. The meaning of each name is in p4src.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from eeon_control.constants import CLASSES, EEE_STATES, PROTECT, VERDICTS

from eeon_tools.explain import values
from eeon_tools.explain.scene import Scene

# A local of the action `leave`, of which p4c makes one copy for each action that calls it, and numbers them.
_LEFT = re.compile(r"scalars\.left(_\d+)?")
_META = "scalars.metadata_t."
_NOT_ECT, _CE = 0, 3
_ECN = ("not ECT", "ECT(1)", "ECT(0)", "CE")
NAMES: dict[str, tuple[str, ...]] = {
    f"{_META}verdict": VERDICTS,
    f"{_META}packet_class": CLASSES,
    f"{_META}ecn": _ECN,
    "ipv4.ecn": _ECN,
    "ipv6.ecn": _ECN,
    "eee_state": EEE_STATES,
}
"""Words for the values of fields and registers, by the name in the JSON."""
_PROTECTS = {number: name for name, number in PROTECT.items()}


@dataclass(frozen=True)
class _Facts:
    """One packet's first ingress run, and the last egress run."""

    ingress: dict[str, Any]
    egress: dict[str, Any]
    events: list[dict[str, Any]]
    parsed: dict[str, Any]

    def meta(self, name: str) -> int:
        return int(self.ingress.get(_META + name, 0))

    def params(self, table: str) -> tuple[str, dict[str, int]]:
        """Short name and parameters of the action that a table ran."""
        found = False
        for event in self.events:
            if event["event"] == "table":
                found = event["table"].endswith(f".{table}")
            elif event["event"] == "action" and found:
                name = event["action"].rpartition(".")[2]
                return name, {p["name"]: int(p["value"]) for p in event["params"]}
        return "", {}

    def register(self, name: str, kind: str) -> int | None:
        """What was first read from a register, or last written to it, in ingress."""
        key = "value" if kind == "register_read" else "new"
        found = [e[key] for e in self.events if e["event"] == kind and e["register"] == name]
        return None if not found else int(found[0] if kind == "register_read" else found[-1])


def reasons(scene: Scene, steps: list[dict[str, Any]]) -> tuple[str | None, list[str]]:
    """The verdict's name and the reasons, most important first. A copy, which has not been through ingress,
    has none."""
    ran = [step for step in steps if step["step"] == "ingress"]
    if not ran or ran[0]["fault"] or steps[0]["step"] != "arrived":
        return None, []
    left = [step for step in steps if step["step"] == "egress"]
    egress = left[-1]["values"] if left else {}
    parsed = next(step for step in steps if step["step"] == "parsed")
    facts = _Facts(ran[0]["values"], egress, ran[0]["events"], parsed)
    number = int(egress.get(_META + "verdict", facts.meta("verdict"))) if left else facts.meta("verdict")
    verdict = VERDICTS[number] if number < len(VERDICTS) else str(number)
    found = [_verdict(facts, verdict)]
    if verdict in ("forwarded", "marked"):
        found += _waiting(scene, facts, steps)
    return verdict, found


def _verdict(facts: _Facts, verdict: str) -> str:
    match verdict:
        case "malformed":
            return _malformed(facts)
        case "no_route":
            return f"no route: {_no_route(facts)}"
        case "ttl_expired":
            return "dropped: its TTL or hop limit would become 0 (route.forward)"
        case "to_cpu":
            return "to the CPU: its route says to_cpu"
        case "tail_dropped":
            _, params = facts.params("port_buffer")
            return (
                f"tail-dropped: occupancy {values.size(facts.meta('found_bytes'))} + "
                f"packet {values.size(facts.meta('queued_bytes'))} > "
                f"buffer {values.size(params.get('buffer_bytes', 0))} "
                f"(set_buffer_limit, port {facts.meta('egress_port')})"
            )
        case "early_dropped":
            if facts.params("port_aqm")[0] == "codel":
                due = f"{_codel(facts)}, and a signal was due"
                return f"early-dropped as it left: {due}; {_why_not_marked(facts)}"
            return f"early-dropped: {_red(facts)}; {_why_not_marked(facts)}"
        case "marked":
            return f"marked CE: {_why_marked(facts)}"
        case _:
            return f"forwarded, not marked: {_why_not(facts)}"


def _malformed(facts: _Facts) -> str:
    error = facts.parsed["error"]
    if error != "NoError":
        return f"dropped as malformed: the parser stopped with {error}"
    return "dropped as malformed: the IPv4 header checksum is wrong"


def _no_route(facts: _Facts) -> str:
    for event in facts.events:
        if event["event"] == "table" and event["table"].endswith(("ipv4_route", "ipv6_route")):
            shown = ", ".join(
                values.of_field(part["name"], part["width"], part["value"]) for part in event["key"]
            )
            table = event["table"].rpartition(".")[2]
            if event["hit"] is None:
                return f"{shown} hits nothing in {table}"
            return f"the entry of {shown} in {table} names a port that is no data port"
    if any(event["event"] == "action" and event["action"].endswith(".decap") for event in facts.events):
        return "the packet-out names a port that is no data port"
    return "it is neither IPv4 nor IPv6"


def _why_marked(facts: _Facts) -> str:
    name, params = facts.params("port_aqm")
    port = facts.meta("egress_port")
    if name == "red":
        return f"{_red(facts)}; it is {_ecn(facts)}"
    if name == "codel":
        return f"{_codel(facts)}, and a signal was due; it is {_ecn(facts)}"
    threshold = values.size(facts.meta("dequeue_threshold_bytes"))
    if params.get("at_dequeue"):
        left = values.size(
            max((int(facts.egress[key]) for key in facts.egress if _LEFT.fullmatch(key)), default=0)
        )
        return f"{left} stay behind it > threshold {threshold} (mark_threshold at departure, port {port})"
    found = values.size(facts.meta("found_bytes"))
    return f"occupancy {found} > threshold {threshold} (mark_threshold, port {port})"


def _why_not(facts: _Facts) -> str:
    name, params = facts.params("port_aqm")
    ecn = facts.meta("ecn")
    port = facts.meta("egress_port")
    if name == "mark_threshold":
        if ecn == _CE:
            return "it came with CE, which stays"
        if ecn == _NOT_ECT:
            return "it is not ECT, and a threshold drops nothing"
        threshold = values.size(facts.meta("dequeue_threshold_bytes"))
        if params.get("at_dequeue"):
            place = f"mark_threshold at departure, port {port}"
            return f"what stays behind it is not above threshold {threshold} ({place})"
        found = values.size(facts.meta("found_bytes"))
        return f"occupancy {found} <= threshold {threshold} (mark_threshold, port {port})"
    if name == "red":
        if not _is_congested(facts):
            return _red(facts)
        if ecn == _CE and params.get("ecn"):
            return f"{_red(facts)}, but it came with CE, which stays"
        return f"{_red(facts)}, but {_spared(facts)} is spared (protect = {_protect(params)})"
    if name == "codel":
        if _sojourn(facts) < params.get("target_ticks", 0):
            return _codel(facts)
        if ecn == _CE and params.get("ecn"):
            return f"{_codel(facts)}, but it came with CE, which stays"
        return f"{_codel(facts)}, but no signal was due, or it is spared (protect = {_protect(params)})"
    if name == "drop_tail":
        return f"port {port} only drops what does not fit (drop_tail)"
    return f"port {port} has no AQM"


def _spared(facts: _Facts) -> str:
    if facts.meta("tcp_ece"):
        return "what carries ECE"
    number = facts.meta("packet_class")
    return f"class {CLASSES[number]}" if number < len(CLASSES) else "its class"


def _why_not_marked(facts: _Facts) -> str:
    _, params = facts.params("port_aqm")
    if not params.get("ecn"):
        return "the AQM of this port marks nothing"
    return f"it is {_ecn(facts)}, so it cannot be marked"


def _ecn(facts: _Facts) -> str:
    ecn = facts.meta("ecn")
    return _ECN[ecn] if ecn < len(_ECN) else str(ecn)


def _protect(params: dict[str, int]) -> str:
    return str(_PROTECTS.get(params.get("protect", 0), "?"))


def _sojourn(facts: _Facts) -> int:
    """Ticks from admission to departure."""
    left = int(facts.egress.get("standard_metadata.egress_global_timestamp", 0))
    return (left - facts.meta("admitted_at")) % 2**48


def _codel(facts: _Facts) -> str:
    """What CoDel compared."""
    _, params = facts.params("port_aqm")
    sojourn, target = _sojourn(facts), params.get("target_ticks", 0)
    sign = "<" if sojourn < target else ">="
    return f"sojourn {sojourn:,} ticks {sign} target {target:,} (codel, port {facts.meta('egress_port')})"


def _is_congested(facts: _Facts) -> bool:
    return bool(facts.ingress.get("scalars.aqm_congested", 0))


def _red(facts: _Facts) -> str:
    """What RED compared: the depth, its thresholds, and where it drew, the probability and the draw."""
    _, params = facts.params("port_aqm")
    unit = " packets" if params.get("in_packets") else " B"
    low, high = params.get("min_threshold", 0), params.get("max_threshold", 0)
    depth = int(facts.ingress.get("scalars.aqm_depth", 0))
    average = "average occupancy" if params.get("average_shift") else "occupancy"
    shown = f"{average} {depth >> 16:,}{unit}"
    port = facts.meta("egress_port")
    if depth < low << 16:
        return f"{shown} < min {low:,}{unit} (red, port {port})"
    if depth >= high << 16:
        return f"{shown} >= max {high:,}{unit} (red, port {port})"
    above = (depth - (low << 16)) >> 8
    chance = Fraction(above * params.get("probability_slope", 0) >> 8, 1 << 48)
    drawn = next((Fraction(e["drawn"], 1 << 48) for e in facts.events if e["event"] == "random"), Fraction(0))
    sign = "<" if drawn < chance else ">="
    return (
        f"{shown} between {low:,} and {high:,}{unit}: p = {_decimal(chance)}, "
        f"draw = {_decimal(drawn)} {sign} p (red, port {port})"
    )


def _decimal(value: Fraction) -> str:
    """Six decimals, cut off and not rounded, so that a draw never looks equal to a probability that it is
    below unless it is within a millionth."""
    millionths = value.numerator * 10**6 // value.denominator
    return f"{millionths // 10**6}.{millionths % 10**6:06d}"


def _waiting(scene: Scene, facts: _Facts, steps: list[dict[str, Any]]) -> list[str]:
    queued = [step for step in steps if step["step"] == "queued"]
    if not queued:
        return []
    first = queued[0]
    left = next((step for step in reversed(steps) if step["step"] == "dequeued"), None)
    gate = first["gate_opens_ps"]
    rounds = sum(1 for step in steps if step["step"] == "recirculated")
    name, params = facts.params("port_eee")
    written = facts.register("gate_open_at", "register_write")
    if gate == 0 and rounds and written is not None:
        gate = written * scene.tick_ps  # no gate in this switch: the packet goes round until that time
    if name == "eee" and gate is not None and gate > first["at_ps"]:
        return [_held(scene, facts, first, gate, params), *_released(first, left, gate, rounds)]
    if left is None or left["at_ps"] == first["at_ps"]:
        return []
    waited = values.time(left["at_ps"] - first["at_ps"])
    ahead = f"{values.plural(first['packets_ahead'], 'packet')} ahead of it"
    return [f"waited {waited} in the queue of port {first['port']}: the wire was busy, {ahead}"]


def _held(scene: Scene, facts: _Facts, queued: dict[str, Any], gate: int, params: dict[str, int]) -> str:
    port = queued["port"]
    wake = gate - params.get("wake_ticks", 0) * scene.tick_ps
    state = facts.register("eee_state", "register_read") or 0
    became = facts.register("eee_state", "register_write")
    before = EEE_STATES[state] if state < len(EEE_STATES) else ""
    after = EEE_STATES[became] if became is not None and became < len(EEE_STATES) else before
    held = facts.register("held_packets", "register_write")
    trigger = _trigger(params)
    match before, after:
        case "active", "hold":
            timer = values.time(params.get("hold_ticks", 0) * scene.tick_ps)
            why = f"its link is asleep and a hold begins with it: timer {timer}{trigger}"
        case "active", _:
            why = "its link is asleep and is to wake for it at once"
        case "hold", "wake":
            why = f"the hold ends with it, packet {held or 0:,} since it began{trigger}"
        case "hold", _:
            why = f"it joins a hold as packet {held or 0:,}{trigger}"
        case _:
            why = "its link is already to wake"
    return f"held until t={values.time(gate)}: gate of port {port}; wake starts at {values.time(wake)}; {why}"


def _trigger(params: dict[str, int]) -> str:
    parts = []
    if params.get("trigger_packets"):
        parts.append(values.plural(params["trigger_packets"], "packet"))
    if params.get("trigger_bytes"):
        parts.append(values.size(params["trigger_bytes"]))
    return f", trigger {' or '.join(parts)}" if parts else ""


def _released(queued: dict[str, Any], left: dict[str, Any] | None, gate: int, rounds: int) -> list[str]:
    if left is None:
        return []
    waited = values.time(left["at_ps"] - queued["at_ps"])
    if rounds:
        return [f"left after {waited}, {values.plural(rounds, 'time')} round the recirculation loop"]
    if left["at_ps"] < gate:
        return [
            f"left after {waited}, before that: a later packet reached the trigger, "
            "and the gate opened earlier"
        ]
    if left["at_ps"] > gate:
        behind = f"behind {values.plural(queued['packets_ahead'], 'packet')}"
        return [f"left after {waited}: {values.time(left['at_ps'] - gate)} after the gate opened, {behind}"]
    return [f"left after {waited}, when the gate opened"]
