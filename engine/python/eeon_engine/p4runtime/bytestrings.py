"""P4Runtime bytestrings: integers as big-endian bytes, without redundant leading bytes.

P4Runtime 1.5 §8.4. Any number of leading zeros (or sign extensions) is accepted. Responses have the shortest
form, so that values read are equal to values that a canonical client wrote. Only P4Data has signed values.
Values that do not fit are OUT_OF_RANGE, but INVALID_ARGUMENT in match fields, action parameters and packet
metadata, as their sections require (§9.1.1, §9.1.2, §16.1).
"""

from collections.abc import Callable

from .errors import StatusError, out_of_range


def decode(value: bytes, width: int, what: str, refuse: Callable[[str], StatusError] = out_of_range) -> int:
    """Returns the integer in `value`, which must fit `bit<width>`; `refuse` makes the error about `what`."""
    if not value:
        raise refuse(_empty(what))
    number = int.from_bytes(value, "big")
    if number.bit_length() > width:
        bits = number.bit_length()
        raise refuse(f"{what}: {_shown(value)} needs {bits} bits, the field has {width}")
    return number


def encode(number: int) -> bytes:
    """Returns the shortest bytestring of `number`, which is not negative."""
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def decode_signed(value: bytes, width: int, what: str) -> int:
    """Returns the integer in `value`, two's complement, which must fit `int<width>`."""
    if not value:
        raise out_of_range(_empty(what))
    number = int.from_bytes(value, "big", signed=True)
    if not -(1 << width - 1) <= number < 1 << width - 1:
        raise out_of_range(f"{what}: {_shown(value)} does not fit int<{width}>")
    return number


def encode_signed(number: int, width: int) -> bytes:
    """Returns the shortest bytestring of an `int<width>` whose bits are those of `number`."""
    if number >> width - 1:
        number -= 1 << width
    magnitude = number if number >= 0 else ~number
    return number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def _empty(what: str) -> str:
    return f"{what}: the bytestring is empty; write 0 as one zero byte"


# A message may have megabytes instead of two bytes; an error shows only the beginning.
def _shown(value: bytes) -> str:
    significant = value.lstrip(b"\0") or b"\0"
    return f"0x{significant[:20].hex()}{'...' if len(significant) > 20 else ''}"
