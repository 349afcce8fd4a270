"""Table entries, default entries, and their direct counters, direct meters and idle timeouts (P4Runtime 1.5
§9.1, §9.3.1, §9.4.1).

No state is kept here. The engine stores entries, with a client's metadata as opaque bytes, so that entries
written over Thrift are read here at once. A direct resource with entry None belongs to the default entry,
which has direct resources like any other (§9.1.3); BMv2 neither counts nor meters misses.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

from ..._engine import SwitchHandle
from ...exceptions import NoSuchHandleError
from ...values import ClientAction, ClientDefault, ClientEntry, CounterCell, MatchParam, MeterRate
from ..errors import already_exists, denied, invalid, not_found
from ..messages import p4r
from ..program.schema import Schema, Table, find, select
from . import arrays, chunks, translate
from .action_profiles import ActionProfiles
from .chunks import Chunk
from .translate import Key


@dataclass(eq=False)
class Entry:
    """One table entry from the engine, with its P4Runtime priority. Equal only to itself."""

    table: Table
    handle: int
    params: Sequence[MatchParam]
    priority: int
    action: ClientAction
    note: bytes
    idle_timeout_ns: int

    @cached_property
    def key(self) -> Key:
        """Its key, computed on demand and without blocking the engine."""
        return translate.key_from_engine(self.table, self.params, self.priority)


class Resources(NamedTuple):
    """The resources of one entry; None where they were not requested."""

    counter: CounterCell | None
    rates: list[MeterRate] | None
    idle_ns: int | None


_Page = dict[Entry, Resources]
_Answer = Callable[[Table, p4r.TableEntry, Resources], p4r.Entity]
"""Makes the entity of a response from an entry without resources, and these."""


class Tables:
    def __init__(self, control: SwitchHandle, schema: Schema, profiles: ActionProfiles) -> None:
        self._control = control
        self._schema = schema
        self._profiles = profiles

    # ---- writing

    def write(self, kind: int, message: p4r.TableEntry) -> None:
        table = find(self._schema.tables, "table", message.table_id)
        if message.is_const:
            raise invalid(f"table '{table.name}': only the program sets is_const; leave it out")
        if kind != p4r.Update.DELETE:
            _check_time_out(table, message)
            _check_resources(table, message)
        if message.is_default_action:
            self._write_default(table, kind, message)
            return
        if not table.fields:
            raise invalid(
                f"table '{table.name}' has no key and so no entries; modify its default action instead"
            )
        if table.is_const and (kind != p4r.Update.MODIFY or message.HasField("action")):
            raise denied(f"table '{table.name}' has const entries; they cannot be changed")
        key = translate.key_from_message(table, message)
        entry = self._find(table, key)
        if kind == p4r.Update.INSERT:
            if entry is not None:
                raise already_exists(
                    f"table '{table.name}': an entry with this key already exists: {key.text()}"
                )
            self._insert(table, key, message)
            return
        if entry is None:
            raise not_found(f"table '{table.name}': no entry has this key: {key.text()}")
        if kind == p4r.Update.MODIFY:
            self._modify(table, entry, message)
        else:
            self._control.mt_delete_entry(table.name, entry.handle)

    def _insert(self, table: Table, key: Key, message: p4r.TableEntry) -> None:
        if message.action.WhichOneof("type") is None:
            raise invalid(f"table '{table.name}': an INSERT needs an action")
        action = self._profiles.action_from_message(table, message.action)
        handle = self._control.client_add_entry(
            table.name, key.params, key.engine_priority, action, _note(message)
        )
        if table.idle_timeout:
            self._control.mt_set_entry_ttl(table.name, handle, message.idle_timeout_ns)
        self._write_resources(table, handle, message)

    def _modify(self, table: Table, entry: Entry, message: p4r.TableEntry) -> None:
        if not table.is_const:
            action = None
            if message.action.WhichOneof("type") is not None:
                action = self._profiles.action_from_message(table, message.action)
            self._control.client_modify_entry(table.name, entry.handle, action, _note(message))
        if message.idle_timeout_ns != entry.idle_timeout_ns:
            self._control.mt_set_entry_ttl(table.name, entry.handle, message.idle_timeout_ns)
        self._write_resources(table, entry.handle, message)

    def _write_default(self, table: Table, kind: int, message: p4r.TableEntry) -> None:
        if kind != p4r.Update.MODIFY:
            raise invalid(f"table '{table.name}': the default entry always exists; use MODIFY")
        _check_default_key(table, message)
        if table.profile is not None:
            raise denied(
                f"table '{table.name}': the default entry of a table with an action profile is const NoAction"
            )
        if table.const_default:
            raise denied(f"table '{table.name}': the program declares the default action const")
        if message.HasField("action"):
            if message.action.WhichOneof("type") != "action":
                raise invalid(f"table '{table.name}': the default entry needs an action")
            call = translate.action_from_message(table, message.action.action, default=True)
            self._control.client_set_default(table.name, call, _note(message))
        else:
            self._control.client_set_default(table.name, None, b"")
        self._write_resources(table, None, message)

    # ---- lookups

    def _find(self, table: Table, key: Key) -> Entry | None:
        if table.is_const:
            # Priorities follow from the order of these entries, which the engine does not know.
            return next((entry for entry in self._entries(table) if entry.key.identity == key.identity), None)
        found = self._control.client_entry_from_key(table.name, key.params, key.engine_priority)
        return None if found is None else _entry(table, found)

    def _entries(self, table: Table) -> list[Entry]:
        found = self._control.client_entries(table.name)
        if not table.is_const:
            return [_entry(table, entry) for entry in found]
        # The first entry has the highest P4Runtime priority, the last has 1.
        last = max((priority for _, _, priority, *_ in found), default=0)
        return [_entry(table, entry, last + 1) for entry in found]

    def _named(self, table: Table, message: p4r.TableEntry) -> Entry | None:
        """Returns the entry with the key of a `TableEntry`, None for the default entry; raises NOT_FOUND."""
        if message.is_default_action:
            _check_default_key(table, message)
            return None
        key = translate.key_from_message(table, message)
        entry = self._find(table, key)
        if entry is None:
            raise not_found(f"table '{table.name}': no entry has this key: {key.text()}")
        return entry

    def _pages(self, table: Table, request: p4r.TableEntry) -> Iterator[list[Entry]]:
        """Yields a table's entries in pages; if the request has a key, only the entry with this key."""
        if request.match:
            one = self._find(table, translate.key_from_message(table, request))
            yield [] if one is None else [one]
        elif table.is_const:
            # Their priorities are counted back from the last entry's.
            yield self._entries(table)
        else:
            row: int | None = 0
            while row is not None:
                page, row = self._control.client_entries_page(table.name, row, chunks.CELLS_PER_CHUNK)
                yield [_entry(table, entry) for entry in page]

    def _read(
        self, table: Table, request: p4r.TableEntry, wanted: p4r.TableEntry, entity: _Answer
    ) -> Iterator[Chunk]:
        """Yields the entries that a request selects, with the resources that are set in `wanted`. Entries
        deleted meanwhile are left out."""
        for entries in self._pages(table, request):
            page = {}
            for entry in entries:
                with suppress(NoSuchHandleError):
                    page[entry] = self._resources(table, entry.handle, wanted)
            yield Chunk(len(page), partial(self._entities, table, request, page, entity))

    def _entities(
        self, table: Table, request: p4r.TableEntry, page: _Page, entity: _Answer
    ) -> Iterator[p4r.Entity]:
        """Yields a page's entries that a request selects, in an order that depends only on their keys."""
        for entry in sorted(page, key=lambda entry: (-entry.priority, entry.key.identity)):
            message = self._message(entry)
            if request.match or _passes(request, message):
                yield entity(table, message, page[entry])

    # ---- reading

    def read(self, message: p4r.TableEntry) -> Iterator[Chunk]:
        """Yields the entries that are asked for; table 0 stands for all tables, no match for all entries."""
        for table in self._tables_of(message):
            if message.table_id:
                _check_resources(table, message)
                _check_age_asked(table, message)
            if message.is_default_action:
                _check_default_key(table, message)
                found = self._control.client_default(table.name)
                resources = self._resources(table, None, message)
                yield chunks.one(partial(self._default_entity, table, found, resources))
                continue
            request = message if message.table_id else p4r.TableEntry()
            yield from self._read(table, request, message, _entity)

    def cost(self, message: p4r.TableEntry, count: Callable[[str], int]) -> int:
        """Returns the number of entries that a read inspects; `count` returns a table's number of entries."""
        if message.is_default_action or (message.match and not self._tables_of(message)[0].is_const):
            return 1
        return sum(1 + count(table.name) for table in self._tables_of(message))

    def _tables_of(self, message: p4r.TableEntry) -> list[Table]:
        return select(self._schema.tables, "table", message.table_id)

    def _message(self, entry: Entry) -> p4r.TableEntry:
        """Returns the message for a read, without counts and meter rates."""
        table = entry.table
        message: p4r.TableEntry = p4r.TableEntry.FromString(entry.note)
        message.table_id = table.id
        message.match.extend(entry.key.fields)
        message.priority = entry.priority
        message.idle_timeout_ns = entry.idle_timeout_ns
        # The program's JSON does not say which entries are const. As in BMv2, none can be changed.
        message.is_const = table.has_initial_entries
        self._profiles.action_to_message(table, entry.action, message.action)
        return message

    def _default_entity(self, table: Table, found: ClientDefault, resources: Resources) -> p4r.Entity:
        action, note, _ = found
        answer: p4r.TableEntry = p4r.TableEntry.FromString(note)
        answer.table_id, answer.is_default_action = table.id, True
        if action is not None:
            self._profiles.action_to_message(table, action, answer.action)
        elif table.profile is not None:
            # Const NoAction (§9.1.3); the engine has none for such tables, and does nothing on a miss.
            answer.action.action.action_id = table.initial_default
        return _entity(table, answer, resources)

    def is_default_set(self, table_id: int) -> bool:
        """Returns whether a client has set the default entry of a table."""
        _, _, is_set = self._control.client_default(self._schema.tables[table_id].name)
        return is_set

    # ---- idle timeouts (§9.1.8, §16.4). Ages use the switch's clock, which is virtual in a twin.

    @property
    def has_timeouts(self) -> bool:
        """Whether entries of some table may have an idle timeout."""
        return any(table.idle_timeout for table in self._schema.tables.values())

    def expired(self) -> list[tuple[Table, list[p4r.TableEntry]]]:
        """Returns the entries whose idle timeout has expired, by table: keys, metadata and timeouts."""
        found = []
        for table in self._schema.tables.values():
            handles = set(self._control.mt_sweep_entries(table.name)) if table.idle_timeout else set()
            if not handles:
                continue
            messages = []
            for entry in self._entries(table):
                if entry.handle in handles:
                    message = self._message(entry)
                    message.ClearField("action")
                    messages.append(message)
            found.append((table, messages))
        return found

    # ---- direct counters and meters

    def write_counter(self, kind: int, message: p4r.DirectCounterEntry) -> None:
        table, handle = self._direct(kind, "counter", message.table_entry)
        if message.HasField("data"):
            self._set_counter(table, handle, message.data)

    def write_meter(self, kind: int, message: p4r.DirectMeterEntry) -> None:
        """Applies one update of a `DirectMeterEntry`; without a config it resets the meter to green."""
        table, handle = self._direct(kind, "meter", message.table_entry)
        arrays.check_no_colour_counts(message, "counter_data", f"table '{table.name}'")
        self._set_meter(table, handle, message.config if message.HasField("config") else None)

    def _direct(self, kind: int, what: str, entry: p4r.TableEntry) -> tuple[Table, int | None]:
        """Returns the table and the handle of the entry whose resource an update changes."""
        if kind != p4r.Update.MODIFY:
            raise invalid(f"direct {what}s exist as long as their table entries; use MODIFY")
        table = self._with(entry, what)
        named = self._named(table, entry)
        return table, named.handle if named else None

    def read_counters(self, message: p4r.DirectCounterEntry) -> Iterator[Chunk]:
        """Yields the counters that are asked for; table 0 stands for all tables, no match for all entries."""
        wanted = p4r.TableEntry(counter_data=p4r.CounterData())
        return self._read_direct(message.table_entry, "counter", wanted, _counter_entity)

    def read_meters(self, message: p4r.DirectMeterEntry) -> Iterator[Chunk]:
        """Yields the meters that are asked for; table 0 stands for all tables, no match for all entries."""
        arrays.check_no_colour_counts(message, "counter_data", "direct meters")
        wanted = p4r.TableEntry(meter_config=p4r.MeterConfig())
        return self._read_direct(message.table_entry, "meter", wanted, _meter_entity)

    def read_initial_resources(self, table_id: int) -> Iterator[p4r.Entity]:
        """Yields the counters and meters of a table's const entries and of its default entry, as messages."""
        table = self._schema.tables[table_id]
        const: list[Entry] = self._entries(table) if table.has_initial_entries else []
        for key in [*map(self._message, const), _default_key(table)]:
            if table.direct_counter is not None:
                yield from chunks.whole(self.read_counters(p4r.DirectCounterEntry(table_entry=key)))
            if table.direct_meter is not None:
                yield from chunks.whole(self.read_meters(p4r.DirectMeterEntry(table_entry=key)))

    def _read_direct(
        self, request: p4r.TableEntry, what: str, wanted: p4r.TableEntry, entity: _Answer
    ) -> Iterator[Chunk]:
        if request.table_id:
            tables = [self._with(request, what)]
        else:
            tables = [table for table in self._schema.tables.values() if _has(table, what)]
        for table in tables:
            if request.is_default_action or request.match:
                entry = self._named(table, request)
                resources = self._resources(table, entry.handle if entry else None, wanted)
                key = self._message(entry) if entry else _default_key(table)
                yield chunks.one(partial(entity, table, key, resources))
            else:
                asked = request if request.table_id else p4r.TableEntry()
                yield from self._read(table, asked, wanted, entity)

    def _with(self, message: p4r.TableEntry, what: str) -> Table:
        table = find(self._schema.tables, "table", message.table_id)
        if not _has(table, what):
            raise invalid(f"table '{table.name}' has no direct {what}")
        return table

    def _write_resources(self, table: Table, handle: int | None, message: p4r.TableEntry) -> None:
        """Writes the direct resources in an INSERT or MODIFY of an entry: if unset, a counter keeps its value
        and a meter is reset."""
        if message.HasField("counter_data"):
            self._set_counter(table, handle, message.counter_data)
        if table.direct_meter is not None:
            config = message.meter_config if message.HasField("meter_config") else None
            self._set_meter(table, handle, config)

    def _resources(self, table: Table, handle: int | None, wanted: p4r.TableEntry) -> Resources:
        """Returns the current resources in the engine that are set in `wanted`, as far as the table has them;
        handle None is the default entry."""
        control, name = self._control, table.name
        cell = rates = idle_ns = None
        if table.direct_counter is not None and wanted.HasField("counter_data"):
            cell = control.mt_read_counters(name, handle)
        if table.direct_meter is not None and wanted.HasField("meter_config"):
            rates = control.mt_get_meter_rates(name, handle)
        if table.idle_timeout and wanted.HasField("time_since_last_hit") and handle is not None:
            _, idle_ns = control.mt_get_entry_life(name, handle)
        return Resources(cell, rates, idle_ns)

    def _set_counter(self, table: Table, handle: int | None, data: p4r.CounterData) -> None:
        cell: CounterCell = arrays.cell_from_message(data, f"table '{table.name}'")
        self._control.mt_write_counters(table.name, handle, *cell)

    def _set_meter(self, table: Table, handle: int | None, config: p4r.MeterConfig | None) -> None:
        """Sets a meter; without a config it is always green."""
        assert table.direct_meter is not None, "only called for tables with a meter"
        rates: Sequence[MeterRate] = (
            [] if config is None else arrays.rates_from_message(table.direct_meter, config)
        )
        if rates or self._control.mt_get_meter_rates(table.name, handle):
            self._control.mt_set_meter_rates(table.name, handle, rates)


def _entity(table: Table, answer: p4r.TableEntry, of: Resources) -> p4r.Entity:
    if of.counter is not None:
        _fill_counter(table, of, answer.counter_data)
    if of.rates:
        arrays.config_to_message(of.rates, answer.meter_config)
    if of.idle_ns is not None:
        answer.time_since_last_hit.elapsed_ns = of.idle_ns
        answer.time_since_last_hit.SetInParent()
    return p4r.Entity(table_entry=answer)


def _counter_entity(table: Table, entry: p4r.TableEntry, of: Resources) -> p4r.Entity:
    answer = p4r.DirectCounterEntry(table_entry=_key(entry))
    _fill_counter(table, of, answer.data)
    return p4r.Entity(direct_counter_entry=answer)


def _meter_entity(table: Table, entry: p4r.TableEntry, of: Resources) -> p4r.Entity:
    answer = p4r.DirectMeterEntry(table_entry=_key(entry))
    if of.rates:
        arrays.config_to_message(of.rates, answer.config)
    return p4r.Entity(direct_meter_entry=answer)


def _fill_counter(table: Table, of: Resources, data: p4r.CounterData) -> None:
    assert table.direct_counter is not None, "only called for tables with a counter"
    assert of.counter is not None, "only called where the counter was read"
    arrays.cell_to_message(table.direct_counter, of.counter, data)


def _entry(table: Table, found: ClientEntry, above: int = translate.MAX_PRIORITY) -> Entry:
    """Converts an entry that was read from the engine. P4Runtime's priority is `above` minus BMv2's, which
    starts at 0; BMv2's largest, 2^31-1, has no counterpart above 0."""
    handle, params, low_wins, action, note, idle_timeout_ns = found
    priority = above - low_wins if table.by_priority else 0
    return Entry(table, handle, params, priority, action, note, idle_timeout_ns)


def _note(message: p4r.TableEntry) -> bytes:
    """Returns the client's data that has no meaning to the switch, in the form that the engine stores."""
    if not message.metadata and not message.controller_metadata:
        return b""
    kept = p4r.TableEntry(metadata=message.metadata, controller_metadata=message.controller_metadata)
    note: bytes = kept.SerializeToString()
    return note


def _passes(request: p4r.TableEntry, entry: p4r.TableEntry) -> bool:
    """Returns whether an entry matches the filters of a read (§9.1.6)."""
    action = request.action.action.action_id
    if request.HasField("action") and action not in (0, entry.action.action.action_id):
        return False
    return (
        request.priority in (0, entry.priority)
        and request.metadata in (b"", entry.metadata)
        and request.controller_metadata in (0, entry.controller_metadata)
    )


def _key(entry: p4r.TableEntry) -> p4r.TableEntry:
    return p4r.TableEntry(
        table_id=entry.table_id,
        match=entry.match,
        priority=entry.priority,
        is_default_action=entry.is_default_action,
    )


def _default_key(table: Table) -> p4r.TableEntry:
    return p4r.TableEntry(table_id=table.id, is_default_action=True)


def _has(table: Table, what: str) -> bool:
    return (table.direct_counter if what == "counter" else table.direct_meter) is not None


def _check_default_key(table: Table, message: p4r.TableEntry) -> None:
    if message.match or message.priority:
        raise invalid(f"table '{table.name}': the default entry has no match fields and priority 0")


def _check_resources(table: Table, message: p4r.TableEntry) -> None:
    """Checks that the table has the direct resources that a `TableEntry` writes or requests."""
    what = f"table '{table.name}'"
    if message.HasField("counter_data") and table.direct_counter is None:
        raise invalid(f"{what} has no direct counter; leave counter_data out")
    if message.HasField("meter_config") and table.direct_meter is None:
        raise invalid(f"{what} has no direct meter; leave meter_config out")
    arrays.check_no_colour_counts(message, "meter_counter_data", what)


def _check_time_out(table: Table, message: p4r.TableEntry) -> None:
    """Checks that the idle timeout in a written `TableEntry` is valid for the table."""
    what = f"table '{table.name}'"
    if message.HasField("time_since_last_hit"):
        raise invalid(f"{what}: time_since_last_hit is read-only; leave it out")
    if message.idle_timeout_ns == 0:
        return
    if message.is_default_action:
        raise invalid(f"{what}: the default entry does not age; leave idle_timeout_ns out")
    if not table.idle_timeout:
        raise invalid(
            f"{what}: idle_timeout_ns {message.idle_timeout_ns}, but its entries do not age; set "
            "support_timeout in the P4 program, or leave idle_timeout_ns out"
        )
    if table.is_const:
        raise invalid(f"{what}: const entries do not age; leave idle_timeout_ns out")
    if message.idle_timeout_ns < 0:
        raise invalid(f"{what}: idle_timeout_ns {message.idle_timeout_ns} is negative")


def _check_age_asked(table: Table, message: p4r.TableEntry) -> None:
    """Checks that the table has the age that a read requests."""
    if not message.HasField("time_since_last_hit"):
        return
    if message.is_default_action:
        raise invalid(f"table '{table.name}': the default entry does not age")
    if not table.idle_timeout:
        raise invalid(f"table '{table.name}': its entries do not age; leave time_since_last_hit out")
