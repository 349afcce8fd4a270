"""Writes a recording as a Perfetto trace, for ui.perfetto.dev or the trace processor.

Each node is a group of tracks. A port has a counter of queued bytes, a track with the state of its PHY (going
to sleep, asleep, waking) and a track for its wire: a slice is a packet on it, and arrows connect each hop of
a packet to the next. Drops are instants on the wire's track. A slice's details say how long the packet waited
and why it was marked or held."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from eeon_control.outputs import replacing
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    BuiltinClock,
    Trace,
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)

from eeon_tools.hops.recording import Recording, Visit

_PS_PER_NS = 1000
_SEQUENCE = 1
_BATCH = 4096
_QUEUE, _PHY, _WIRE = 0, 1, 2


def write(recording: Recording, path: Path) -> int:
    """Writes the file and returns its number of packets in the sense of the trace format."""
    count = 0
    with replacing(path) as scratch, scratch.open("wb") as file:
        batch = Trace()
        for packet in _packets(recording):
            batch.packet.append(packet)
            count += 1
            if len(batch.packet) >= _BATCH:
                batch = _flush(batch, file)
        _flush(batch, file)
    return count


def _flush(batch: Trace, file: BinaryIO) -> Trace:
    # A trace is a repeated field of packets: serialised parts can be concatenated.
    file.write(batch.SerializeToString())
    return Trace()


def _packets(recording: Recording) -> Iterator[TracePacket]:
    tracks: dict[tuple[str, int], int] = {}
    first = TracePacket()
    first.trusted_packet_sequence_id = _SEQUENCE
    first.sequence_flags = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    yield first
    for node, ports in _by_node(recording).items():
        parent = _uuid(len(tracks), 3)
        tracks[node, -1] = parent
        yield _track(parent, None, node)
        for number, name in ports:
            place = len(tracks)
            tracks[node, number] = place
            counter = _track(_uuid(place, _QUEUE), parent, f"{name} queue bytes")
            counter.track_descriptor.counter.unit_name = "B"
            yield counter
            yield _track(_uuid(place, _PHY), parent, f"{name} link state")
            yield _track(_uuid(place, _WIRE), parent, f"{name} wire")
    missing = recording.truncation()
    if missing:
        yield _instant(tracks[next(iter(tracks))], recording.end_ps, f"TRUNCATED: {missing}")
    yield from _queues_and_states(recording, tracks)
    yield from _wires(recording, tracks)


def _by_node(recording: Recording) -> dict[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {}
    for port in recording.ports():
        is_host = port.node in recording.topology.hosts
        name = f"{port.node if is_host else port.name} to {port.peer.node}"
        found.setdefault(port.node, []).append((0 if is_host else port.number, name))
    return found


def _uuid(place: int, of: int) -> int:
    return 1 + 4 * place + of


def _track(uuid: int, parent: int | None, name: str) -> TracePacket:
    packet = TracePacket()
    packet.trusted_packet_sequence_id = _SEQUENCE
    descriptor: TrackDescriptor = packet.track_descriptor
    descriptor.uuid = uuid
    descriptor.name = name
    if parent is not None:
        descriptor.parent_uuid = parent
    return packet


def _event(uuid: int, at_ps: int, kind: int) -> TracePacket:
    packet = TracePacket()
    packet.trusted_packet_sequence_id = _SEQUENCE
    packet.timestamp = at_ps // _PS_PER_NS
    # Nanoseconds since the start of the run, not of a clock of this machine.
    packet.timestamp_clock_id = BuiltinClock.BUILTIN_CLOCK_BOOTTIME
    packet.track_event.track_uuid = uuid
    packet.track_event.type = kind
    return packet


def _instant(uuid: int, at_ps: int, name: str) -> TracePacket:
    packet = _event(uuid, at_ps, TrackEvent.TYPE_INSTANT)
    packet.track_event.name = name
    return packet


def _slice(uuid: int, start_ps: int, end_ps: int, name: str) -> tuple[TracePacket, TracePacket]:
    begin = _event(uuid, start_ps, TrackEvent.TYPE_SLICE_BEGIN)
    begin.track_event.name = name
    return begin, _event(uuid, end_ps, TrackEvent.TYPE_SLICE_END)


def _queues_and_states(recording: Recording, tracks: dict[tuple[str, int], int]) -> Iterator[TracePacket]:
    """Yields queue depths after each change, and the states of PHYs."""
    asleep: dict[tuple[str, int], int] = {}
    for event in recording.hops.events():
        place = tracks.get((event.node, event.port))
        if place is None or (event.node in recording.topology.hosts and event.packet):
            continue
        if event.kind in ("queued", "sent", "recirculated"):
            counter = _event(_uuid(place, _QUEUE), event.at_ps, TrackEvent.TYPE_COUNTER)
            own = event.length if event.kind == "queued" else 0
            counter.track_event.counter_value = event.queue_bytes + own
            yield counter
        elif event.kind == "slept":
            yield from _slice(_uuid(place, _PHY), event.at_ps, event.until_ps, "going to sleep")
            asleep[event.node, event.port] = event.until_ps
        elif event.kind == "woke":
            since = asleep.pop((event.node, event.port), None)
            if since is not None and since < event.at_ps:
                yield from _slice(_uuid(place, _PHY), since, event.at_ps, "asleep")
            yield from _slice(_uuid(place, _PHY), event.at_ps, event.until_ps, "waking")
    for key, since in asleep.items():
        if since < recording.end_ps:
            yield from _slice(_uuid(tracks[key], _PHY), since, recording.end_ps, "asleep")


def _wires(recording: Recording, tracks: dict[tuple[str, int], int]) -> Iterator[TracePacket]:
    """Yields the packets on wires, and the drops."""
    for visit in recording.visits():
        place = tracks.get((visit.node, visit.port))
        if place is None or visit.left_ps is None or visit.end_ps is None:
            continue
        reason = recording.reason(visit)
        if visit.dropped:
            dropped = _instant(_uuid(place, _WIRE), visit.left_ps, f"#{visit.label} DROPPED: {reason}")
            dropped.track_event.flow_ids.append(visit.packet)
            yield dropped
            continue
        mark = " MARKED" if visit.verdict == "marked" else ""
        begin, end = _slice(_uuid(place, _WIRE), visit.left_ps, visit.end_ps, f"#{visit.label}{mark}")
        begin.track_event.flow_ids.append(visit.packet)
        _details(begin.track_event, visit, reason)
        yield begin
        yield end


def _details(event: TrackEvent, visit: Visit, reason: str) -> None:
    for name, text in (("flow", visit.flow), ("class", visit.kind), ("why", reason)):
        if text:
            event.debug_annotations.add(name=name, string_value=text)
    numbers = (
        ("packet", visit.number),
        ("bytes", visit.length),
        ("waited_ns", visit.waited_ps // _PS_PER_NS),
        ("held_ns", visit.held_ps // _PS_PER_NS),
        ("queue_bytes", visit.queue_bytes),
        ("queue_packets", visit.queue_packets),
    )
    for name, number in numbers:
        event.debug_annotations.add(name=name, int_value=number)
