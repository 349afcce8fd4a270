"""Registers (P4Runtime 1.5 §9.7), which BMv2's own server lacks. The engine stores their values."""

from collections.abc import Iterator
from functools import partial

from ..._engine import SwitchHandle
from .. import bytestrings
from ..errors import invalid, unimplemented
from ..messages import p4r
from ..program import data_types
from ..program.schema import Register, Schema, find
from . import chunks
from .chunks import Chunk
from .counters import check_index


class Registers:
    def __init__(self, control: SwitchHandle, schema: Schema) -> None:
        self._control = control
        self._schema = schema

    def write(self, kind: int, message: p4r.RegisterEntry) -> None:
        """Applies one update of a `RegisterEntry`; without an index it sets every cell."""
        if kind != p4r.Update.MODIFY:
            raise invalid("register cells always exist; use MODIFY")
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

    def read(self, message: p4r.RegisterEntry) -> Iterator[Chunk]:
        """Yields the cells that a `RegisterEntry` request selects; register 0 stands for all registers, no
        index for all cells."""
        for register in self._asked(message):
            if message.register_id and message.HasField("index"):
                index = check_index(f"register '{register.name}'", message.index.index, register.size)
                cells = self._control.register_read(register.name, index)
                yield Chunk(_cost(register), partial(_entities, register, index, 1, cells))
                continue
            for start, end in chunks.ranges(register.size):
                cells = self._control.register_read_range(register.name, start, end)
                count = end - start
                entities = partial(_entities, register, start, count, cells)
                yield Chunk(count * _cost(register), entities, is_initial=not cells.strip(b"\0"))

    def cost(self, message: p4r.RegisterEntry) -> int:
        """Returns the cost of a Read or a Write of this entry in cells, as defined in `chunks`."""
        if message.register_id and message.HasField("index"):
            return 1
        return sum(register.size * _cost(register) for register in self._asked(message))

    def _asked(self, message: p4r.RegisterEntry) -> list[Register]:
        if message.register_id:
            return [self._supported(message.register_id)]
        return [register for register in self._schema.registers.values() if register.type is not None]

    def _supported(self, register_id: int) -> Register:
        register = find(self._schema.registers, "register", register_id)
        if register.type is None:
            raise unimplemented(f"register '{register.name}': only cells of bit, int and bool are supported")
        return register


def _entities(register: Register, first: int, count: int, cells: bytes) -> Iterator[p4r.Entity]:
    """Yields `count` cells from index `first`, whose values are adjacent in `cells`."""
    assert register.type is not None, "only registers of a known type are read"
    length = len(cells) // count
    for index, at in enumerate(range(0, len(cells), length), first):
        value = int.from_bytes(cells[at : at + length], "big")
        data = data_types.to_data(register.type, iter((value,)))
        entry = p4r.RegisterEntry(register_id=register.id, index=p4r.Index(index=index), data=data)
        yield p4r.Entity(register_entry=entry)


def _cost(register: Register) -> int:
    assert register.type is not None, "only registers of a known type are read"
    width = sum(scalar.width for scalar in data_types.scalars(register.type))
    return max(1, (width + 7) // 8 // chunks.CELL_BYTES)
