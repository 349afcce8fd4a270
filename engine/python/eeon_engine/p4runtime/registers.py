"""Registers (P4Runtime 1.5 §9.7), which BMv2's own server lacks. Their values live in the engine."""

from collections.abc import Iterator

from .._engine import SwitchHandle
from . import bytestrings, data_types
from .counters import check_index
from .errors import invalid, unimplemented
from .messages import p4r
from .schema import Register, Schema, find


class Registers:
    """All register arrays of one switch."""

    def __init__(self, control: SwitchHandle, schema: Schema) -> None:
        self._control = control
        self._schema = schema

    def write(self, kind: int, message: p4r.RegisterEntry) -> None:
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
        assert register.type is not None, "only registers of a known type are written"
        (number,) = data_types.from_data(register.type, message.data, f"register '{register.name}'")
        value = bytestrings.encode(number)
        self._control.register_write_range(register.name, indices.start, indices.stop, value)

    def read(self, message: p4r.RegisterEntry) -> Iterator[p4r.Entity]:
        """Cells that a `RegisterEntry` request asks for; 0 stands for all, no index for all cells."""
        if message.register_id:
            chosen = [self._supported(message.register_id)]
        else:
            chosen = [register for register in self._schema.registers.values() if register.type is not None]
        for register in chosen:
            if message.register_id and message.HasField("index"):
                index = check_index(f"register '{register.name}'", message.index.index, register.size)
                yield _entity(register, index, self._control.register_read(register.name, index))
                continue
            for index, value in enumerate(self._control.register_read_all(register.name)):
                yield _entity(register, index, value)

    def _supported(self, register_id: int) -> Register:
        register = find(self._schema.registers, "register", register_id)
        if register.type is None:
            raise unimplemented(f"register '{register.name}': only cells of bit, int and bool are supported")
        return register


def _entity(register: Register, index: int, value: bytes) -> p4r.Entity:
    assert register.type is not None, "only registers of a known type are read"
    data = data_types.to_data(register.type, iter((int.from_bytes(value, "big"),)))
    entry = p4r.RegisterEntry(register_id=register.id, index=p4r.Index(index=index), data=data)
    return p4r.Entity(register_entry=entry)
