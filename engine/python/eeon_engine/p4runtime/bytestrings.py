"""P4Runtime bytestrings: unsigned integers as big-endian bytes without needless leading zeros.

P4Runtime 1.5 §8.4. Any number of leading zeros is accepted, the shortest form is answered, so that what is
read compares equal to what a canonical client wrote. Signed values appear in registers only and are handled
there.
"""

from .errors import invalid, out_of_range


def decode(value: bytes, width: int, what: str) -> int:
    """The integer in `value`, which must fit `bit<width>`; `what` names it in the error."""
    if not value:
        raise invalid(f"{what}: the bytestring is empty; write 0 as one zero byte")
    number = int.from_bytes(value, "big")
    if number.bit_length() > width:
        raise out_of_range(f"{what}: 0x{number:x} needs {number.bit_length()} bits, the field has {width}")
    return number


def encode(number: int) -> bytes:
    """The shortest bytestring of `number`, which is not negative."""
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
