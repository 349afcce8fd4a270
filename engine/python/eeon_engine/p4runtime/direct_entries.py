"""`DirectCounterEntry` and `DirectMeterEntry`: direct resources by themselves (P4Runtime 1.5 §9.3.1,
§9.4.1)."""

from collections.abc import Iterator
from typing import Any

from finsy.proto import p4r

from .direct_resources import DirectResources
from .entries import Entry
from .errors import invalid
from .journal import Journal
from .meters import check_no_colour_counts
from .schema import Schema, Table, find
from .tables import Tables


class DirectEntries:
    """Direct counters and meters of one switch, by the key of their entry."""

    def __init__(self, schema: Schema, tables: Tables, resources: DirectResources) -> None:
        self._schema = schema
        self._tables = tables
        self._resources = resources

    def write_counter(self, kind: int, message: Any, journal: Journal) -> None:
        """One update of a `DirectCounterEntry`."""
        _check_modify("counters", kind)
        table = self._table(message.table_entry, "counter")
        entry = self._tables.entry(table, message.table_entry)
        if message.HasField("data"):
            self._resources.write_counter(table, entry, message.data, journal)

    def write_meter(self, kind: int, message: Any, journal: Journal) -> None:
        """One update of a `DirectMeterEntry`; without a config the meter answers green again."""
        _check_modify("meters", kind)
        table = self._table(message.table_entry, "meter")
        check_no_colour_counts(message, "counter_data", f"table '{table.name}'")
        entry = self._tables.entry(table, message.table_entry)
        config = message.config if message.HasField("config") else None
        self._resources.write_meter(table, entry, config, journal)

    def read_counters(self, message: Any) -> Iterator[Any]:
        """Counters that a `DirectCounterEntry` asks for; table 0 stands for all tables, no match for all
        entries."""
        for table, entry in self._asked(message.table_entry, "counter"):
            answer = p4r.DirectCounterEntry(table_entry=_key(table, entry))
            self._resources.read_counter(table, entry, answer.data)
            yield p4r.Entity(direct_counter_entry=answer)

    def read_meters(self, message: Any) -> Iterator[Any]:
        """Meters that a `DirectMeterEntry` asks for; table 0 stands for all tables, no match for all
        entries."""
        for table, entry in self._asked(message.table_entry, "meter"):
            check_no_colour_counts(message, "counter_data", f"table '{table.name}'")
            answer = p4r.DirectMeterEntry(table_entry=_key(table, entry))
            self._resources.read_meter(table, entry, answer, "config")
            yield p4r.Entity(direct_meter_entry=answer)

    def read_initial(self, table: Table) -> Iterator[Any]:
        """Counters and meters of a table's const entries and of its default entry, in both forms of
        message."""
        const = [entry for entry in self._tables.asked(table, p4r.TableEntry()) if entry.message.is_const]
        for entry in [*const, None]:
            key = _key(table, entry)
            if table.direct_counter is not None:
                yield from self.read_counters(p4r.DirectCounterEntry(table_entry=key))
            if table.direct_meter is not None:
                yield from self.read_meters(p4r.DirectMeterEntry(table_entry=key))

    def _asked(self, request: Any, what: str) -> Iterator[tuple[Table, Entry | None]]:
        if request.table_id:
            tables = [self._table(request, what)]
        else:
            tables = [table for table in self._schema.tables.values() if _has(table, what)]
        for table in tables:
            if request.is_default_action or request.match:
                yield table, self._tables.entry(table, request)
                continue
            for entry in self._tables.asked(table, request if request.table_id else p4r.TableEntry()):
                yield table, entry

    def _table(self, message: Any, what: str) -> Table:
        table: Table = find(self._schema.tables, "table", message.table_id)
        if not _has(table, what):
            raise invalid(f"table '{table.name}' has no direct {what}")
        return table


def _has(table: Table, what: str) -> bool:
    return (table.direct_counter if what == "counter" else table.direct_meter) is not None


def _check_modify(what: str, kind: int) -> None:
    if kind != p4r.Update.MODIFY:
        raise invalid(f"direct {what} come and go with their table entries; only MODIFY is possible")


def _key(table: Table, entry: Entry | None) -> Any:
    if entry is None:
        return p4r.TableEntry(table_id=table.id, is_default_action=True)
    return p4r.TableEntry(table_id=table.id, match=entry.key.fields, priority=entry.key.priority)
