"""Indirect counters (P4Runtime 1.5 §9.3). The engine stores their values. `tables` has direct counters."""

from collections.abc import Iterator, Sequence
from functools import partial

from ..._engine import SwitchHandle
from ...values import CounterCell
from ..errors import invalid, out_of_range
from ..messages import p4r
from ..program.schema import Counter, Schema, find, select
from . import chunks
from .chunks import Chunk

# P4Runtime's counts are int64, the engine's are unsigned 64-bit numbers: larger values are shown as this
# maximum.
_MAX_COUNT = 2**63 - 1


def cell_from_message(data: p4r.CounterData, what: str) -> CounterCell:
    """Returns the engine's cell for a `CounterData`."""
    if data.byte_count < 0 or data.packet_count < 0:
        raise invalid(
            f"{what}: counts cannot be negative: {data.byte_count} bytes, {data.packet_count} packets"
        )
    return data.byte_count, data.packet_count


def cell_to_message(counter: Counter, cell: CounterCell, data: p4r.CounterData) -> None:
    """Fills `data` with the values that the counter declares; the engine always counts both."""
    data.SetInParent()
    byte_count, packet_count = cell
    if counter.counts_bytes:
        data.byte_count = min(byte_count, _MAX_COUNT)
    if counter.counts_packets:
        data.packet_count = min(packet_count, _MAX_COUNT)


def check_index(what: str, index: int, size: int) -> int:
    """Returns a valid array index; raises INVALID_ARGUMENT below 0, OUT_OF_RANGE beyond the end."""
    if index < 0:
        raise invalid(f"{what}: index {index} is negative")
    if index >= size:
        raise out_of_range(f"{what}: index {index}, the array has {size} cells")
    return index


class Counters:
    def __init__(self, control: SwitchHandle, schema: Schema) -> None:
        self._control = control
        self._schema = schema

    def write(self, kind: int, message: p4r.CounterEntry) -> None:
        """Applies one update of a `CounterEntry`; without an index it sets every cell."""
        if kind != p4r.Update.MODIFY:
            raise invalid("counter cells always exist; use MODIFY")
        counter = find(self._schema.counters, "counter", message.counter_id)
        what = f"counter '{counter.name}'"
        index = None
        if message.HasField("index"):
            index = check_index(what, message.index.index, counter.size)
        if not message.HasField("data"):
            return
        cell = cell_from_message(message.data, what)
        if index is None:
            self._control.write_counter_array(counter.name, *cell)
        else:
            self._control.write_counters(counter.name, index, *cell)

    def read(self, message: p4r.CounterEntry) -> Iterator[Chunk]:
        """Yields the cells that a `CounterEntry` request selects; counter 0 stands for all counters, no index
        for all cells."""
        for counter in select(self._schema.counters, "counter", message.counter_id):
            if message.counter_id and message.HasField("index"):
                index = check_index(f"counter '{counter.name}'", message.index.index, counter.size)
                cells = [self._control.read_counters(counter.name, index)]
                yield Chunk(1, partial(_entities, counter, index, cells))
                continue
            for start, end in chunks.ranges(counter.size):
                cells = self._control.read_counters_range(counter.name, start, end)
                is_initial = cells.count((0, 0)) == len(cells)
                yield Chunk(end - start, partial(_entities, counter, start, cells), is_initial)

    def cost(self, message: p4r.CounterEntry) -> int:
        """Returns the number of cells that a Read or a Write of this entry accesses."""
        if message.counter_id and message.HasField("index"):
            return 1
        return sum(counter.size for counter in select(self._schema.counters, "counter", message.counter_id))


def _entities(counter: Counter, first: int, cells: Sequence[CounterCell]) -> Iterator[p4r.Entity]:
    for index, cell in enumerate(cells, first):
        entry = p4r.CounterEntry(counter_id=counter.id, index=p4r.Index(index=index))
        cell_to_message(counter, cell, entry.data)
        yield p4r.Entity(counter_entry=entry)
