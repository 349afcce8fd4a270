"""Arrays of cells, addressed by index: indirect counters, indirect meters and registers (P4Runtime 1.5 §9.3,
§9.4, §9.7); and the values of counters and meters, which `tables` also uses for direct ones.

The engine stores the values. It keeps rates in BMv2's unit: packets or bytes per microsecond, as a
floating-point number. P4Runtime's rates are integers per second; up to `_MAX_RATE` they are read back
unchanged. The engine runs two-rate three-colour meters; with two equal rates, these colour like single-rate
meters without an excess burst. BMv2's own server has no registers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar, Generic, TypeVar

from google.protobuf.message import Message

from ..._engine import SwitchHandle
from ...values import CounterCell, MeterRate
from .. import bytestrings
from ..errors import invalid, out_of_range, unimplemented
from ..messages import p4r
from ..program import data_types
from ..program.schema import Array, Counter, Meter, Register, find
from . import chunks
from .chunks import Chunk

# P4Runtime's counts are int64, the engine's are unsigned 64-bit numbers: larger values are shown as this
# maximum.
_MAX_COUNT = 2**63 - 1
_PER_MICROSECOND = 1_000_000
# A double holds integers up to 2^53; three bits are left for the conversion to microseconds and back.
_MAX_RATE = 2**50
_MAX_BURST = 2**32 - 1


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


def rates_from_message(meter: Meter, config: p4r.MeterConfig) -> list[MeterRate]:
    """Returns the engine's rates for a `MeterConfig`."""
    what = f"meter '{meter.name}'"
    for name in ("cir", "cburst", "pir", "pburst", "eburst"):
        value = getattr(config, name)
        limit = _MAX_BURST if name.endswith("burst") else _MAX_RATE
        if value < 0:
            raise invalid(f"{what}: {name} {value} is negative")
        if value > limit:
            raise unimplemented(f"{what}: {name} {value} is above {limit}, the maximum of a meter")
    if meter.type == "two-rate three-colour":
        if config.eburst:
            raise invalid(f"{what} is {meter.type}: eburst {config.eburst} must not be set")
        if config.pir < config.cir:
            raise invalid(f"{what}: pir {config.pir} is below cir {config.cir}; RFC 2698 requires pir >= cir")
    else:
        if (config.pir, config.pburst) != (config.cir, config.cburst):
            raise invalid(f"{what} is {meter.type}: pir and pburst must equal cir and cburst")
        if config.eburst and meter.type == "single-rate two-colour":
            raise invalid(f"{what} is {meter.type}: eburst {config.eburst} must not be set")
        if config.eburst:
            raise unimplemented(f"{what}: eburst {config.eburst}; the engine has no excess burst, use 0")
    return [(config.cir / _PER_MICROSECOND, config.cburst), (config.pir / _PER_MICROSECOND, config.pburst)]


def config_to_message(rates: list[MeterRate], config: p4r.MeterConfig) -> None:
    """Fills a `MeterConfig` with the values from which `rates_from_message` made the rates."""
    (committed, cburst), (peak, pburst) = rates
    config.SetInParent()
    config.cir, config.cburst = round(committed * _PER_MICROSECOND), cburst
    config.pir, config.pburst = round(peak * _PER_MICROSECOND), pburst


def check_no_colour_counts(message: Message, field: str, what: str) -> None:
    """Raises UNIMPLEMENTED if a request asks for counts by colour, which BMv2's meters do not keep."""
    if message.HasField(field):
        raise unimplemented(f"{what}: {field}; meters do not count packets by colour")


_A = TypeVar("_A", bound=Array)
_M = TypeVar("_M", p4r.CounterEntry, p4r.MeterEntry, p4r.RegisterEntry)


class Arrays(ABC, Generic[_A, _M]):
    """The arrays of one kind, which messages call by its noun: `counter_id` is the id of a counter."""

    noun: ClassVar[str]

    def __init__(self, control: SwitchHandle, arrays: dict[int, _A]) -> None:
        self._control = control
        self._arrays = arrays

    def write(self, kind: int, message: _M) -> None:
        """Applies one update; without an index it sets every cell."""
        if kind != p4r.Update.MODIFY:
            raise invalid(f"{self.noun} cells always exist; use MODIFY")
        array = self._find(getattr(message, f"{self.noun}_id"))
        index = self._index(array, message) if message.HasField("index") else None
        self._write(array, index, message)

    def read(self, message: _M) -> Iterator[Chunk]:
        """Yields the cells that a request selects; id 0 stands for all arrays, no index for all cells."""
        for array, cells in self._asked(message):
            for start in cells[:: chunks.CELLS_PER_CHUNK]:
                yield self._chunk(array, start, min(start + chunks.CELLS_PER_CHUNK, cells.stop))

    def cost(self, message: _M) -> int:
        """Returns the cost of a Read or a Write of this entry in cells, as defined in `chunks`."""
        return sum(len(cells) * self._cost(array) for array, cells in self._asked(message))

    def _asked(self, message: _M) -> Iterator[tuple[_A, range]]:
        """Yields the arrays that a request selects, each with the cells."""
        number = getattr(message, f"{self.noun}_id")
        for array in [self._find(number)] if number else self._all():
            if number and message.HasField("index"):
                index = self._index(array, message)
                yield array, range(index, index + 1)
            else:
                yield array, range(array.size)

    def _index(self, array: _A, message: _M) -> int:
        """Returns a valid array index; raises INVALID_ARGUMENT below 0, OUT_OF_RANGE beyond the end."""
        index: int = message.index.index
        if index < 0:
            raise invalid(f"{self.noun} '{array.name}': index {index} is negative")
        if index >= array.size:
            raise out_of_range(f"{self.noun} '{array.name}': index {index}, the array has {array.size} cells")
        return index

    def _find(self, number: int) -> _A:
        return find(self._arrays, self.noun, number)

    def _all(self) -> list[_A]:
        return list(self._arrays.values())

    def _cost(self, array: _A) -> int:
        """Returns the cost of one cell."""
        return 1

    @abstractmethod
    def _write(self, array: _A, index: int | None, message: _M) -> None:
        """Sets a cell, or every cell."""

    @abstractmethod
    def _chunk(self, array: _A, start: int, end: int) -> Chunk:
        """Reads the cells `start` to `end` - 1."""


class Counters(Arrays[Counter, p4r.CounterEntry]):
    noun = "counter"

    def _write(self, array: Counter, index: int | None, message: p4r.CounterEntry) -> None:
        if not message.HasField("data"):
            return
        cell = cell_from_message(message.data, f"counter '{array.name}'")
        if index is None:
            self._control.write_counter_array(array.name, *cell)
        else:
            self._control.write_counters(array.name, index, *cell)

    def _chunk(self, array: Counter, start: int, end: int) -> Chunk:
        cells = self._control.read_counters_range(array.name, start, end)
        is_initial = cells.count((0, 0)) == len(cells)
        return Chunk(len(cells), partial(_counter_entities, array, start, cells), is_initial)


def _counter_entities(counter: Counter, first: int, cells: Sequence[CounterCell]) -> Iterator[p4r.Entity]:
    for index, cell in enumerate(cells, first):
        entry = p4r.CounterEntry(counter_id=counter.id, index=p4r.Index(index=index))
        cell_to_message(counter, cell, entry.data)
        yield p4r.Entity(counter_entry=entry)


class Meters(Arrays[Meter, p4r.MeterEntry]):
    """Without a config, a write resets a meter to green."""

    noun = "meter"

    def read(self, message: p4r.MeterEntry) -> Iterator[Chunk]:
        check_no_colour_counts(message, "counter_data", "meters")
        return super().read(message)

    def _write(self, array: Meter, index: int | None, message: p4r.MeterEntry) -> None:
        check_no_colour_counts(message, "counter_data", f"meter '{array.name}'")
        rates = rates_from_message(array, message.config) if message.HasField("config") else []
        if index is None:
            self._control.meter_array_set_rates(array.name, rates)
        else:
            self._control.meter_set_rates(array.name, index, rates)

    def _chunk(self, array: Meter, start: int, end: int) -> Chunk:
        cells = self._control.meter_get_rates_range(array.name, start, end)
        return Chunk(len(cells), partial(_meter_entities, array, start, cells))


def _meter_entities(meter: Meter, first: int, cells: Sequence[list[MeterRate]]) -> Iterator[p4r.Entity]:
    for index, rates in enumerate(cells, first):
        entry = p4r.MeterEntry(meter_id=meter.id, index=p4r.Index(index=index))
        if rates:
            config_to_message(rates, entry.config)
        yield p4r.Entity(meter_entry=entry)


class Registers(Arrays[Register, p4r.RegisterEntry]):
    noun = "register"

    def _find(self, number: int) -> Register:
        register = super()._find(number)
        if register.type is None:
            raise unimplemented(f"register '{register.name}': only cells of bit, int and bool are supported")
        return register

    def _all(self) -> list[Register]:
        return [register for register in super()._all() if register.type is not None]

    def _cost(self, array: Register) -> int:
        assert array.type is not None, "only registers of a known type are read"
        width = sum(scalar.width for scalar in data_types.scalars(array.type))
        return max(1, (width + 7) // 8 // chunks.CELL_BYTES)

    def _write(self, array: Register, index: int | None, message: p4r.RegisterEntry) -> None:
        if not message.HasField("data"):
            raise invalid(f"register '{array.name}': a write needs data")
        assert array.type is not None, "only registers of a known type are written"
        (number,) = data_types.from_data(array.type, message.data, f"register '{array.name}'")
        start, end = (0, array.size) if index is None else (index, index + 1)
        self._control.register_write_range(array.name, start, end, bytestrings.encode(number))

    def _chunk(self, array: Register, start: int, end: int) -> Chunk:
        cells = self._control.register_read_range(array.name, start, end)
        entities = partial(_register_entities, array, start, end - start, cells)
        return Chunk((end - start) * self._cost(array), entities, is_initial=not cells.strip(b"\0"))


def _register_entities(register: Register, first: int, count: int, cells: bytes) -> Iterator[p4r.Entity]:
    """Yields `count` cells from index `first`, whose values are adjacent in `cells`."""
    assert register.type is not None, "only registers of a known type are read"
    length = len(cells) // count
    for index, at in enumerate(range(0, len(cells), length), first):
        value = int.from_bytes(cells[at : at + length], "big")
        data = data_types.to_data(register.type, iter((value,)))
        entry = p4r.RegisterEntry(register_id=register.id, index=p4r.Index(index=index), data=data)
        yield p4r.Entity(register_entry=entry)
