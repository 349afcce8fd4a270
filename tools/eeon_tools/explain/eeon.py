"""The reasons for what the E-EON program did: its verdict with the numbers behind it, and what a packet
waited for.

All values come from the trace: the program's metadata after ingress and egress, the parameters of the port's
entries, the registers that were read and written, and the random numbers drawn. Nothing is computed again
except the probability of RED, which the program never holds as one value. Names are those of p4src; local
variables are not used, because p4c renames and copies them freely.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from eeon_control.constants import CLASSES, ECN, EEE_STATES, SENT, TICK_VALUES, VERDICTS
from eeon_control.entries import Action
from eeon_control.port_settings import (
    AQM,
    BUFFER,
    EEE,
    IN_TICKS,
    QUEUE_AQM,
    BufferLimit,
    BufferLimitBesideHeld,
    BufferLimitInPackets,
    ByQueueSettings,
    CodelSettings,
    DropTailSettings,
    EeeSettings,
    MarkThresholdSettings,
    PortTable,
    RedSettings,
    Settings,
)
from eeon_control.port_settings.eee import Trigger
from eeon_control.port_settings.red import depth_of, draw_of
from eeon_control.units import Duration, Packets

from eeon_tools.explain import values
from eeon_tools.explain.scene import Scene

if TYPE_CHECKING:
    from eeon_engine.json_types import DequeuedStep, JourneyStep, ParsedStep, QueuedStep, TraceEvent

_META = "scalars.metadata_t."
_NOT_ECT, _CE = ECN["NOT_ECT"], ECN["CE"]
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


@dataclass(frozen=True)
class _Facts:
    """The first ingress run and the last egress run of one packet. `events`: of ingress; `leaving`: of
    egress."""

    ingress: dict[str, int]
    egress: dict[str, int]
    events: list[TraceEvent]
    leaving: list[TraceEvent]
    parsed: ParsedStep

    def meta(self, name: str) -> int:
        return self.ingress.get(_META + name, 0)

    def settings(self, table: PortTable, tick: Duration = IN_TICKS) -> Settings | None:
        """Returns the settings in the action that a port's table ran, in ticks; None if it ran none."""
        ran = self._ran(table.name)
        return table.from_action(ran, tick) if ran is not None else None

    def aqm(self) -> Settings | None:
        """Returns the AQM applied to the packet, its port's or its queue's, with times in ticks."""
        found = self.settings(AQM)
        return self.settings(QUEUE_AQM) if isinstance(found, ByQueueSettings) else found

    def where(self) -> str:
        """Returns where the AQM compares: `port 2`, or `queue of priority 6 at port 2`."""
        port = f"port {self.meta('egress_port')}"
        return f"queue of priority {self.meta('queue') & 7} at {port}" if self.meta("aqm_of_queue") else port

    def ran(self, table: str) -> str:
        """Returns the action that a table ran; empty if it ran none."""
        ran = self._ran(table)
        return ran.name if ran is not None else ""

    def parameter(self, table: str, name: str) -> int:
        """Returns a parameter of the action that a table ran; 0 if there is none."""
        ran = self._ran(table)
        return dict(ran.params).get(name, 0) if ran is not None else 0

    def _ran(self, table: str) -> Action | None:
        found = False
        for event in self.events:
            if event["event"] == "table":
                found = event["table"].rpartition(".")[2] == table
            elif event["event"] == "action" and found:
                params = tuple((p["name"], int(p["value"])) for p in event["params"])
                return Action(event["action"].rpartition(".")[2], params)
        return None

    def left_behind(self) -> int:
        """Returns the bytes left behind the packet in the queue or port that its AQM compares."""
        if self.meta("aqm_priority"):
            return _written(self.leaving, "queue_bytes") or 0
        left = _written(self.leaving, "occupancy_bytes") or 0
        return left - (_read(self.leaving, "raised_bytes") or 0) if self.meta("aqm_of_queue") else left

    def red_depth(self, red: RedSettings) -> Fraction:
        """Returns the depth that RED compared, in the unit of its thresholds."""
        if red.average_shift:
            return depth_of(_written(self.events, "red_average") or 0)
        if isinstance(red.min, Packets):
            return Fraction(self._packets_found())
        return Fraction(self.meta("found_bytes"))

    def _packets_found(self) -> int:
        if self.meta("aqm_priority"):
            return _read(self.events, "queue_packets") or 0
        found = _read(self.events, "occupancy_packets") or 0
        return found - (_read(self.events, "raised_packets") or 0) if self.meta("aqm_of_queue") else found

    def red_probability(self, red: RedSettings, depth: Fraction) -> Fraction:
        """Returns the probability that RED compared with its draw, at most 1."""
        return min(red.probability_at(depth, self.meta("queued_bytes")), Fraction(1))

    def red_draw(self) -> Fraction:
        """Returns the number that RED drew; 0 if it drew none."""
        drawn = (event["drawn"] for event in self.events if event["event"] == "random")
        return draw_of(next(drawn, 0))


def _read(events: list[TraceEvent], register: str) -> int | None:
    """Returns the first value read from a register."""
    reads = (one for one in events if one["event"] == "register_read" and one["register"] == register)
    return next((one["value"] for one in reads), None)


def _written(events: list[TraceEvent], register: str) -> int | None:
    """Returns the last value written to a register."""
    writes = (one for one in reversed(events) if one["event"] == "register_write")
    return next((one["new"] for one in writes if one["register"] == register), None)


def reasons(scene: Scene, steps: list[JourneyStep]) -> tuple[str | None, list[str]]:
    """Returns the name of the verdict and the reasons, most important first. A copy has none: it has not been
    through ingress."""
    ran = [step for step in steps if step["step"] == "ingress"]
    if not ran or ran[0]["fault"] or steps[0]["step"] != "arrived":
        return None, []
    left = [step for step in steps if step["step"] == "egress"]
    egress: dict[str, int] = left[-1]["values"] if left else {}
    parsed = next(step for step in steps if step["step"] == "parsed")
    leaving = left[-1]["events"] if left else []
    facts = _Facts(ran[0]["values"], egress, ran[0]["events"], leaving, parsed)
    number = egress.get(_META + "verdict", facts.meta("verdict")) if left else facts.meta("verdict")
    verdict = VERDICTS[number] if number < len(VERDICTS) else str(number)
    found = [_verdict(facts, verdict)]
    if verdict in SENT:
        found += _waiting(scene, facts, steps)
    return verdict, found


def _verdict(facts: _Facts, verdict: str) -> str:
    match verdict:
        case "malformed" if facts.parsed["error"] != "NoError":
            return f"dropped as malformed: the parser stopped with {facts.parsed['error']}"
        case "malformed":
            return "dropped as malformed: the IPv4 header checksum is wrong"
        case "consumed":
            return "consumed: a MAC control frame is for the switch that receives it, and is not forwarded"
        case "not_admitted":
            port, mac = _key_of(facts, "l3_admit")
            return f"not admitted: {mac} is not an address of the router at port {port} (l3_admit)"
        case "martian":
            return (
                "martian: its source or destination is loopback, link-local, multicast, broadcast, "
                "unspecified or reserved, which no router forwards (RFC 1812 section 5.3.7, RFC 4291)"
            )
        case "no_route":
            return f"no route: {_no_route(facts)}"
        case "ttl_expired":
            return "dropped: its TTL or hop limit would become 0 (route.forward)"
        case "to_cpu":
            return "to the CPU: its route says to_cpu"
        case "tail_dropped" if facts.meta("lossless"):
            return _no_room_in_group(facts)
        case "tail_dropped" if facts.ran("pausable_queue") == "discard":
            return (
                f"tail-dropped: the queue of port {facts.meta('egress_port')} takes no packets, because its "
                "neighbour pauses it without end (pausable_queue.discard, the controller's watchdog)"
            )
        case "tail_dropped":
            buffer = facts.settings(BUFFER)
            found = f"tail-dropped: occupancy {values.size(facts.meta('found_bytes'))}"
            where = f"({buffer.action}, port {facts.meta('egress_port')})" if buffer else ""
            if isinstance(buffer, BufferLimitInPackets):
                return f"{found} in {buffer.describe()}, which is full {where}"
            limit = buffer.limit if isinstance(buffer, BufferLimit | BufferLimitBesideHeld) else 0
            packet = values.size(facts.meta("queued_bytes"))
            return f"{found} + packet {packet} > buffer {values.size(limit)} {where}"
        case "early_dropped":
            match facts.aqm():
                case CodelSettings() as codel:
                    due = f"{_codel(facts, codel)}, and a signal was due"
                    return f"early-dropped as it left: {due}; {_why_not_marked(facts, codel)}"
                case RedSettings() as red:
                    return f"early-dropped: {_red(facts, red)}; {_why_not_marked(facts, red)}"
                case _:
                    return "early-dropped"
        case "marked":
            return f"marked CE: {_why_marked(facts)}"
        case _:
            return f"forwarded, not marked: {_why_not(facts)}"


def _key_of(facts: _Facts, table: str) -> list[str]:
    """Returns the fields of the key that a table looked up; none if there was no lookup."""
    for event in facts.events:
        if event["event"] == "table" and event["table"].rpartition(".")[2] == table:
            return [values.of_field(part["name"], part["width"], part["value"]) for part in event["key"]]
    return []


def _no_route(facts: _Facts) -> str:
    for event in facts.events:
        if event["event"] == "table" and event["table"].endswith(("ipv4_route", "ipv6_route")):
            table = event["table"].rpartition(".")[2]
            shown = ", ".join(_key_of(facts, table))
            if event["hit"] is None:
                return f"{shown} matches no entry in {table}"
            return f"the entry for {shown} in {table} names a port that is not a data port"
    if any(event["event"] == "action" and event["action"].endswith(".decap") for event in facts.events):
        return "the packet-out names a port that is not a data port"
    return "it is neither IPv4 nor IPv6"


def _why_marked(facts: _Facts) -> str:
    match facts.aqm():
        case RedSettings() as red:
            return f"{_red(facts, red)}; it is {_ECN[facts.meta('ecn')]}"
        case CodelSettings() as codel:
            return f"{_codel(facts, codel)}, and a signal was due; it is {_ECN[facts.meta('ecn')]}"
        case MarkThresholdSettings(at_dequeue=True):
            left = values.size(facts.left_behind())
            return f"{left} left behind it > {_threshold(facts, ' at departure')}"
        case _:
            return f"occupancy {values.size(facts.meta('found_bytes'))} > {_threshold(facts)}"


def _why_not(facts: _Facts) -> str:
    match facts.aqm():
        case MarkThresholdSettings() as marking:
            return _why_not_by_threshold(facts, marking)
        case RedSettings() as red:
            if not _is_congested(facts, red):
                return _red(facts, red)
            if facts.meta("ecn") == _CE and red.ecn:
                return f"{_red(facts, red)}, but it arrived with CE, which it keeps"
            return f"{_red(facts, red)}, but {_spared(facts)} is protected (protect = {red.protect})"
        case CodelSettings() as codel:
            if _sojourn(facts) < codel.target:
                return _codel(facts, codel)
            if facts.meta("ecn") == _CE and codel.ecn:
                return f"{_codel(facts, codel)}, but it arrived with CE, which it keeps"
            spared = f"or it is protected (protect = {codel.protect})"
            return f"{_codel(facts, codel)}, but no signal was due, {spared}"
        case DropTailSettings():
            return f"{facts.where()} only drops what does not fit (drop_tail)"
        case _:
            return f"{facts.where()} has no AQM"


def _why_not_by_threshold(facts: _Facts, marking: MarkThresholdSettings) -> str:
    if facts.meta("ecn") == _CE:
        return "it arrived with CE, which it keeps"
    if facts.meta("ecn") == _NOT_ECT:
        return "it is not ECT, and a threshold drops no packets"
    if marking.at_dequeue:
        return f"the bytes left behind it are not above {_threshold(facts, ' at departure')}"
    return f"occupancy {values.size(facts.meta('found_bytes'))} <= {_threshold(facts)}"


def _threshold(facts: _Facts, when: str = "") -> str:
    threshold = values.size(facts.meta("dequeue_threshold_bytes"))
    return f"threshold {threshold} (mark_threshold{when}, {facts.where()})"


def _spared(facts: _Facts) -> str:
    if facts.meta("tcp_ece"):
        return "a packet with ECE"
    number = facts.meta("packet_class")
    return f"class {CLASSES[number]}" if number < len(CLASSES) else "its class"


def _why_not_marked(facts: _Facts, aqm: RedSettings | CodelSettings) -> str:
    if not aqm.ecn:
        return f"the AQM of this {'queue' if facts.meta('aqm_of_queue') else 'port'} does not mark"
    return f"it is {_ECN[facts.meta('ecn')]}, so it cannot be marked"


def _sojourn(facts: _Facts) -> int:
    """Returns the ticks from admission to departure."""
    left = facts.egress.get("standard_metadata.egress_global_timestamp", 0)
    ticks: int = (left - facts.meta("admitted_at")) % TICK_VALUES
    return ticks


def _codel(facts: _Facts, codel: CodelSettings) -> str:
    """Returns CoDel's comparison, in ticks."""
    sojourn, target = _sojourn(facts), codel.target
    sign = "<" if sojourn < target else ">="
    return f"sojourn {sojourn:,} ticks {sign} target {target:,} (codel, {facts.where()})"


def _is_congested(facts: _Facts, red: RedSettings) -> bool:
    depth = facts.red_depth(red)
    return depth >= red.max or (depth >= red.min and facts.red_draw() < facts.red_probability(red, depth))


def _red(facts: _Facts, red: RedSettings) -> str:
    """Returns RED's comparison: the depth, the thresholds, and if it drew a number, the probability and the
    draw."""
    unit = " packets" if isinstance(red.min, Packets) else " B"
    depth = facts.red_depth(red)
    average = "average occupancy" if red.average_shift else "occupancy"
    shown = f"{average} {int(depth):,}{unit}"
    place = f"(red, {facts.where()})"
    if depth < red.min:
        return f"{shown} < min {red.min:,}{unit} {place}"
    if depth >= red.max:
        return f"{shown} >= max {red.max:,}{unit} {place}"
    chance = facts.red_probability(red, depth)
    drawn = facts.red_draw()
    sign = "<" if drawn < chance else ">="
    return (
        f"{shown} between {red.min:,} and {red.max:,}{unit}: p = {_decimal(chance)}, "
        f"draw = {_decimal(drawn)} {sign} p {place}"
    )


def _decimal(value: Fraction) -> str:
    """Returns six decimals, truncated and not rounded, so that a draw below a probability also looks lower
    unless they are within a millionth."""
    millionths = value.numerator * 10**6 // value.denominator
    return f"{millionths // 10**6}.{millionths % 10**6:06d}"


def _no_room_in_group(facts: _Facts) -> str:
    group = facts.meta("ingress_queue")
    has = values.size(_read(facts.events, "ingress_bytes") or 0)
    packet = values.size(facts.meta("queued_bytes"))
    limit = values.size(facts.parameter("lossless_group", "limit_bytes"))
    return (
        f"tail-dropped: the lossless group of port {group >> 3}, priority {group & 7} has {has}; + packet "
        f"{packet} > limit {limit} (lossless_group.lossless)"
    )


def _waiting(scene: Scene, facts: _Facts, steps: list[JourneyStep]) -> list[str]:
    queued = [step for step in steps if step["step"] == "queued"]
    if not queued:
        return []
    first = queued[0]
    left = next((step for step in reversed(steps) if step["step"] == "dequeued"), None)
    gate = first["gate_opens_ps"]
    rounds = sum(1 for step in steps if step["step"] == "recirculated")
    eee = facts.settings(EEE, Duration(scene.tick_ps))
    written = _written(facts.events, "gate_open_at")
    if gate == 0 and rounds and written is not None:
        gate = written * scene.tick_ps  # no gate in this switch: the packet recirculates until that time
    paused = []
    if first["pause_ends_ps"] > first["at_ps"]:
        until = values.time(first["pause_ends_ps"])
        paused = [f"paused until t={until}: the neighbour at port {first['port']} has paused this class"]
    if isinstance(eee, EeeSettings) and gate is not None and gate > first["at_ps"]:
        return [_held(facts, first, gate, eee), *paused, *_released(first, left, gate, rounds)]
    if paused:
        return [*paused, *_released(first, left, first["pause_ends_ps"], rounds, _PAUSE)]
    if left is None or left["at_ps"] == first["at_ps"]:
        return []
    waited = values.time(left["at_ps"] - first["at_ps"])
    ahead = f"{values.plural(first['packets_ahead'], 'packet')} ahead of it"
    cause = "the wire was busy"
    if facts.meta("pausable"):
        cause += ", or a pause arrived meanwhile"
    return [f"waited {waited} in the queue of port {first['port']}: {cause}, {ahead}"]


def _held(facts: _Facts, queued: QueuedStep, gate: int, eee: EeeSettings) -> str:
    port = queued["port"]
    wake = gate - eee.wake
    state = _read(facts.events, "eee_state") or 0
    became = _written(facts.events, "eee_state")
    before = EEE_STATES[state] if state < len(EEE_STATES) else ""
    after = EEE_STATES[became] if became is not None and became < len(EEE_STATES) else before
    held = _written(facts.events, "held_packets")
    trigger = _trigger(eee.trigger)
    match before, after:
        case "active", "hold":
            timer = values.time(eee.hold)
            why = f"its link is asleep and a hold begins with it: timer {timer}{trigger}"
        case "active", _:
            why = "its link is asleep and wakes for it at once"
        case "hold", "wake":
            why = f"the hold ends with it, packet {held or 0:,} since it began{trigger}"
        case "hold", _:
            why = f"it joins a hold as packet {held or 0:,}{trigger}"
        case _:
            why = "its link is already due to wake"
    return f"held until t={values.time(gate)}: gate of port {port}; wake starts at {values.time(wake)}; {why}"


def _trigger(trigger: Trigger) -> str:
    parts = []
    if trigger.packets is not None:
        parts.append(values.plural(trigger.packets, "packet"))
    if trigger.bytes is not None:
        parts.append(values.size(trigger.bytes))
    return f", trigger {' or '.join(parts)}" if parts else ""


_GATE = ("the gate opened", "a later packet reached the trigger, and the gate opened earlier")
_PAUSE = ("the pause ended", "the neighbour ended the pause")
"""The reasons for a packet's departure: at the end of its pause, and before."""


def _released(
    queued: QueuedStep, left: DequeuedStep | None, until_ps: int, rounds: int, causes: tuple[str, str] = _GATE
) -> list[str]:
    if left is None:
        return []
    then, earlier = causes
    waited = values.time(left["at_ps"] - queued["at_ps"])
    if rounds:
        return [f"left after {waited}, {values.plural(rounds, 'time')} round the recirculation loop"]
    if left["at_ps"] < until_ps:
        return [f"left after {waited}, before that: {earlier}"]
    if left["at_ps"] > until_ps:
        behind = f"behind {values.plural(queued['packets_ahead'], 'packet')}"
        return [f"left after {waited}: {values.time(left['at_ps'] - until_ps)} after {then}, {behind}"]
    return [f"left after {waited}, when {then}"]
