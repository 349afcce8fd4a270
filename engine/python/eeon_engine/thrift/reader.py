"""A reader of calls from a byte stream: Thrift's strict binary protocol, with limits for untrusted clients.

thriftpy2's own reader trusts element types and counts: a list of two billion elements of an unknown type
keeps it busy without further input. This reader checks every count, length and type before anything is stored
or repeated. thriftpy2 does the writing.
"""

import struct
from collections.abc import Callable
from typing import TypeAlias, TypeVar

from thriftpy2.thrift import TMessageType, TPayload, TType

MAX_STRING_BYTES = 64 << 20
"""Maximum length of a string: that of the longest program that the engine accepts."""
MAX_VALUES = 1 << 17
"""Maximum number of fields and elements in one message."""
MAX_DEPTH = 16
"""Maximum nesting of structs and containers; the interface needs five."""
MAX_NAME_BYTES = 256

_VERSION = 0x80010000
_VERSION_MASK = 0xFFFF0000

_FIXED: dict[int, struct.Struct] = {
    TType.BOOL: struct.Struct("!b"),
    TType.BYTE: struct.Struct("!b"),
    TType.I16: struct.Struct("!h"),
    TType.I32: struct.Struct("!i"),
    TType.I64: struct.Struct("!q"),
    TType.DOUBLE: struct.Struct("!d"),
}
_I32 = _FIXED[TType.I32]


Payload = TypeVar("Payload", bound=TPayload)

_Spec: TypeAlias = "type[TPayload] | int | tuple[int, _Spec] | None"
"""thriftpy2's details of a type: a struct's class, a list's element type."""


class MessageError(Exception):
    """The bytes are not a call, or the call exceeds a limit. The rest of the stream is meaningless."""


class Reader:
    """A reader of one message. `read(n)` must return exactly n bytes or raise an exception."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._values = 0

    def message_begin(self) -> tuple[str, int, int]:
        """Returns the name, message type and sequence id."""
        (header,) = _I32.unpack(self._read(4))
        if header & _VERSION_MASK != _VERSION:
            raise MessageError(
                f"message starts with 0x{header & 0xFFFFFFFF:08x}: not Thrift's strict binary protocol; "
                "use TBinaryProtocol over TBufferedTransport"
            )
        kind = header & 0xFF
        if kind not in (TMessageType.CALL, TMessageType.ONEWAY):
            raise MessageError(f"message type {kind} is not a call")
        name = self._bytes(MAX_NAME_BYTES, "method name").decode("utf-8", "replace")
        (sequence,) = _I32.unpack(self._read(4))
        return name, kind, sequence

    def struct(self, kind: type[Payload], depth: int = MAX_DEPTH) -> Payload:
        """Returns a struct of the interface, without fields whose type differs from the interface's."""
        self._enter(depth)
        result = kind()
        fields = kind.thrift_spec
        while (wire := self._type()) != TType.STOP:
            (number,) = _FIXED[TType.I16].unpack(self._read(2))
            field = fields.get(number)
            if field is None or _wire(field[0]) != wire:
                self._skip(wire, depth - 1)
                continue
            # Type, name, element type if there is one, whether it is required.
            spec = field[2] if len(field) == 4 else None
            setattr(result, field[1], self._value(field[0], spec, depth - 1))
        return result

    def skip_struct(self) -> None:
        self._skip(TType.STRUCT, MAX_DEPTH)

    def _value(self, kind: int, spec: _Spec, depth: int) -> object:
        self._count()
        fixed = _FIXED.get(kind)
        if fixed is not None:
            (value,) = fixed.unpack(self._read(fixed.size))
            return bool(value) if kind == TType.BOOL else value
        if kind == TType.BINARY:
            return self._bytes(MAX_STRING_BYTES, "string")
        if kind == TType.STRING:
            return self._bytes(MAX_STRING_BYTES, "string").decode("utf-8", "replace")
        if isinstance(spec, type):
            return self.struct(spec, depth)
        if kind == TType.LIST and spec is not None:
            self._enter(depth)
            element, element_spec = spec if isinstance(spec, tuple) else (spec, None)
            wire, size = self._type(), self._size()
            if wire != _wire(element):
                for _ in range(size):
                    self._skip(wire, depth - 1)
                return []
            return [self._value(element, element_spec, depth - 1) for _ in range(size)]
        raise MessageError(f"type {kind} is not a type of an argument")

    def _skip(self, wire: int, depth: int) -> None:
        self._count()
        fixed = _FIXED.get(wire)
        if fixed is not None:
            self._read(fixed.size)
        elif wire == TType.STRING:
            self._bytes(MAX_STRING_BYTES, "string")
        elif wire == TType.STRUCT:
            self._enter(depth)
            while (field := self._type()) != TType.STOP:
                self._read(2)
                self._skip(field, depth - 1)
        elif wire in (TType.LIST, TType.SET, TType.MAP):
            self._enter(depth)
            parts = [self._type() for _ in range(2 if wire == TType.MAP else 1)]
            for _ in range(self._size()):
                for part in parts:
                    self._skip(part, depth - 1)
        else:
            raise MessageError(f"type {wire} is not a Thrift type")

    def _type(self) -> int:
        return self._read(1)[0]

    def _bytes(self, limit: int, what: str) -> bytes:
        (length,) = _I32.unpack(self._read(4))
        if not 0 <= length <= limit:
            raise MessageError(f"{what} of {length} bytes; the limit is {limit}")
        return self._read(length)

    def _size(self) -> int:
        (size,) = _I32.unpack(self._read(4))
        if not 0 <= size <= MAX_VALUES:
            raise MessageError(f"container of {size} elements; the limit is {MAX_VALUES}")
        return int(size)

    def _count(self) -> None:
        self._values += 1
        if self._values > MAX_VALUES:
            raise MessageError(f"more than {MAX_VALUES} values in one message")

    def _enter(self, depth: int) -> None:
        if depth <= 0:
            raise MessageError(f"structs or containers nested deeper than {MAX_DEPTH}")


def _wire(kind: int) -> int:
    """Returns the type on the wire, which does not distinguish binary from string, as thriftpy2 does."""
    return TType.STRING if kind == TType.BINARY else kind
