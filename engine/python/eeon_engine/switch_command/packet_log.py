"""The log of packets: the steps of every packet, in BMv2's order and words.

It is made from the engine's journeys (`SwitchHandle.take_journey`). A line begins with the numbers of the
packet and of its copy, as in BMv2: `[7.0] [cxt 0] Parser 'parser': start`. The switch's own lines are those
of simple_switch's `simple_switch.cpp`; drops that simple_switch does not log have a line here.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from dataclasses import dataclass, field

from .._engine import Program, SwitchHandle
from ..json_documents import take_journey
from ..json_types import EgressStep, IngressStep, JourneyStep, ParsedStep
from .logs import TRACE
from .packet_lines import Line, Lines

_LEVELS = {"T": TRACE, "D": logging.DEBUG, "I": logging.INFO, "E": logging.ERROR}
_PS_PER_S = 10**12
_US_PER_S = 10**6
_VALID = ".$valid$"


@dataclass
class _Packet:
    """A packet in the switch. `number`, `copy`: its numbers in BMv2. `parent`: the packet from which it was
    copied. `stage`: the last pipeline that it has run through. `is_new`: a copy without events so far."""

    number: int
    copy: int
    port: int
    parent: _Packet | None = None
    is_new: bool = False
    is_clone: bool = False
    is_replica: bool = False
    group_is_told: bool = False
    stage: str = ""
    parsed: ParsedStep | None = None
    egress_spec: int = 0
    valid: frozenset[str] = frozenset()
    last_copy: list[int] = field(default_factory=lambda: [0])
    """The last copy's number, shared by all copies of one packet."""

    @property
    def name(self) -> str:
        """The name in BMv2's lines."""
        return f"{self.number}.{self.copy}"

    def next_copy(self) -> int:
        """Returns a new number for a copy of the packet."""
        self.last_copy[0] += 1
        return self.last_copy[0]


class PacketLog:
    """A log of the events in a switch that follows all its packets."""

    def __init__(self, switch: SwitchHandle, log: logging.Logger) -> None:
        self._switch = switch
        self._log = log
        self._program: Program | None = None
        self._packets: dict[int, _Packet] = {}
        self._received = 0
        self._messages: deque[str] = deque()
        self._created = 0.0

    def write(self) -> None:
        """Writes the events since the last call, with the texts of the program's `log_msg`."""
        program = self._switch.program
        if program is None:
            return
        journey = take_journey(self._switch)
        self._messages.extend(self._switch.take_log())
        if program is not self._program:
            self._program, self._lines = program, Lines(program.json)
            self._packets.clear()
        if self._switch.program is not program:
            # The journey may belong to either program.
            self._packets.clear()
            self._messages.clear()
            return
        began = time.time() - self._switch.time_elapsed_us / _US_PER_S
        for step in journey["steps"]:
            self._created = began + step["at_ps"] / _PS_PER_S
            self._step(step)
        self._created = time.time()
        if journey["is_cut"]:
            self._say("E", "packets are missing here: more arrived than could be logged")
        if journey["is_cut"] or not journey["inside"]:
            self._packets.clear()
            while self._messages:
                self._say("I", self._messages.popleft())

    def _step(self, step: JourneyStep) -> None:
        if step["step"] == "arrived":
            self._packets[step["packet"]] = _Packet(self._received, 0, step["port"])
            self._received += 1
            return
        packet = self._packets.get(step["packet"])
        if packet is None:
            return
        self._write(packet, step)
        packet.is_new = False
        if step["step"] in ("sent", "dropped"):
            del self._packets[step["packet"]]

    def _write(self, packet: _Packet, step: JourneyStep) -> None:
        match step["step"]:
            case "parsed":
                packet.parsed = step
                self._tell(packet, f"Processing packet received on port {packet.port}")
                self._parser(packet, step)
            case "ingress":
                packet.stage = "ingress"
                packet.is_replica = packet.is_clone = packet.group_is_told = False
                packet.egress_spec = step["values"].get("standard_metadata.egress_spec", 0)
                self._pipeline(packet, step)
            case "egress":
                packet.stage = "egress"
                headers = (name.removesuffix(_VALID) for name in step["values"] if name.endswith(_VALID))
                packet.valid = frozenset(headers)
                self._pipeline(packet, step)
            case "copied":
                copy = _Packet(packet.number, packet.next_copy(), packet.port, packet, is_new=True)
                copy.last_copy = packet.last_copy
                self._packets[step["to"]] = copy
            case "clone":
                packet.is_clone = True
                original = packet.parent or packet
                self._tell(original, f"Cloning packet at {'egress' if step['egress'] else 'ingress'}")
                if not step["egress"] and original.parsed is not None:
                    self._parser(packet, original.parsed)
            case "no_clone_session":
                self._tell(packet, f"Cloning packet at {packet.stage}")
            case "replica":
                self._replica(packet, step["group"], step["port"])
            case "resubmitted":
                self._tell(packet, "Resubmitting packet")
                packet.copy = packet.next_copy()
            case "queued":
                self._queued(packet, step["port"])
            case "deparsed":
                for line in self._lines.deparser(step["events"], packet.valid.__contains__):
                    self._line(packet, line)
            case "recirculated":
                self._tell(packet, "Recirculating packet")
                packet.copy = packet.next_copy()
            case "dropped":
                self._dropped(packet, step["cause"])
            case "sent":
                size = len(step["frame"]) // 2
                self._tell(packet, f"Transmitting packet of size {size} out of port {step['port']}")
            case _:
                pass

    def _parser(self, packet: _Packet, step: ParsedStep) -> None:
        error = None if step["error"] == "NoError" else step["error"]
        for line in self._lines.parser(step["events"], error):
            self._line(packet, line)

    def _pipeline(self, packet: _Packet, step: IngressStep | EgressStep) -> None:
        name, events, fault = step["step"], step["events"], step["fault"]
        for line in self._lines.pipeline(name, events, fault, self._next_message):
            self._line(packet, line)

    def _next_message(self) -> str | None:
        return self._messages.popleft() if self._messages else None

    def _replica(self, packet: _Packet, group: int, port: int) -> None:
        """Logs a copy for a group. If it is the packet itself, it gets the last copy's number."""
        made = packet.is_new and not packet.is_clone
        original = packet.parent if made and packet.parent is not None else packet
        if not original.group_is_told:
            original.group_is_told = True
            if original.is_clone and original.parent is not None:
                self._tell(original.parent, f"Cloning packet to MGID {group}")
            else:
                self._tell(original, "Multicast requested for packet")
        self._tell(original, f"Replicating packet on port {port}")
        packet.is_replica = True
        if packet is original:
            packet.copy = packet.next_copy()

    def _queued(self, packet: _Packet, port: int) -> None:
        if packet.is_replica:
            return
        if packet.is_clone:
            self._tell(packet.parent or packet, f"Cloning packet to egress port {port}")
        else:
            self._tell(packet, f"Egress port is {packet.egress_spec}")

    def _dropped(self, packet: _Packet, cause: str) -> None:
        decides = packet.stage == "ingress" and not packet.is_replica and not packet.is_clone
        if cause == "no_replicas":
            if decides:
                self._tell(packet, "Multicast requested for packet")
            return
        if decides and cause in ("ingress", "no_such_port", "queue_full"):
            self._tell(packet, f"Egress port is {packet.egress_spec}")
        if cause in ("ingress", "egress"):
            self._tell(packet, f"Dropping packet at the end of {cause}")
        else:
            self._tell(packet, f"Dropping packet: {cause.replace('_', ' ')}")

    def _tell(self, packet: _Packet, text: str) -> None:
        self._line(packet, Line("D", text))

    def _line(self, packet: _Packet, line: Line) -> None:
        # log_msg writes BMv2's only line without a packet's name.
        self._say(line.level, line.text if line.level == "I" else f"[{packet.name}] [cxt 0] {line.text}")

    def _say(self, letter: str, text: str) -> None:
        level = _LEVELS[letter]
        if not self._log.isEnabledFor(level):
            return
        record = self._log.makeRecord(self._log.name, level, "", 0, text, (), None)
        record.created, record.msecs = self._created, self._created % 1 * 1000
        self._log.handle(record)
