"""Registers (P4Runtime 1.5 §9.7), which BMv2's own server lacks. Their values live in the engine."""

from collections.abc import Iterator
from typing import Any

from finsy.proto import p4d, p4r

from ..control import SwitchControl
from . import bytestrings
from .counters import check_index
from .errors import invalid, out_of_range, unimplemented
from .journal import Journal
from .schema import Register, Schema, find


class Registers:
    """All register arrays of one switch."""

    def __init__(self, control: SwitchControl, schema: Schema) -> None:
        self._control = control
        self._schema = schema

    def write(self, kind: int, message: Any, journal: Journal) -> None:
        """One update of a `RegisterEntry`; without an index it sets every cell."""
        if kind != p4r.Update.MODIFY:
            raise invalid("register cells are always there; only MODIFY is possible")
        register = self._supported(message.register_id)
        indices = range(register.size)
        if message.HasField("index"):
            index = check_index(f"register '{register.name}'", message.index.index, register.size)
            indices = range(index, index + 1)
        if not message.HasField("data"):
            raise invalid(f"register '{register.name}': a write needs data")
        value = _from_data(register, message.data)
        before = self._control.register_read_all(register.name)

        def undo() -> None:
            for index in indices:
                self._control.register_write(register.name, index, before[index])

        journal.push(undo)
        for index in indices:
            self._control.register_write(register.name, index, value)

    def read(self, message: Any) -> Iterator[Any]:
        """Cells that a `RegisterEntry` request asks for; 0 stands for all, no index for all cells."""
        if message.register_id:
            chosen = [self._supported(message.register_id)]
        else:
            chosen = [
                register for register in self._schema.registers.values() if register.kind != "unsupported"
            ]
        for register in chosen:
            if message.register_id and message.HasField("index"):
                index = check_index(f"register '{register.name}'", message.index.index, register.size)
                yield _entity(register, index, self._control.register_read(register.name, index))
                continue
            for index, value in enumerate(self._control.register_read_all(register.name)):
                yield _entity(register, index, value)

    def _supported(self, register_id: int) -> Register:
        register: Register = find(self._schema.registers, "register", register_id)
        if register.kind == "unsupported":
            raise unimplemented(f"register '{register.name}': only bit, int and bool cells are supported")
        return register


def _from_data(register: Register, data: Any) -> bytes:
    what, wanted = f"register '{register.name}'", "bool" if register.kind == "bool" else "bitstring"
    if data.WhichOneof("data") != wanted:
        raise invalid(
            f"{what}: data is {data.WhichOneof('data')}, its cells are {register.kind}<{register.width}>"
        )
    if register.kind == "bool":
        return b"\x01" if data.bool else b"\x00"
    if register.kind == "bit":
        return bytestrings.encode(bytestrings.decode(data.bitstring, register.width, what))
    if not data.bitstring:
        raise invalid(f"{what}: the bytestring is empty; write 0 as one zero byte")
    number = int.from_bytes(data.bitstring, "big", signed=True)
    if not -(1 << register.width - 1) <= number < 1 << register.width - 1:
        raise out_of_range(f"{what}: {number} does not fit int<{register.width}>")
    return bytestrings.encode(number % (1 << register.width))


def _entity(register: Register, index: int, value: bytes) -> Any:
    number, data = int.from_bytes(value, "big"), p4d.P4Data()
    if register.kind == "bool":
        data.bool = bool(number)
    elif register.kind == "bit":
        data.bitstring = bytestrings.encode(number)
    else:
        if number >> register.width - 1:
            number -= 1 << register.width
        magnitude = number if number >= 0 else ~number
        data.bitstring = number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)
    entry = p4r.RegisterEntry(register_id=register.id, index=p4r.Index(index=index), data=data)
    return p4r.Entity(register_entry=entry)
