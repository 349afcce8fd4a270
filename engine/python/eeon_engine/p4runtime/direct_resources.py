"""Direct counters and direct meters of table entries and default entries (P4Runtime 1.5 §9.1.7, §9.3.1,
§9.4.1).

They live in the engine, beside their entry. An `Entry` of None stands for the default entry of a table, which
has them as any other (§9.1.3); BMv2 neither counts nor meters misses.
"""

from collections.abc import Callable
from typing import Any

from ..control import CounterCell, MeterRate, SwitchControl
from . import counters, meters
from .entries import Entry
from .errors import invalid
from .journal import Journal
from .schema import Schema, Table


class DirectResources:
    """The direct counters and meters of one switch."""

    def __init__(self, control: SwitchControl, schema: Schema) -> None:
        self._control = control
        self._schema = schema

    def check_fields(self, table: Table, message: Any) -> None:
        """Whether a `TableEntry` that is written or asked for fits what the table has."""
        what = f"table '{table.name}'"
        if message.HasField("counter_data") and table.direct_counter is None:
            raise invalid(f"{what} has no direct counter; leave counter_data out")
        if message.HasField("meter_config") and table.direct_meter is None:
            raise invalid(f"{what} has no direct meter; leave meter_config out")
        meters.check_no_colour_counts(message, "meter_counter_data", what)

    def write_fields(self, table: Table, entry: Entry | None, message: Any, journal: Journal) -> None:
        """What an INSERT or MODIFY of an entry says of them: unset, a counter stays and a meter is reset."""
        if message.HasField("counter_data"):
            self.write_counter(table, entry, message.counter_data, journal)
        if table.direct_meter is not None:
            config = message.meter_config if message.HasField("meter_config") else None
            self.write_meter(table, entry, config, journal)

    def write_counter(self, table: Table, entry: Entry | None, data: Any, journal: Journal) -> None:
        """Sets a counter."""
        cell = counters.cell_from_message(data, f"table '{table.name}'")
        before = self._cell(table, entry)
        journal.push(lambda: self._set_cell(table, entry, before))
        self._set_cell(table, entry, cell)

    def write_meter(self, table: Table, entry: Entry | None, config: Any | None, journal: Journal) -> None:
        """Sets a meter; without a config it answers green."""
        assert table.direct_meter is not None, "only called for tables with a meter"
        meter = self._schema.direct_meters[table.direct_meter]
        rates = [] if config is None else meters.rates_from_message(meter, config)
        before = self._rates(table, entry)
        if rates == before == []:
            return
        journal.push(lambda: self._set_rates(table, entry, before))
        self._set_rates(table, entry, rates)

    def saved(self, table: Table, entry: Entry) -> Callable[[], None]:
        """Brings back what an entry has counted and its rates, after the entry itself was brought back."""
        cell = self._cell(table, entry) if table.direct_counter is not None else None
        rates = self._rates(table, entry) if table.direct_meter is not None else []

        def restore() -> None:
            if cell is not None:
                self._set_cell(table, entry, cell)
            if rates:
                self._set_rates(table, entry, rates)

        return restore

    def read_fields(self, table: Table, entry: Entry | None, request: Any, answer: Any) -> None:
        """Fills the fields of a `TableEntry` that are set in the request."""
        if request.HasField("counter_data") and table.direct_counter is not None:
            self.read_counter(table, entry, answer.counter_data)
        if request.HasField("meter_config") and table.direct_meter is not None:
            self.read_meter(table, entry, answer, "meter_config")

    def read_counter(self, table: Table, entry: Entry | None, data: Any) -> None:
        """Fills a `CounterData`."""
        assert table.direct_counter is not None, "only called for tables with a counter"
        counter = self._schema.direct_counters[table.direct_counter]
        counters.cell_to_message(counter, self._cell(table, entry), data)

    def read_meter(self, table: Table, entry: Entry | None, answer: Any, field: str) -> None:
        """Fills the `MeterConfig` in a field of `answer`; leaves it unset when the meter was never set."""
        rates = self._rates(table, entry)
        if rates:
            meters.config_to_message(rates, getattr(answer, field))

    def _cell(self, table: Table, entry: Entry | None) -> CounterCell:
        if entry is None:
            return self._control.mt_read_default_counters(table.name)
        return self._control.mt_read_counters(table.name, entry.handle)

    def _set_cell(self, table: Table, entry: Entry | None, cell: CounterCell) -> None:
        if entry is None:
            self._control.mt_write_default_counters(table.name, *cell)
        else:
            self._control.mt_write_counters(table.name, entry.handle, *cell)

    def _rates(self, table: Table, entry: Entry | None) -> list[MeterRate]:
        if entry is None:
            return self._control.mt_get_default_meter_rates(table.name)
        return self._control.mt_get_meter_rates(table.name, entry.handle)

    def _set_rates(self, table: Table, entry: Entry | None, rates: list[MeterRate]) -> None:
        if entry is None:
            self._control.mt_set_default_meter_rates(table.name, rates)
        else:
            self._control.mt_set_meter_rates(table.name, entry.handle, rates)
