"""Writes a recording as pcapng (draft-ietf-opsawg-pcapng), for Wireshark, tshark and other readers.

An interface is a sending port, with its rate; a record is a packet that leaves the port, or that its switch
drops there. The packet's number in the trace is its packet id, so `frame.packet_id == 501` follows it over
all links. The comment says why it was marked, dropped or held."""

import struct
from pathlib import Path
from typing import BinaryIO

from eeon_control.outputs import replacing

from eeon_tools.hops.recording import Recording, Visit
from eeon_tools.trace import capture_writer

SNAP_BYTES = 128
"""Bytes kept of each frame: all headers."""
_IF_NAME, _IF_DESCRIPTION, _IF_SPEED = 2, 3, 8
_COMMENT, _FLAGS, _PACKET_ID, _QUEUE = 1, 2, 5, 6
_OUTBOUND = 2
_PS_PER_NS = 1000


def write(recording: Recording, path: Path) -> int:
    """Writes the file and returns its number of records. Frames have the bytes that the recording kept."""
    with replacing(path) as scratch, scratch.open("wb") as file:
        return _write(recording, file)


def _write(recording: Recording, file: BinaryIO) -> int:
    comment = f"eeon replay: {recording.name} on {recording.topology.name}"
    missing = recording.truncation()
    if missing:
        comment += f"; {missing}"
    file.write(capture_writer.section([(_COMMENT, comment.encode())]))
    places = {place: number for number, place in enumerate(recording.ports)}
    for port in recording.ports.values():
        options = [
            (_IF_NAME, recording.name_of(port).encode()),
            (_IF_DESCRIPTION, f"to {port.peer.node}".encode()),
            (_IF_SPEED, struct.pack("<Q", int(port.rate))),
        ]
        file.write(capture_writer.interface(options=options))
    count = 0
    for visit in recording.visits():
        # A visit without a sending port is to the controller; a drop is at its intended port.
        interface = places.get((visit.node, visit.port))
        if interface is None:
            continue
        options = [
            (_FLAGS, struct.pack("<I", _OUTBOUND)),
            (_PACKET_ID, struct.pack("<Q", visit.number)),
            (_QUEUE, struct.pack("<I", 0)),
        ]
        text = comment_of(recording, visit)
        if text:
            options.append((_COMMENT, text.encode()))
        time_ns, frame_bytes = (visit.left_ps or 0) // _PS_PER_NS, max(visit.length, len(visit.frame))
        file.write(capture_writer.packet(interface, time_ns, visit.frame, frame_bytes, options))
        count += 1
    return count


def comment_of(recording: Recording, visit: Visit) -> str:
    """Returns Wireshark's comment on a packet: the decision about it, in words."""
    reason = recording.reason(visit)
    if visit.dropped:
        return f"DROPPED at {visit.place}: {reason}"
    return reason
