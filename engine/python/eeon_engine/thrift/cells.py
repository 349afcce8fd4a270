"""Calls on counters, meters and registers, and on parser value sets."""

from .interface import standard, unsigned
from .names import Context
from .tables import counter_cell, counter_value, meter_configs, meter_rates

_I64_MAX = (1 << 63) - 1


class CellCalls:
    """Service `standard`: counters, meters, registers, parser value sets."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._control = context.control

    def bm_counter_read(self, cxt: int, counter: str, cell: int) -> standard.BmCounterValue:
        return counter_value(*self._control.read_counters(counter, unsigned(cell, 64)))

    def bm_counter_write(self, cxt: int, counter: str, cell: int, value: standard.BmCounterValue) -> None:
        self._control.write_counters(counter, unsigned(cell, 64), *counter_cell(value))

    def bm_counter_reset_all(self, cxt: int, counter: str) -> None:
        self._control.reset_counters(counter)

    def bm_meter_get_rates(self, cxt: int, meter: str, cell: int) -> list[standard.BmMeterRateConfig]:
        return meter_configs(self._control.meter_get_rates(meter, unsigned(cell, 64)))

    def bm_meter_set_rates(
        self, cxt: int, meter: str, cell: int, rates: list[standard.BmMeterRateConfig]
    ) -> None:
        # BMv2 checks the name and the index before the rates.
        self._control.meter_get_rates(meter, unsigned(cell, 64))
        self._control.meter_set_rates(meter, unsigned(cell, 64), meter_rates(rates))

    def bm_meter_array_set_rates(self, cxt: int, meter: str, rates: list[standard.BmMeterRateConfig]) -> None:
        self._control.meter_get_rates(meter, 0)
        self._control.meter_array_set_rates(meter, meter_rates(rates))

    def bm_register_read(self, cxt: int, reg: str, cell: int) -> int:
        return _read(self._control.register_read(reg, unsigned(cell, 64)))

    def bm_register_read_all(self, cxt: int, reg: str) -> list[int]:
        return [min(value, _I64_MAX) for value in self._context.register_cells(reg)]

    def bm_register_write(self, cxt: int, reg: str, cell: int, value: int) -> None:
        self._control.register_write(reg, unsigned(cell, 64), self._cut(reg, value))

    def bm_register_write_range(self, cxt: int, reg: str, first: int, beyond: int, value: int) -> None:
        if first == beyond:
            # BMv2 writes nothing, but refuses an index beyond the end.
            self._control.register_read(reg, unsigned(first - 1 if first else 0, 64))
            return
        self._control.register_write_range(
            reg, unsigned(first, 64), unsigned(beyond, 64), self._cut(reg, value)
        )

    def bm_register_reset(self, cxt: int, reg: str) -> None:
        self._control.register_reset(reg)

    def bm_parse_vset_add(self, cxt: int, vset: str, value: bytes) -> None:
        self._control.parse_vset_add(vset, value)

    def bm_parse_vset_remove(self, cxt: int, vset: str, value: bytes) -> None:
        self._control.parse_vset_remove(vset, value)

    def bm_parse_vset_get(self, cxt: int, vset: str) -> list[bytes]:
        return self._control.parse_vset_get(vset)

    def bm_parse_vset_clear(self, cxt: int, vset: str) -> None:
        self._control.parse_vset_clear(vset)

    def _cut(self, reg: str, value: int) -> bytes:
        """Returns the low bits of a number, as many as a cell has, of its two's complement if negative."""
        width = self._context.names.register_widths.get(reg, 64)
        return unsigned(value, width).to_bytes((width + 7) // 8, "big")


def _read(value: bytes) -> int:
    """Returns a cell as an i64. A larger value becomes the maximum, as in BMv2."""
    return min(int.from_bytes(value, "big"), _I64_MAX)
