"""Names, numbers and the checksum of frames. Frames have no preamble and FCS, as switches see them."""

import struct

from eeon_control.constants import ETHERTYPE_IPV6

ETHERNET_HEADER_BYTES = 14
MTU_BYTES = 1500
MIN_FRAME_BYTES = 60
"""IEEE 802.3, 4.2.3.3, without the frame check sequence."""

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
NOT_ECT, ECT_1, ECT_0, CE = range(4)
ECN_NAMES = ("not_ect", "ect_1", "ect_0", "ce")
"""Names of the ECN codepoints, by their number."""
CLASS_NAMES = ("data", "ack", "ack_ece", "syn", "syn_ack", "fin_rst", "other")
"""The packet classes of hosts' frames, in the order of all lists."""


def mac_bytes(mac: str) -> bytes:
    """Returns the bytes of `08:00:00:00:01:11`."""
    return bytes.fromhex(mac.replace(":", ""))


def internet_checksum(data: bytes) -> int:
    """Returns the checksum of RFC 1071 over any number of bytes; 0 for data with their correct checksum."""
    padded = data + b"\0" if len(data) % 2 else data
    total = sum(int(word) for word in struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def with_dscp(frame: bytes, dscp: int) -> bytes:
    """Returns an untagged IP frame of DSCP 0 with another DSCP; an IPv4 header must have no options."""
    made = bytearray(frame)
    if int.from_bytes(frame[12:14], "big") == ETHERTYPE_IPV6:
        made[14:16] = (int.from_bytes(frame[14:16], "big") | dscp << 6).to_bytes(2, "big")
    else:
        made[15] |= dscp << 2
        made[24:26] = bytes(2)
        made[24:26] = internet_checksum(bytes(made[14:34])).to_bytes(2, "big")
    return bytes(made)
