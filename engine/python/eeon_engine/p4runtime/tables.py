"""Table entries and default entries (P4Runtime 1.5 §9.1).

The books here hold what the engine does not know: the P4Runtime identity of an entry, its metadata, and the
message that a read has to give back. What an entry does and what it has counted live in the engine.
"""

from collections.abc import Iterator
from typing import Any

from finsy.proto import p4r

from ..control import SwitchControl
from . import entries, translate
from .action_profiles import ActionProfiles, Group, Member, OneShot, write_watch
from .direct_resources import DirectResources
from .entries import Entry, Target
from .errors import already_exists, denied, invalid, not_found
from .idle_timeouts import IdleTimeouts
from .journal import Journal
from .schema import Schema, Table, find
from .translate import ActionCall, Key


class Tables:
    """All tables of one switch."""

    def __init__(
        self,
        control: SwitchControl,
        schema: Schema,
        profiles: ActionProfiles,
        resources: DirectResources,
    ) -> None:
        self._control = control
        self._schema = schema
        self._profiles = profiles
        self._resources = resources
        self._idle = IdleTimeouts(control, schema)
        self._entries: dict[int, dict[tuple[Any, ...], Entry]] = {table_id: {} for table_id in schema.tables}
        # Metadata of default entries, as messages that carry nothing else; and which a client has set.
        self._defaults: dict[int, Any] = {table_id: p4r.TableEntry() for table_id in schema.tables}
        self._defaults_set: set[int] = set()
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
            # The program's JSON does not say which of them are const: none can be changed, as in BMv2.
            message.is_const = True
            self._entries[table.id][key.identity] = Entry(key, handle, call, message)

    @staticmethod
    def _message(table: Table, key: Key, action: Any) -> Any:
        message = p4r.TableEntry(table_id=table.id, match=key.fields, priority=key.priority, action=action)
        return message

    # ---- writing

    def write(self, kind: int, message: Any, journal: Journal) -> None:
        """One update of a `TableEntry`."""
        table = find(self._schema.tables, "table", message.table_id)
        if message.is_const:
            raise invalid(f"table '{table.name}': is_const belongs to the program; leave it out")
        if kind != p4r.Update.DELETE:
            self._idle.check_write(table, message)
            self._resources.check_fields(table, message)
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
                    f"table '{table.name}': an entry with this key is there already: {entries.text(key)}"
                )
            self._insert(table, key, message, journal)
            return
        if entry is None:
            raise not_found(f"table '{table.name}': no entry has this key: {entries.text(key)}")
        if kind == p4r.Update.MODIFY:
            self._modify(table, entry, message, journal)
        else:
            self._delete(table, entry, journal)

    def _insert(self, table: Table, key: Key, message: Any, journal: Journal) -> None:
        if message.action.WhichOneof("type") is None:
            raise invalid(f"table '{table.name}': an INSERT needs an action")
        target, action = self._target(table, message.action, journal)
        canonical = self._message(table, key, action)
        entries.copy_metadata(message, canonical)
        canonical.idle_timeout_ns = message.idle_timeout_ns
        entry = Entry(key, 0, target, canonical)
        self._add(table, entry)
        journal.push(lambda: self._remove(table, entry))
        self._use(target, 1, journal)
        self._resources.write_fields(table, entry, message, journal)

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
            entries.copy_metadata(message, entry.message)
            entry.message.idle_timeout_ns = message.idle_timeout_ns

        def undo() -> None:
            entry.message = before

        journal.push(undo)
        self._idle.change(table, entry, before.idle_timeout_ns, journal)
        self._resources.write_fields(table, entry, message, journal)

    def _delete(self, table: Table, entry: Entry, journal: Journal) -> None:
        restore = self._resources.saved(table, entry)
        self._remove(table, entry)

        def undo() -> None:
            self._add(table, entry)
            restore()

        journal.push(undo)
        self._forget(table, entry.target, journal)

    def _target(self, table: Table, action: Any, journal: Journal) -> tuple[Target, Any]:
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
            given = action.action_profile_action_set
            canonical = p4r.TableAction()
            kept = canonical.action_profile_action_set
            kept.action_selection_mode = given.action_selection_mode
            kept.size_semantics = given.size_semantics
            for item, (call, _, watch) in zip(given.action_profile_actions, one_shot.shape, strict=True):
                added = kept.action_profile_actions.add(action=call.message(), weight=item.weight)
                write_watch(added, watch)
            canonical.action_profile_action_set.SetInParent()
            return one_shot, canonical
        self._profiles.check_style(profile, one_shot=False)
        canonical = p4r.TableAction()
        canonical.CopyFrom(action)
        if kind == "action_profile_member_id":
            return self._profiles.member(profile, action.action_profile_member_id), canonical
        return self._profiles.group(profile, action.action_profile_group_id), canonical

    def _use(self, target: Target, change: int, journal: Journal) -> None:
        if isinstance(target, Member | Group):
            target.users += change
            journal.push(lambda: self._use(target, -change, Journal()))

    def _forget(self, table: Table, target: Target, journal: Journal) -> None:
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
        self._idle.begin(table, entry)

    def _remove(self, table: Table, entry: Entry) -> None:
        self._idle.end(table, entry)
        self._control.mt_delete_entry(table.name, entry.handle)
        del self._entries[table.id][entry.key.identity]

    def _point(self, table: Table, entry: Entry, target: Target) -> None:
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
        _check_default_key(table, message)
        if table.profile is not None:
            raise denied(
                f"table '{table.name}': the default entry of a table with an action profile is const NoAction"
            )
        if table.const_default:
            raise denied(f"table '{table.name}': the program declares the default action const")
        before, metadata = self._control.mt_get_default_entry(table.name), self._defaults[table.id]
        was_set = table.id in self._defaults_set

        def undo() -> None:
            self._set_default(table, before, metadata)
            self._mark_default(table, was_set)

        journal.push(undo)
        kept = p4r.TableEntry()
        if message.HasField("action"):
            if message.action.WhichOneof("type") != "action":
                raise invalid(f"table '{table.name}': the default entry takes an action")
            call = translate.action_from_message(table, message.action.action, default=True)
            entries.copy_metadata(message, kept)
            self._set_default(table, ("action", call.action.name, list(call.data)), kept)
        else:
            self._set_default(table, None, kept)
        self._mark_default(table, message.HasField("action"))
        self._resources.write_fields(table, None, message, journal)

    def _set_default(self, table: Table, action: Any, metadata: Any) -> None:
        if action is None:
            self._control.mt_reset_default_entry(table.name)
        else:
            self._control.mt_set_default_action(table.name, action[1], action[2])
        self._defaults[table.id] = metadata

    def _mark_default(self, table: Table, is_set: bool) -> None:
        (self._defaults_set.add if is_set else self._defaults_set.discard)(table.id)

    def is_default_set(self, table_id: int) -> bool:
        """Whether a client has set the default entry of a table."""
        return table_id in self._defaults_set

    @property
    def has_timeouts(self) -> bool:
        """Whether any entry has an idle time-out."""
        return self._idle.has_any

    def entry(self, table: Table, message: Any) -> Entry | None:
        """The entry that a `TableEntry` names by its key, None for the default entry; NOT_FOUND."""
        if message.is_default_action:
            _check_default_key(table, message)
            return None
        key = translate.key_from_message(table, message)
        entry = self._entries[table.id].get(key.identity)
        if entry is None:
            raise not_found(f"table '{table.name}': no entry has this key: {entries.text(key)}")
        return entry

    # ---- reading

    def read(self, message: Any) -> Iterator[Any]:
        """Entries that a `TableEntry` request asks for; table 0 stands for all tables, no match for all
        entries.
        """
        tables = list(self._schema.tables.values())
        if message.table_id:
            tables = [find(self._schema.tables, "table", message.table_id)]
        for table in tables:
            if message.table_id:
                self._resources.check_fields(table, message)
                self._idle.check_read(table, message)
            if message.is_default_action:
                _check_default_key(table, message)
                yield p4r.Entity(table_entry=self._default(table, message))
                continue
            for entry in self.asked(table, message if message.table_id else p4r.TableEntry()):
                answer = p4r.TableEntry()
                answer.CopyFrom(entry.message)
                self._resources.read_fields(table, entry, message, answer)
                self._idle.read_field(table, entry, message, answer)
                yield p4r.Entity(table_entry=answer)

    def asked(self, table: Table, request: Any) -> list[Entry]:
        """Entries that a request asks for, in an order that depends on their keys alone."""
        found = self._entries[table.id]
        if request.match:
            key = translate.key_from_message(table, request)
            entry = found.get(key.identity)
            return [entry] if entry else []
        chosen = [entry for entry in found.values() if entries.passes(request, entry.message)]
        return sorted(chosen, key=lambda entry: (-entry.key.priority, entry.key.identity))

    def expired(self) -> list[tuple[Table, list[Any]]]:
        """Entries that were not hit for their time-out, by table: keys, metadata and time-outs (§16.4)."""
        found = []
        for table, handles in self._idle.expired():
            by_handle = {entry.handle: entry.message for entry in self._entries[table.id].values()}
            messages = [by_handle[handle] for handle in handles if handle in by_handle]
            found.append((table, [_without_action(message) for message in messages]))
        return found

    def _default(self, table: Table, request: Any) -> Any:
        answer = p4r.TableEntry(table_id=table.id, is_default_action=True)
        if table.profile is not None:
            # Const NoAction (§9.1.3); the engine has none for such tables, and does nothing on a miss.
            answer.action.action.action_id = table.initial_default
        call = translate.action_from_engine(table, self._control.mt_get_default_entry(table.name))
        if call is not None:
            answer.action.action.CopyFrom(call.message())
        entries.copy_metadata(self._defaults[table.id], answer)
        self._resources.read_fields(table, None, request, answer)
        return answer


def _check_default_key(table: Table, message: Any) -> None:
    if message.match or message.priority:
        raise invalid(f"table '{table.name}': the default entry has no match fields and priority 0")


def _without_action(message: Any) -> Any:
    key = p4r.TableEntry()
    key.CopyFrom(message)
    key.ClearField("action")
    return key
