"""Writes a recording as a Perfetto trace, for ui.perfetto.dev or the trace processor.

Each node is a group of tracks. A port has a counter of queued bytes, a track with the state of its PHY (going
to sleep, asleep, waking) and a track for its wire: a slice is a packet on it, and arrows connect each hop of
a packet to the next. Drops are instants on the wire's track. A slice's details say how long the packet waited
and why it was marked or held."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from eeon_control.outputs import replacing
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    BuiltinClock,
    CounterDescriptor,
    DebugAnnotation,
    Trace,
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)

from eeon_tools.hops.recording import Place, Recording, Visit

_PS_PER_NS = 1000
_SEQUENCE = 1
_QUEUE, _PHY, _WIRE, _NODE = range(4)
_Tracks = dict[Place, int]


def write(recording: Recording, path: Path) -> None:
    """Writes the file."""
    with replacing(path) as scratch, scratch.open("wb") as file:
        for packet in _packets(recording):
            # A trace is a repeated field of packets: serialised parts can be concatenated.
            file.write(Trace(packet=[packet]).SerializeToString())


def _packets(recording: Recording) -> Iterator[TracePacket]:
    yield TracePacket(
        trusted_packet_sequence_id=_SEQUENCE, sequence_flags=TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    )
    tracks: _Tracks = {}
    for node, ports in groupby(recording.ports.items(), key=lambda item: item[0][0]):
        parent = _uuid(len(tracks), _NODE)
        tracks[node, -1] = len(tracks)
        yield _track(parent, node)
        for place, port in ports:
            at = tracks[place] = len(tracks)
            name = f"{recording.name_of(port)} to {port.peer.node}"
            unit = CounterDescriptor(unit_name="B")
            yield _track(_uuid(at, _QUEUE), f"{name} queue bytes", parent_uuid=parent, counter=unit)
            yield _track(_uuid(at, _PHY), f"{name} link state", parent_uuid=parent)
            yield _track(_uuid(at, _WIRE), f"{name} wire", parent_uuid=parent)
    missing = recording.truncation()
    if missing:
        yield _event(_uuid(0, _NODE), recording.end_ps, TrackEvent.TYPE_INSTANT, name=f"TRUNCATED: {missing}")
    yield from _queues_and_states(recording, tracks)
    yield from _wires(recording, tracks)


def _uuid(place: int, of: int) -> int:
    return 1 + 4 * place + of


def _track(uuid: int, name: str, **more: object) -> TracePacket:
    track = TrackDescriptor(uuid=uuid, name=name, **more)
    return TracePacket(trusted_packet_sequence_id=_SEQUENCE, track_descriptor=track)


def _event(uuid: int, at_ps: int, kind: int, **more: object) -> TracePacket:
    return TracePacket(
        trusted_packet_sequence_id=_SEQUENCE,
        timestamp=at_ps // _PS_PER_NS,
        # Nanoseconds since the start of the run, not of a clock of this machine.
        timestamp_clock_id=BuiltinClock.BUILTIN_CLOCK_BOOTTIME,
        track_event=TrackEvent(track_uuid=uuid, type=kind, **more),
    )


def _slice(uuid: int, start_ps: int, end_ps: int, **more: object) -> tuple[TracePacket, TracePacket]:
    begin = _event(uuid, start_ps, TrackEvent.TYPE_SLICE_BEGIN, **more)
    return begin, _event(uuid, end_ps, TrackEvent.TYPE_SLICE_END)


def _queues_and_states(recording: Recording, tracks: _Tracks) -> Iterator[TracePacket]:
    """Yields queue depths after each change, and the states of PHYs."""
    asleep: dict[int, int] = {}
    for event in recording.hops.events():
        place = tracks.get((event.node, event.port))
        if place is None or (event.node in recording.topology.hosts and event.packet):
            continue
        phy = _uuid(place, _PHY)
        if event.kind in ("queued", "sent", "recirculated"):
            depth = event.queue_bytes + (event.length if event.kind == "queued" else 0)
            yield _event(_uuid(place, _QUEUE), event.at_ps, TrackEvent.TYPE_COUNTER, counter_value=depth)
        elif event.kind == "slept":
            yield from _slice(phy, event.at_ps, event.until_ps, name="going to sleep")
            asleep[phy] = event.until_ps
        elif event.kind == "woke":
            since = asleep.pop(phy, event.at_ps)
            if since < event.at_ps:
                yield from _slice(phy, since, event.at_ps, name="asleep")
            yield from _slice(phy, event.at_ps, event.until_ps, name="waking")
    for phy, since in asleep.items():
        if since < recording.end_ps:
            yield from _slice(phy, since, recording.end_ps, name="asleep")


def _wires(recording: Recording, tracks: _Tracks) -> Iterator[TracePacket]:
    """Yields the packets on wires, and the drops."""
    for visit in recording.visits():
        place = tracks.get((visit.node, visit.port))
        if place is None or visit.left_ps is None or visit.end_ps is None:
            continue
        wire, flow = _uuid(place, _WIRE), [visit.packet]
        reason = recording.reason(visit)
        if visit.dropped:
            name = f"#{visit.label} DROPPED: {reason}"
            yield _event(wire, visit.left_ps, TrackEvent.TYPE_INSTANT, name=name, flow_ids=flow)
        else:
            name = f"#{visit.label}{' MARKED' if visit.verdict == 'marked' else ''}"
            details = _details(visit, reason)
            yield from _slice(
                wire, visit.left_ps, visit.end_ps, name=name, flow_ids=flow, debug_annotations=details
            )


def _details(visit: Visit, reason: str) -> list[DebugAnnotation]:
    texts = {"flow": visit.flow, "class": visit.kind, "why": reason}
    numbers = {
        "packet": visit.number,
        "bytes": visit.length,
        "waited_ns": visit.waited_ps // _PS_PER_NS,
        "held_ns": visit.held_ps // _PS_PER_NS,
        "queue_bytes": visit.queue_bytes,
        "queue_packets": visit.queue_packets,
    }
    found = [DebugAnnotation(name=name, string_value=text) for name, text in texts.items() if text]
    return found + [DebugAnnotation(name=name, int_value=number) for name, number in numbers.items()]
