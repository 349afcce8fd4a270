"""Packet-in and packet-out: conversion of controller headers to P4Runtime metadata and back (§16.1).

On the CPU port, the controller header of the P4Info precedes the packet, first field first. These are pure
functions of bytes and messages.
"""

from . import bytestrings
from .errors import invalid
from .messages import p4r
from .program.schema import HeaderField, Schema

MAX_PACKET = 65_535
"""Maximum length of a frame in the engine."""


def packet_out(schema: Schema, message: p4r.PacketOut) -> bytes:
    """Returns the frame that enters the switch on the CPU port for a `PacketOut`."""
    given: dict[int, bytes] = {}
    known = {field.id for field in schema.packet_out}
    for metadata in message.metadata:
        if metadata.metadata_id not in known:
            raise invalid(f"packet_out: the P4Info has no metadata field with id {metadata.metadata_id}")
        if metadata.metadata_id in given:
            raise invalid(f"packet_out: metadata field {metadata.metadata_id} is given twice")
        given[metadata.metadata_id] = metadata.value
    header = bits = 0
    for field in schema.packet_out:
        header = header << field.width | _value(field, given.get(field.id))
        bits += field.width
    packet: bytes = header.to_bytes(bits // 8, "big") + message.payload
    if len(packet) > MAX_PACKET:
        raise invalid(f"packet_out: {len(packet)} bytes with its header, the limit is {MAX_PACKET}")
    return packet


def _value(field: HeaderField, value: bytes | None) -> int:
    if value is None:
        if field.is_padding:
            return 0
        raise invalid(f"packet_out: metadata field '{field.name}' (id {field.id}) is missing")
    return bytestrings.decode(value, field.width, f"packet_out field '{field.name}'", invalid)


def packet_in(schema: Schema, packet: bytes) -> p4r.PacketIn | None:
    """Returns the `PacketIn` of a frame that left the switch on the CPU port; None if the frame is shorter
    than the header."""
    bits = sum(field.width for field in schema.packet_in)
    if len(packet) < bits // 8:
        return None
    header = int.from_bytes(packet[: bits // 8], "big")
    message = p4r.PacketIn(payload=packet[bits // 8 :])
    for field in schema.packet_in:
        bits -= field.width
        value = header >> bits & ((1 << field.width) - 1)
        message.metadata.add(metadata_id=field.id, value=bytestrings.encode(value))
    return message
