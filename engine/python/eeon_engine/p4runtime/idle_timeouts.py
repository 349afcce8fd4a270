"""Idle time-outs of table entries (P4Runtime 1.5 §9.1.8, §16.4).

Ages live in the engine and follow the switch's clock, which in a twin is virtual. Here it is known which
tables have an entry with a time-out, so that only they are swept.
"""

from typing import Any

from ..control import SwitchControl
from .entries import Entry
from .errors import invalid
from .journal import Journal
from .schema import Schema, Table


class IdleTimeouts:
    """The ages of one switch's entries."""

    def __init__(self, control: SwitchControl, schema: Schema) -> None:
        self._control = control
        self._schema = schema
        # By table, how many entries have a time-out.
        self._timed: dict[int, int] = dict.fromkeys(schema.tables, 0)

    def check_write(self, table: Table, message: Any) -> None:
        """Whether a `TableEntry` that is written fits what the table has."""
        what = f"table '{table.name}'"
        if message.HasField("time_since_last_hit"):
            raise invalid(f"{what}: time_since_last_hit is answered, not written; leave it out")
        if message.idle_timeout_ns == 0:
            return
        if message.is_default_action:
            raise invalid(f"{what}: the default entry does not age; leave idle_timeout_ns out")
        if not table.idle_timeout:
            raise invalid(
                f"{what}: idle_timeout_ns {message.idle_timeout_ns}, but its entries do not age; the P4 "
                "program has to say support_timeout"
            )
        if table.is_const:
            raise invalid(f"{what}: const entries do not age; leave idle_timeout_ns out")
        if message.idle_timeout_ns < 0:
            raise invalid(f"{what}: idle_timeout_ns {message.idle_timeout_ns} is negative")

    def check_read(self, table: Table, message: Any) -> None:
        """Whether a `TableEntry` that is asked for fits what the table has."""
        if not message.HasField("time_since_last_hit"):
            return
        if message.is_default_action:
            raise invalid(f"table '{table.name}': the default entry does not age")
        if not table.idle_timeout:
            raise invalid(f"table '{table.name}': its entries do not age; leave time_since_last_hit out")

    def begin(self, table: Table, entry: Entry) -> None:
        """An entry has been added to the engine, for the first time or again."""
        if table.idle_timeout:
            self._control.mt_set_entry_ttl(table.name, entry.handle, entry.message.idle_timeout_ns)
            self._timed[table.id] += bool(entry.message.idle_timeout_ns)

    def end(self, table: Table, entry: Entry) -> None:
        """An entry is about to leave."""
        if table.idle_timeout:
            self._timed[table.id] -= bool(entry.message.idle_timeout_ns)

    def change(self, table: Table, entry: Entry, before_ns: int, journal: Journal) -> None:
        """An entry's message has another time-out than `before_ns`."""
        after_ns = entry.message.idle_timeout_ns
        if before_ns != after_ns:
            journal.push(lambda: self._set(table, entry, after_ns, before_ns))
            self._set(table, entry, before_ns, after_ns)

    def _set(self, table: Table, entry: Entry, before_ns: int, after_ns: int) -> None:
        self._control.mt_set_entry_ttl(table.name, entry.handle, after_ns)
        self._timed[table.id] += bool(after_ns) - bool(before_ns)

    def read_field(self, table: Table, entry: Entry, request: Any, answer: Any) -> None:
        """Fills `time_since_last_hit` where it is asked for."""
        if request.HasField("time_since_last_hit") and table.idle_timeout:
            answer.time_since_last_hit.elapsed_ns = self._control.mt_get_entry_idle(table.name, entry.handle)
            answer.time_since_last_hit.SetInParent()

    @property
    def has_any(self) -> bool:
        """Whether any entry has a time-out."""
        return any(self._timed.values())

    def expired(self) -> list[tuple[Table, list[int]]]:
        """Tables with entries that have waited for their time-out since they were hit or told: their
        handles."""
        swept = [
            (
                self._schema.tables[table_id],
                self._control.mt_sweep_entries(self._schema.tables[table_id].name),
            )
            for table_id, count in self._timed.items()
            if count
        ]
        return [(table, handles) for table, handles in swept if handles]
