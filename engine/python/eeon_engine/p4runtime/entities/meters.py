"""Meters: conversion of configurations to the engine's rates, and indirect meters (P4Runtime 1.5 §9.4).
Direct meters belong to `tables`.

The engine stores rates in BMv2's unit: packets or bytes per microsecond, as a floating-point number.
P4Runtime's rates are integers per second; up to `_MAX_RATE` they are read back unchanged. The engine runs
two-rate three-colour meters; with two equal rates, these colour like single-rate meters without an excess
burst.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from google.protobuf.message import Message

from ..._engine import SwitchHandle
from ...values import MeterRate
from ..errors import invalid, unimplemented
from ..messages import p4r
from ..program.schema import Meter, MeterType, Schema, find, select
from . import chunks
from .chunks import Chunk
from .counters import check_index

_PER_MICROSECOND = 1_000_000
# A double holds integers up to 2^53; three bits are left for the conversion to microseconds and back.
_MAX_RATE = 2**50
_MAX_BURST = 2**32 - 1


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
    if meter.type == MeterType.TWO_RATE_THREE_COLOR:
        if config.eburst:
            raise invalid(f"{what} is {meter.type.value}: eburst {config.eburst} must not be set")
        if config.pir < config.cir:
            raise invalid(f"{what}: pir {config.pir} is below cir {config.cir}; RFC 2698 requires pir >= cir")
    else:
        if (config.pir, config.pburst) != (config.cir, config.cburst):
            raise invalid(f"{what} is {meter.type.value}: pir and pburst must equal cir and cburst")
        if config.eburst and meter.type == MeterType.SINGLE_RATE_TWO_COLOR:
            raise invalid(f"{what} is {meter.type.value}: eburst {config.eburst} must not be set")
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


class Meters:
    def __init__(self, control: SwitchHandle, schema: Schema) -> None:
        self._control = control
        self._schema = schema

    def write(self, kind: int, message: p4r.MeterEntry) -> None:
        """Applies one update of a `MeterEntry`; without an index it sets every cell, without a config it
        resets to green."""
        if kind != p4r.Update.MODIFY:
            raise invalid("meter cells always exist; use MODIFY")
        meter = find(self._schema.meters, "meter", message.meter_id)
        what = f"meter '{meter.name}'"
        check_no_colour_counts(message, "counter_data", what)
        rates = rates_from_message(meter, message.config) if message.HasField("config") else []
        if message.HasField("index"):
            index = check_index(what, message.index.index, meter.size)
            self._control.meter_set_rates(meter.name, index, rates)
        else:
            self._control.meter_array_set_rates(meter.name, rates)

    def read(self, message: p4r.MeterEntry) -> Iterator[Chunk]:
        """Yields the cells that a `MeterEntry` request selects; meter 0 stands for all meters, no index for
        all cells."""
        for meter in select(self._schema.meters, "meter", message.meter_id):
            what = f"meter '{meter.name}'"
            check_no_colour_counts(message, "counter_data", what)
            if message.meter_id and message.HasField("index"):
                index = check_index(what, message.index.index, meter.size)
                cells = [self._control.meter_get_rates(meter.name, index)]
                yield Chunk(1, partial(_entities, meter, index, cells))
                continue
            for start, end in chunks.ranges(meter.size):
                cells = self._control.meter_get_rates_range(meter.name, start, end)
                yield Chunk(end - start, partial(_entities, meter, start, cells))

    def cost(self, message: p4r.MeterEntry) -> int:
        """Returns the number of cells that a Read or a Write of this entry accesses."""
        if message.meter_id and message.HasField("index"):
            return 1
        return sum(meter.size for meter in select(self._schema.meters, "meter", message.meter_id))


def _entities(meter: Meter, first: int, cells: Sequence[list[MeterRate]]) -> Iterator[p4r.Entity]:
    for index, rates in enumerate(cells, first):
        entry = p4r.MeterEntry(meter_id=meter.id, index=p4r.Index(index=index))
        if rates:
            config_to_message(rates, entry.config)
        yield p4r.Entity(meter_entry=entry)
