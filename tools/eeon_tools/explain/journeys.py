"""Runs one packet, with those before and after it, and fetches the steps that the engine recorded of it.

If hosts of a topology have sent the packets of a capture, the packet goes through the whole fabric in the
twin, as in `eeon replay`, so that it meets the same queues, gates and registers. Packets after it are also
sent until it has left: they may reach a trigger that ends its hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from eeon_control.topology import Topology

from eeon_tools.engine import load_engine, load_program
from eeon_tools.errors import InputError, TraceError
from eeon_tools.explain.scene import RegisterValue, Scene
from eeon_tools.replay.feed import AS_A_NIC, Feed, Offer, Reason, SendRules, flat, in_order, replay_ps
from eeon_tools.replay.spec import fabric_spec
from eeon_tools.trace.capture import read_packets
from eeon_tools.trace.layers import IpFrame, protocol_name

if TYPE_CHECKING:
    from eeon_engine import SwitchHandle, Twin
    from eeon_engine.json_types import JourneyStep

_TAG = 1
_CHUNK = 256
_MAX_STEPS = 100_000
"""Limit on the steps of a packet that loops without end, or multiplies; the engine keeps as many."""
_LIMIT_PS = 3_600 * 10**12
_LAST_LINK_PS = 10**9
"""Picoseconds; longer than the last frame needs on its link, so that the receiver has it."""
_LEFT_OUT: Mapping[Reason, str] = {
    "copies": "it is a further copy, seen at another interface",
    "multicast": "it is multicast or broadcast",
    "link_local": "one of its addresses is link-local",
    "unmapped": "one of its addresses belongs to no host of the fabric",
    "same_host": "it goes from a host to itself",
    "too_long": "it is too long for a frame",
}
"""Reasons why hosts do not send an IP packet."""


@dataclass
class Journey:
    """The history of one packet and its copies in one switch.

    `steps`: the engine's (`SwitchHandle.take_journey`), of this packet only. `frame`: as captured, or as it
    arrived once it has. `end_ps`: the time up to which the switch was run. `is_cut`: there were more steps
    than the engine keeps.
    """

    title: str
    frame: bytes
    steps: list[JourneyStep] = field(default_factory=list)
    end_ps: int = 0
    is_cut: bool = False
    _packets: set[int] = field(default_factory=set)

    def take(self, switch: SwitchHandle) -> int:
        """Adds what the switch has recorded since the last call of the first packet with the bytes of `frame`
        and of its copies: frames sent at the same time and of the same class share a tag. Returns how many of
        them are still inside."""
        from eeon_engine.json_documents import take_journey

        told = take_journey(switch)
        for step in told["steps"]:
            if step["step"] == "arrived" and not self._packets:
                arrived = bytes.fromhex(step["frame"])
                if _is_same(arrived, self.frame):
                    self._packets.add(step["packet"])
                    self.frame = arrived
            elif step["step"] == "copied" and step["packet"] in self._packets:
                self._packets.add(step["to"])
            if step["packet"] in self._packets:
                self.steps.append(step)
        self.is_cut |= told["is_cut"] or len(self.steps) >= _MAX_STEPS
        return told["inside"]

    @property
    def root(self) -> int:
        """The packet's number in `steps`."""
        return self.steps[0]["packet"]

    def packets(self) -> list[int]:
        """Returns the packet and its copies, in order of number; no copy without a step."""
        return sorted({step["packet"] for step in self.steps})

    def of_packet(self, packet: int) -> list[JourneyStep]:
        """Returns the steps of one packet, in order."""
        return [step for step in self.steps if step["packet"] == packet]

    def is_over(self) -> bool:
        """Returns whether the packet has arrived, and it and all its copies have left or are lost."""
        ended = {step["packet"] for step in self.steps if step["step"] in ("sent", "dropped")}
        return bool(self.steps) and ended == self._packets


def follow(
    scene: Scene, frame: bytes, port: int, at_ps: int = 0, registers: Sequence[RegisterValue] = ()
) -> Journey:
    """Follows one frame into a switch that has received no other."""
    return _alone(scene, iter([(1, at_ps, frame)]), 1, port, registers, "a frame")


def follow_capture(
    scene: Scene,
    capture: Path,
    number: int,
    port: int,
    after: int | None = None,
    speed: float = 1.0,
    registers: Sequence[RegisterValue] = (),
) -> Journey:
    """Follows packet `number` (from 1) of a capture. All its packets arrive at one port, at their own times.

    `after`: the number of packets sent before it; None for all of them.
    """
    title = f"packet {number} of {capture.name}"
    return _alone(scene, _numbered(capture, number, after, speed), number, port, registers, title)


@dataclass
class Way:
    """The history of one packet of a capture, or of one of its segments, from its sender on. `title`: names
    it. `journeys`: by switch, in order of its path. Times are picoseconds, or None:
    `left_ps` when the sender's NIC began to send it, `delivered_ps` when `receiver` had its last bit."""

    number: int
    title: str
    sender: str
    frame_bytes: int
    offered_ps: int
    journeys: dict[str, Journey] = field(default_factory=dict)
    left_ps: int | None = None
    delivered_ps: int | None = None
    receiver: str = ""

    def at(self, switch: str) -> Journey:
        """Returns the history at one switch. Raises InputError if the packet does not pass it."""
        if switch not in self.journeys:
            passed = ", ".join(self.journeys)
            where = f"it passes {passed}" if passed else "its sender's NIC has not sent it"
            raise InputError("--switch", switch, f"{self.title} does not pass it; {where}")
        self.journeys[switch].title = f"{self.title}, sent by {self.sender} at {switch}"
        return self.journeys[switch]


def follow_way(
    scene: Scene,
    capture: Path,
    number: int,
    after: int | None = None,
    speed: float = 1.0,
    registers: Sequence[RegisterValue] = (),
    rules: SendRules = AS_A_NIC,
    switch: str | None = None,
    segment: int = 1,
) -> Way:
    """Follows packet `number` (from 1) of a capture through the scene's fabric, to its receiver or its end;
    if the sender's NIC segments it, the segment of that number.

    `registers` are set at `switch`, or at the sender's leaf. Raises InputError or TraceError.
    """
    assert scene.fabric is not None, "a scene without a fabric has no hosts that send"
    fabric = scene.fabric
    hosts = list(fabric.topology.hosts.values())
    feed = Feed(capture, hosts, speed, rules)
    segments = _segments(feed, capture, number)
    if segment > len(segments):
        problem = f"is beyond the {len(segments)} frames of packet {number}"
        raise InputError("--segment", str(segment), problem)
    wanted = segments[segment - 1]
    before, later = _around(feed, segments, segment, after)
    title = f"packet {number} of {capture.name}"
    if len(segments) > 1:
        title += f", segment {segment} of {len(segments)}"
    sender = hosts[wanted.host]
    twin, handles = make_fabric(scene, for_tracing=True)
    from eeon_engine import hops

    sent = 0
    for chunk in _chunks(before):
        sent += twin.feed(*flat(chunk))
        twin.run_until(chunk[-1].at_ps)
    twin.run_until(wanted.at_ps)
    for register in registers:
        register.write(handles[switch if switch is not None else sender.leaf])
    tag = twin.tag_of(wanted.at_ps, wanted.captured, wanted.frame_bytes)
    for handle in handles.values():
        handle.follow(tag)
    at_hosts = [(name, 0) for name in fabric.topology.hosts]
    hops.record(twin, {"kinds": ["offered", "sent", "delivered", "dropped"], "ports": at_hosts})
    journeys = {each: Journey("", wanted.captured) for each in handles}
    twin.feed(*flat([wanted]))
    for chunk in _chunks(later):
        if _is_over(fabric.topology, journeys):
            break
        twin.feed(*flat(chunk))
        twin.run_until(chunk[-1].at_ps)
        for each, journey in journeys.items():
            journey.take(handles[each])
    if not _is_over(fabric.topology, journeys):
        twin.run_to_idle(wanted.at_ps + _LIMIT_PS)
        for each, journey in journeys.items():
            journey.take(handles[each])
    twin.run_until(twin.now_ps + _LAST_LINK_PS)
    way = Way(number, title, sender.name, wanted.frame_bytes, wanted.at_ps)
    passed = [(each, journey) for each, journey in journeys.items() if journey.steps]
    for each, journey in sorted(passed, key=lambda one: one[1].steps[0]["at_ps"]):
        way.journeys[each] = journey
        journey.end_ps = twin.now_ps
    _at_hosts(way, twin, sent + 1)
    return way


def make_fabric(scene: Scene, for_tracing: bool) -> tuple[Twin, dict[str, SwitchHandle]]:
    """Returns the scene's fabric at time zero with the controller's entries, and its switches."""
    engine = load_engine()
    fabric = scene.fabric
    assert fabric is not None, "a scene without a fabric has no twin"
    try:
        from eeon_engine.json_documents import make_twin

        spec = fabric_spec(fabric.topology, fabric.config, scene.seed)
        twin = make_twin(load_program(scene.program, for_tracing=for_tracing), spec)
        handles = {each: twin.switch(each) for each in fabric.topology.switches}
        for each, handle in handles.items():
            fabric.entries[each].apply(handle)
    except engine.EngineError as error:
        raise InputError("--topology", fabric.topology.name, str(error)) from error
    return twin, handles


def _is_over(topology: Topology, journeys: Mapping[str, Journey]) -> bool:
    """Returns whether the packet and its copies have left all switches that they reached, and have reached
    every next node."""
    begun = {name: journey for name, journey in journeys.items() if journey.steps}
    left = {
        f"{name}:{step['port']}"
        for name, journey in begun.items()
        for step in journey.steps
        if step["step"] == "sent"
    }
    towards = {port.peer.node for port in topology.ports() if port.name in left} & journeys.keys()
    return bool(begun) and towards <= begun.keys() and all(journey.is_over() for journey in begun.values())


def _at_hosts(way: Way, twin: Twin, packet: int) -> None:
    """Records when the sender's NIC sent the packet, and which host received it. `packet`: its number among
    those that hosts were given."""
    from eeon_engine import hops

    recorded = hops.take(twin)
    for event in recorded.events() if recorded is not None else ():
        if event.packet != packet:
            continue
        if event.kind == "sent" and event.node == way.sender:
            way.left_ps = event.at_ps
        elif event.kind == "delivered":
            way.delivered_ps, way.receiver = event.at_ps, event.node


def _is_same(frame: bytes, captured: bytes) -> bool:
    # Hops change the bytes before the source address: MACs, TTL, ECN, checksum.
    ip = IpFrame.of(captured, len(captured))
    start = ip.source_at if ip is not None else 0
    return frame[start : len(captured)] == captured[start:]


def _segments(feed: Feed, capture: Path, number: int) -> list[Offer]:
    """Returns the frames that a host sends for a packet: one, or the segments of its NIC. Raises TraceError
    if there are none."""
    found = [offer for offer in feed.offers(number) if offer.number == number]
    if not found:
        count, asked = 0, None
        for count, packet in enumerate(read_packets(capture), start=1):
            asked = packet if count == number else asked
        if asked is None:
            problem = f"does not exist; the capture has packets 1 to {count}"
        elif IpFrame.of(asked.captured, asked.frame_bytes) is None:
            problem = f"is not IP but {protocol_name(asked.captured)}; hosts send only IP through the fabric"
        else:
            assert feed.left_out is not None, "an IP packet is sent or left out"
            problem = f"is left out, because {_LEFT_OUT[feed.left_out]}"
        raise TraceError(capture, f"packet {number}", problem)
    return found


def _around(
    feed: Feed, segments: list[Offer], segment: int, after: int | None
) -> tuple[Iterator[Offer], Iterator[Offer]]:
    """Returns the offers before and after one segment of a packet. Reads the capture again instead of keeping
    it, so that its length does not matter."""
    number = segments[0].number
    first = 1 if after is None else max(1, number - after)
    before = (o for o in feed.offers() if first <= o.number)
    later = (o for o in feed.offers() if o.number > number)
    return (
        chain(takewhile(lambda offer: offer.number < number, before), segments[: segment - 1]),
        chain(segments[segment:], later),
    )


def _chunks(offers: Iterator[Offer]) -> Iterator[list[Offer]]:
    while chunk := list(islice(offers, _CHUNK)):
        yield chunk


def _numbered(
    capture: Path, number: int, after: int | None, speed: float
) -> Iterator[tuple[int, int, bytes]]:
    first = 1 if after is None else max(1, number - after)
    for at, since_ns, packet in islice(in_order(capture), first - 1, None):
        at_ps = replay_ps(capture, at, since_ns, speed)
        yield at, at_ps, packet.captured.ljust(packet.frame_bytes, b"\0")


def _alone(
    scene: Scene,
    packets: Iterator[tuple[int, int, bytes]],
    number: int,
    port: int,
    registers: Sequence[RegisterValue],
    title: str,
) -> Journey:
    scene.check_port(port)
    switch = scene.make()
    journey, inside = None, 1
    for at, at_ps, frame in packets:
        if not inside:
            break
        switch.advance_to(at_ps)
        if at == number:
            for register in registers:
                register.write(switch)
            switch.follow(_TAG)
            journey = Journey(f"{title}, at {scene.switch}", frame)
        switch.inject(port, frame, at_ps, tag=_TAG if at == number else 0)
        if journey is not None:
            switch.advance_to(at_ps)
            inside = journey.take(switch)
    if journey is None:
        raise InputError(title, "", "does not exist; the capture has fewer packets")
    while inside and not journey.is_cut:
        due = switch.next_event_ps
        if due is None or due > switch.now_ps + _LIMIT_PS:
            break
        switch.advance_to(due)
        inside = journey.take(switch)
    journey.end_ps = switch.now_ps
    return journey
