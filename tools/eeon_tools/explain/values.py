"""Field values, times and sizes as text. Deterministic: all arithmetic is in whole numbers."""

import re
from ipaddress import IPv4Address, IPv6Address

_PS_PER_NS = 1000
_ADDRESS = re.compile(r"(addr|ip|dst|src)", re.IGNORECASE)
_NO_ADDRESS = re.compile(r"(port|len|checksum|version)", re.IGNORECASE)
_HEX = re.compile(r"(type|hash|key|mask|cookie|label|checksum)", re.IGNORECASE)


def of_field(name: str, width: int, value: int) -> str:
    """Returns a field's value as text: MAC and IP addresses (detected by width and name) in their notation,
    types and hashes in hexadecimal, other values in decimal."""
    is_address = bool(_ADDRESS.search(name)) and not _NO_ADDRESS.search(name)
    if width == 48 and (is_address or "mac" in name.lower()):
        return ":".join(f"{byte:02x}" for byte in value.to_bytes(6, "big"))
    if width == 32 and is_address:
        return str(IPv4Address(value))
    if width == 128 and is_address:
        return str(IPv6Address(value))
    if width >= 16 and _HEX.search(name.rpartition(".")[2]):
        return f"0x{value:0{(width + 3) // 4}x}"
    return str(value)


def time(ps: int) -> str:
    """Returns a point in time or a duration, in microseconds with all its digits: `1,204.567 us`."""
    ns, rest = divmod(ps, _PS_PER_NS)
    text = f"{ns // 1000:,}.{ns % 1000:03d}"
    return f"{text}{rest:03d} us" if rest else f"{text} us"


def size(count: int) -> str:
    """Returns a number of bytes: `31,500 B`."""
    return f"{count:,} B"


def plural(count: int, what: str) -> str:
    """Returns a count with its noun: `1 packet`, `2 packets`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
