"""Table entries (P4Runtime 1.5 §9.1) and their direct counters.

The books here hold what the engine does not know: the P4Runtime identity of an entry, its metadata, and the
message that a read has to give back. What an entry does and what it has counted live in the engine.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from finsy.proto import p4r

from ..control import SwitchControl
from . import counters, translate
from .action_profiles import ActionProfiles, Group, Member, OneShot
from .errors import already_exists, denied, invalid, not_found, unimplemented
from .journal import Journal
from .schema import Schema, Table, find
from .translate import ActionCall, Key

_Target = ActionCall | Member | Group | OneShot


@dataclass(eq=False)
class Entry:
    """An entry of a table: `message` is canonical and has neither counter values nor is it shared with a
    client.
    """

    key: Key
    handle: int
    target: _Target
    message: Any


class Tables:
    """All tables of one switch."""

    def __init__(self, control: SwitchControl, schema: Schema, profiles: ActionProfiles) -> None:
        self._control = control
        self._schema = schema
        self._profiles = profiles
        self._entries: dict[int, dict[tuple[Any, ...], Entry]] = {table_id: {} for table_id in schema.tables}
        self._default_metadata: dict[int, bytes] = {}
        for table in schema.tables.values():
            if table.has_initial_entries:
                self._adopt_initial_entries(table)

    def _adopt_initial_entries(self, table: Table) -> None:
        """Entries that the program came with. In a const table the first has the highest priority, the last
        1.
        """
        entries = self._control.mt_get_entries(table.name)
        last = max((entry[2] for entry in entries), default=0)
        for handle, params, engine_priority, action in entries:
            priority = 0
            if table.by_priority:
                priority = (
                    last + 1 - engine_priority
                    if table.is_const
                    else translate.to_engine_priority(engine_priority)
                )
            key = translate.key_from_engine(table, params, priority)
            call = translate.action_from_engine(table, action)
            if call is None:
                continue
            message = self._message(table, key, p4r.TableAction(action=call.message()))
            message.is_const = table.is_const
            self._entries[table.id][key.identity] = Entry(key, handle, call, message)

    @staticmethod
    def _message(table: Table, key: Key, action: Any) -> Any:
        message = p4r.TableEntry(table_id=table.id, match=key.fields, priority=key.priority, action=action)
        return message

    # ---- writing

    def write(self, kind: int, message: Any, journal: Journal) -> None:
        """One update of a `TableEntry`."""
        table = find(self._schema.tables, "table", message.table_id)
        if kind != p4r.Update.DELETE:
            _check_fields(table, message)
        if message.is_default_action:
            self._write_default(table, kind, message, journal)
            return
        if not table.fields:
            raise invalid(
                f"table '{table.name}' has no key and so no entries; modify its default action instead"
            )
        if table.is_const and (kind != p4r.Update.MODIFY or message.HasField("action")):
            raise denied(f"table '{table.name}' has const entries; they cannot be changed")
        key = translate.key_from_message(table, message)
        entry = self._entries[table.id].get(key.identity)
        if kind == p4r.Update.INSERT:
            if entry is not None:
                raise already_exists(
                    f"table '{table.name}': an entry with this key is there already: {_text(key)}"
                )
            self._insert(table, key, message, journal)
            return
        if entry is None:
            raise not_found(f"table '{table.name}': no entry has this key: {_text(key)}")
        if kind == p4r.Update.MODIFY:
            self._modify(table, entry, message, journal)
        else:
            self._delete(table, entry, journal)

    def _insert(self, table: Table, key: Key, message: Any, journal: Journal) -> None:
        if message.action.WhichOneof("type") is None:
            raise invalid(f"table '{table.name}': an INSERT needs an action")
        target, action = self._target(table, message.action, journal)
        canonical = self._message(table, key, action)
        _copy_metadata(message, canonical)
        entry = Entry(key, 0, target, canonical)
        self._add(table, entry)
        journal.push(lambda: self._remove(table, entry))
        self._use(target, 1, journal)
        self._write_counter(table, entry, message, journal)

    def _modify(self, table: Table, entry: Entry, message: Any, journal: Journal) -> None:
        if message.action.WhichOneof("type") is not None:
            old = entry.target
            target, action = self._target(table, message.action, journal)
            self._point(table, entry, target)
            journal.push(lambda: self._point(table, entry, old))
            self._use(target, 1, journal)
            self._forget(table, old, journal)
        else:
            action = entry.message.action
        before = entry.message
        if not table.is_const:
            entry.message = self._message(table, entry.key, action)
            _copy_metadata(message, entry.message)

        def undo() -> None:
            entry.message = before

        journal.push(undo)
        self._write_counter(table, entry, message, journal)

    def _delete(self, table: Table, entry: Entry, journal: Journal) -> None:
        counted = None
        if table.direct_counter is not None:
            counted = self._control.mt_read_counters(table.name, entry.handle)
        self._remove(table, entry)

        def undo() -> None:
            self._add(table, entry)
            if counted is not None:
                self._control.mt_write_counters(table.name, entry.handle, *counted)

        journal.push(undo)
        self._forget(table, entry.target, journal)

    def _target(self, table: Table, action: Any, journal: Journal) -> tuple[_Target, Any]:
        """What an action message points at, and its canonical form."""
        kind, profile = action.WhichOneof("type"), table.profile
        if kind == "action":
            if profile is not None:
                raise invalid(
                    f"table '{table.name}' has action profile '{profile.name}'; "
                    "give a member, a group or a one-shot action set instead of an action"
                )
            call = translate.action_from_message(table, action.action)
            return call, p4r.TableAction(action=call.message())
        if profile is None:
            raise invalid(f"table '{table.name}' has no action profile; give it an action instead of {kind}")
        if kind == "action_profile_action_set":
            one_shot = self._profiles.acquire_one_shot(table, action.action_profile_action_set, journal)
            canonical = p4r.TableAction()
            for item, (call, weight) in zip(
                action.action_profile_action_set.action_profile_actions, one_shot.shape, strict=True
            ):
                added = canonical.action_profile_action_set.action_profile_actions.add(
                    action=call.message(), weight=weight
                )
                if item.watch_port:
                    added.watch_port = item.watch_port
            return one_shot, canonical
        self._profiles.check_style(profile, one_shot=False)
        canonical = p4r.TableAction()
        canonical.CopyFrom(action)
        if kind == "action_profile_member_id":
            return self._profiles.member(profile, action.action_profile_member_id), canonical
        return self._profiles.group(profile, action.action_profile_group_id), canonical

    def _use(self, target: _Target, change: int, journal: Journal) -> None:
        if isinstance(target, Member | Group):
            target.users += change
            journal.push(lambda: self._use(target, -change, Journal()))

    def _forget(self, table: Table, target: _Target, journal: Journal) -> None:
        if isinstance(target, OneShot):
            assert table.profile is not None, "a one-shot belongs to a table with a selector"
            self._profiles.release(table.profile, target, journal)
        else:
            self._use(target, -1, journal)

    def _add(self, table: Table, entry: Entry) -> None:
        control, key, target = self._control, entry.key, entry.target
        match target:
            case ActionCall():
                entry.handle = control.mt_add_entry(
                    table.name, key.params, target.action.name, target.data, key.engine_priority
                )
            case Member():
                entry.handle = control.mt_indirect_add_entry(
                    table.name, key.params, target.handles[0], key.engine_priority
                )
            case _:
                entry.handle = control.mt_indirect_ws_add_entry(
                    table.name, key.params, target.handle, key.engine_priority
                )
        self._entries[table.id][key.identity] = entry

    def _remove(self, table: Table, entry: Entry) -> None:
        self._control.mt_delete_entry(table.name, entry.handle)
        del self._entries[table.id][entry.key.identity]

    def _point(self, table: Table, entry: Entry, target: _Target) -> None:
        control = self._control
        match target:
            case ActionCall():
                control.mt_modify_entry(table.name, entry.handle, target.action.name, target.data)
            case Member():
                control.mt_indirect_modify_entry(table.name, entry.handle, target.handles[0])
            case _:
                control.mt_indirect_ws_modify_entry(table.name, entry.handle, target.handle)
        entry.target = target

    def _write_default(self, table: Table, kind: int, message: Any, journal: Journal) -> None:
        if kind != p4r.Update.MODIFY:
            raise invalid(f"table '{table.name}': the default entry is always there; only MODIFY is possible")
        if message.match or message.priority:
            raise invalid(f"table '{table.name}': the default entry has no match fields and priority 0")
        if message.HasField("counter_data"):
            raise unimplemented(f"table '{table.name}': the engine does not count hits of the default entry")
        if table.profile is not None:
            raise denied(
                f"table '{table.name}': the default entry of a table with an action profile is const NoAction"
            )
        if table.const_default:
            raise denied(f"table '{table.name}': the program declares the default action const")
        before = self._control.mt_get_default_entry(table.name)
        metadata = self._default_metadata.get(table.id, b"")
        journal.push(lambda: self._set_default(table, before, metadata))
        if not message.HasField("action"):
            self._set_default(table, None, b"")
            return
        if message.action.WhichOneof("type") != "action":
            raise invalid(f"table '{table.name}': the default entry takes an action")
        call = translate.action_from_message(table, message.action.action, default=True)
        self._set_default(table, ("action", call.action.name, list(call.data)), message.metadata)

    def _set_default(self, table: Table, action: Any, metadata: bytes) -> None:
        if action is None:
            self._control.mt_reset_default_entry(table.name)
        else:
            self._control.mt_set_default_action(table.name, action[1], action[2])
        self._default_metadata[table.id] = metadata

    def _write_counter(self, table: Table, entry: Entry, message: Any, journal: Journal) -> None:
        if not message.HasField("counter_data"):
            return
        if table.direct_counter is None:
            raise invalid(f"table '{table.name}' has no direct counter; leave counter_data out")
        self._set_counter(table, entry, message.counter_data, journal)

    def _set_counter(self, table: Table, entry: Entry, data: Any, journal: Journal) -> None:
        cell = counters.cell_from_message(data, f"table '{table.name}'")
        before = self._control.mt_read_counters(table.name, entry.handle)
        self._control.mt_write_counters(table.name, entry.handle, *cell)
        journal.push(lambda: self._control.mt_write_counters(table.name, entry.handle, *before))

    def write_direct_counter(self, kind: int, message: Any, journal: Journal) -> None:
        """One update of a `DirectCounterEntry`."""
        if kind != p4r.Update.MODIFY:
            raise invalid("direct counters come and go with their table entries; only MODIFY is possible")
        table = self._with_counter(message.table_entry.table_id)
        if message.table_entry.is_default_action:
            raise unimplemented(f"table '{table.name}': the engine does not count hits of the default entry")
        key = translate.key_from_message(table, message.table_entry)
        entry = self._entries[table.id].get(key.identity)
        if entry is None:
            raise not_found(f"table '{table.name}': no entry has this key: {_text(key)}")
        if message.HasField("data"):
            self._set_counter(table, entry, message.data, journal)

    def _with_counter(self, table_id: int) -> Table:
        table: Table = find(self._schema.tables, "table", table_id)
        if table.direct_counter is None:
            raise invalid(f"table '{table.name}' has no direct counter")
        return table

    # ---- reading

    def read(self, message: Any) -> Iterator[Any]:
        """Entries that a `TableEntry` request asks for; table 0 stands for all tables, no match for all
        entries.
        """
        tables = list(self._schema.tables.values())
        if message.table_id:
            tables = [find(self._schema.tables, "table", message.table_id)]
        for table in tables:
            if message.is_default_action:
                yield p4r.Entity(table_entry=self._default(table))
                continue
            for entry in self._asked(table, message if message.table_id else p4r.TableEntry()):
                answer = p4r.TableEntry()
                answer.CopyFrom(entry.message)
                if message.HasField("counter_data") and table.direct_counter is not None:
                    self._read_counter(table, entry, answer.counter_data)
                yield p4r.Entity(table_entry=answer)

    def _asked(self, table: Table, request: Any) -> list[Entry]:
        entries = self._entries[table.id]
        if request.match:
            key = translate.key_from_message(table, request)
            found = entries.get(key.identity)
            return [found] if found else []
        return [entry for entry in entries.values() if _passes(request, entry.message)]

    def _default(self, table: Table) -> Any:
        answer = p4r.TableEntry(table_id=table.id, is_default_action=True)
        call = translate.action_from_engine(table, self._control.mt_get_default_entry(table.name))
        if call is not None:
            answer.action.action.CopyFrom(call.message())
        answer.metadata = self._default_metadata.get(table.id, b"")
        return answer

    def _read_counter(self, table: Table, entry: Entry, data: Any) -> None:
        assert table.direct_counter is not None, "only called for tables with a counter"
        cell = self._control.mt_read_counters(table.name, entry.handle)
        counters.cell_to_message(self._schema.direct_counters[table.direct_counter], cell, data)

    def read_direct_counters(self, message: Any) -> Iterator[Any]:
        """Direct counters that a `DirectCounterEntry` request asks for; table 0 stands for all tables."""
        request = message.table_entry
        if request.table_id:
            tables = [self._with_counter(request.table_id)]
        else:
            tables = [table for table in self._schema.tables.values() if table.direct_counter is not None]
            request = p4r.TableEntry()
        for table in tables:
            entries = self._asked(table, request)
            if request.match and not entries:
                raise not_found(f"table '{table.name}': no entry has this key")
            for entry in entries:
                answer = p4r.DirectCounterEntry()
                answer.table_entry.table_id = table.id
                answer.table_entry.match.extend(entry.key.fields)
                answer.table_entry.priority = entry.key.priority
                self._read_counter(table, entry, answer.data)
                yield p4r.Entity(direct_counter_entry=answer)


def _check_fields(table: Table, message: Any) -> None:
    if message.is_const:
        raise invalid(f"table '{table.name}': is_const belongs to the program; leave it out")
    if message.idle_timeout_ns:
        raise unimplemented(
            f"table '{table.name}': idle_timeout_ns {message.idle_timeout_ns}; entries do not age"
        )
    if message.HasField("meter_config") or message.HasField("meter_counter_data"):
        raise unimplemented(f"table '{table.name}': direct meters are not supported over P4Runtime")


def _copy_metadata(source: Any, target: Any) -> None:
    target.metadata = source.metadata
    target.controller_metadata = source.controller_metadata


def _passes(request: Any, entry: Any) -> bool:
    """Whether an entry passes the filters of a read (§9.1.6)."""
    if request.HasField("action") and request.action.action.action_id not in (
        0,
        entry.action.action.action_id,
    ):
        return False
    return (
        request.priority in (0, entry.priority)
        and request.metadata in (b"", entry.metadata)
        and request.controller_metadata in (0, entry.controller_metadata)
    )


def _text(key: Key) -> str:
    fields = ", ".join(f"{match.field_id}: {_one_line(match)}" for match in key.fields)
    return f"{{{fields}}} priority {key.priority}"


def _one_line(match: Any) -> str:
    kind = match.WhichOneof("field_match_type")
    value = getattr(match, kind)
    match kind:
        case "lpm":
            return f"0x{value.value.hex()}/{value.prefix_len}"
        case "ternary":
            return f"0x{value.value.hex()}&0x{value.mask.hex()}"
        case "range":
            return f"0x{value.low.hex()}..0x{value.high.hex()}"
        case _:
            return f"0x{value.value.hex()}"
