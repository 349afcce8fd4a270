"""Random entities for a program: entries that its packets hit, action profiles, counters, replication.

They are made from the P4Info, with keys from fields of frames that will be sent, and follow from what the
switch has accepted. The fuzzer of the P4Runtime server makes its entities here too, from bytes.
"""

from collections import defaultdict

from eeon_engine.p4runtime.bytestrings import encode
from eeon_engine.p4runtime.entities.translate import message_of, wildcard
from eeon_engine.p4runtime.program.p4info import read
from finsy.proto import p4i, p4r

from .frames import Choices

INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
FULL_AT = 8
"""Number of entries below a table's size from which no entry is added: error codes of a full table differ."""

Update = tuple[int, p4r.Entity]


class Entities:
    """Entities of one program. `note` records what the switch has accepted."""

    def __init__(self, choices: Choices, info: p4i.P4Info) -> None:
        self._choices, self._rng = choices, choices.rng
        self._info, self._subject = info, choices.subject
        self._schema = read(info)
        self._targets = {
            table.name: [(target, width) for _, target, width in table.keys]
            for table in choices.program.tables
        }
        # What the switch has: entries by table and key, members and groups by action profile.
        self._entries = defaultdict[int, dict[bytes, p4r.TableEntry]](dict)
        self._members = defaultdict[int, set[int]](set)
        self._groups = defaultdict[int, dict[int, set[int]]](dict)
        # Action profiles whose entries have their own actions; BMv2 supports only one kind in a profile.
        self._with_one_shots: set[int] = set()

    def note(self, kind: int, entity: p4r.Entity) -> None:
        """Records an accepted update."""
        match entity.WhichOneof("entity"):
            case "table_entry" if not entity.table_entry.is_default_action:
                entry = entity.table_entry
                if kind == DELETE:
                    self._entries[entry.table_id].pop(key_of(entry), None)
                else:
                    self._entries[entry.table_id][key_of(entry)] = entry
            case "action_profile_member":
                member = entity.action_profile_member
                members = self._members[member.action_profile_id]
                (members.discard if kind == DELETE else members.add)(member.member_id)
            case "action_profile_group":
                group = entity.action_profile_group
                if kind == DELETE:
                    self._groups[group.action_profile_id].pop(group.group_id, None)
                else:
                    members = {member.member_id for member in group.members}
                    self._groups[group.action_profile_id][group.group_id] = members

    # ---- tables

    def _change(self, table: p4i.Table) -> Update | None:
        rng, entries = self._rng, list(self._entries[table.preamble.id].values())
        kind = rng.random()
        if not table.match_fields or kind < 0.15:
            if table.const_default_action_id or table.implementation_id:
                return None
            return MODIFY, self._default(table)
        if kind < 0.45 or not entries:
            if self._room(table) == 0:
                return None
            return rng.choice((INSERT, INSERT, INSERT, MODIFY, DELETE)), self._entry(table)
        old = p4r.TableEntry()
        old.CopyFrom(rng.choice(entries))
        if kind < 0.65:
            return DELETE, p4r.Entity(table_entry=old)
        self._set_action(table, old)
        return rng.choice((MODIFY, MODIFY, MODIFY, INSERT)), p4r.Entity(table_entry=old)

    def _default(self, table: p4i.Table) -> p4r.Entity:
        entry = p4r.TableEntry(table_id=table.preamble.id, is_default_action=True)
        usual = self._subject.defaults.get(table.preamble.name)
        if usual is not None and self._rng.random() < 0.9:
            entry.action.action.action_id = self._schema.tables[entry.table_id].actions_by_name[usual].id
        elif self._rng.random() < 0.8:
            entry.action.action.CopyFrom(self._action(table, as_default=True))
        return p4r.Entity(table_entry=entry)

    def _room(self, table: p4i.Table) -> int:
        """Returns the number of entries that the table may still get: error codes of a full table differ."""
        size = min(2 * self._subject.entries_at_most, table.size - FULL_AT)
        return max(0, size - len(self._entries[table.preamble.id]))

    def _entry(self, table: p4i.Table) -> p4r.Entity:
        rng, entry = self._rng, p4r.TableEntry(table_id=table.preamble.id)
        shape = self._schema.tables[entry.table_id]
        for field, (target, width) in zip(shape.fields, self._targets[shape.name], strict=False):
            value = self._choices.key(target, width)
            if field.kind == "optional" and rng.random() < 0.4:
                continue
            numbers = self._choices.match(field.kind, value, field.width)
            if numbers != wildcard(field):
                entry.match.append(message_of(field, numbers))
        if shape.by_priority:
            entry.priority = rng.choice((1, 2, 3, rng.randrange(1, 1000)))
        self._set_action(table, entry)
        if rng.random() < 0.2:
            entry.metadata = rng.randbytes(rng.randrange(1, 5))
        return p4r.Entity(table_entry=entry)

    def _set_action(self, table: p4i.Table, entry: p4r.TableEntry) -> None:
        rng, profile = self._rng, table.implementation_id
        entry.ClearField("action")
        if not profile:
            entry.action.action.CopyFrom(self._action(table))
            return
        if profile in self._with_one_shots:
            # One action: among several, a hash chooses by members' handles, and the engine shares members.
            one_shot = entry.action.action_profile_action_set
            action = self._action(table)
            one_shot.action_profile_actions.add(action=action, weight=rng.randint(1, 3))
            return
        members, groups = sorted(self._members[profile]), sorted(self._groups[profile])
        if groups and rng.random() < 0.7:
            entry.action.action_profile_group_id = rng.choice(groups)
        elif members:
            entry.action.action_profile_member_id = rng.choice(members)

    def _action(self, table: p4i.Table, *, as_default: bool = False) -> p4r.Action:
        choices = self._schema.tables[table.preamble.id].actions.values()
        actions = [one.action for one in choices if (one.as_default if as_default else one.in_entries)]
        chosen = self._rng.choice(actions)
        for _ in range(2):  # rarely NoAction and actions without parameters
            if not chosen.params:
                chosen = self._rng.choice(actions)
        action = p4r.Action(action_id=chosen.id)
        for parameter in chosen.params:
            short = chosen.name.rsplit(".", 1)[-1]
            value = self._choices.argument(short, parameter.name, parameter.width)
            action.params.add(param_id=parameter.id, value=encode(value))
        return action

    # ---- action profiles

    def _usually_right(self, is_there: bool) -> int:
        """Returns MODIFY for an object that exists and INSERT for another, or rarely the other way round."""
        wanted = MODIFY if is_there else INSERT
        return wanted if self._rng.random() < 0.9 else INSERT + MODIFY - wanted

    def _member(self, profile: p4i.ActionProfile) -> Update:
        table = next(t for t in self._info.tables if t.preamble.id in profile.table_ids)
        number = profile.preamble.id
        member = p4r.ActionProfileMember(
            action_profile_id=number, member_id=self._rng.randrange(1, 9), action=self._action(table)
        )
        is_there = member.member_id in self._members[number]
        return self._usually_right(is_there), p4r.Entity(action_profile_member=member)

    def _group(self, profile: p4i.ActionProfile) -> Update | None:
        rng, number = self._rng, profile.preamble.id
        members = sorted(self._members[number])
        if not members:
            return None
        group = p4r.ActionProfileGroup(action_profile_id=number, group_id=rng.randrange(1, 5), max_size=8)
        for member in rng.sample(members, rng.randint(1, min(len(members), 8))):
            group.members.add(member_id=member, weight=1)
        is_there = group.group_id in self._groups[number]
        return self._usually_right(is_there), p4r.Entity(action_profile_group=group)

    def _profile_change(self, profile: p4i.ActionProfile) -> Update | None:
        rng, number = self._rng, profile.preamble.id
        kind = rng.random()
        if kind < 0.4:
            return self._member(profile)
        if kind < 0.7:
            return self._group(profile) if profile.with_selector else None
        # Objects in use are not deleted: the error codes differ.
        entries = [entry for table in profile.table_ids for entry in self._entries[table].values()]
        if kind < 0.85:
            used = {entry.action.action_profile_group_id for entry in entries}
            groups = sorted(set(range(1, 5)) - used) if profile.with_selector else []
            if not groups:
                return None
            group = p4r.ActionProfileGroup(action_profile_id=number, group_id=rng.choice(groups))
            return DELETE, p4r.Entity(action_profile_group=group)
        used = {member for group in self._groups[number].values() for member in group}
        used |= {entry.action.action_profile_member_id for entry in entries}
        members = sorted(set(range(1, 9)) - used)
        if not members:
            return None
        member = p4r.ActionProfileMember(action_profile_id=number, member_id=rng.choice(members))
        return DELETE, p4r.Entity(action_profile_member=member)

    # ---- counters and replication

    def _counter(self, counter: p4i.Counter) -> Update:
        rng = self._rng
        cell = rng.choice((rng.randrange(counter.size), rng.randrange(min(counter.size, 8))))
        entry = p4r.CounterEntry(counter_id=counter.preamble.id, index=p4r.Index(index=cell))
        if counter.spec.unit != p4i.CounterSpec.PACKETS:
            entry.data.byte_count = rng.randrange(1 << 32)
        if counter.spec.unit != p4i.CounterSpec.BYTES:
            entry.data.packet_count = rng.randrange(1 << 20)
        return MODIFY, p4r.Entity(counter_entry=entry)

    def _multicast(self, number: int) -> p4r.Entity:
        rng, ports = self._rng, self._subject.ports
        made = p4r.PacketReplicationEngineEntry()
        made.multicast_group_entry.multicast_group_id = number
        for port in rng.sample(ports, rng.randint(1, min(4, len(ports)))):
            made.multicast_group_entry.replicas.add(egress_port=port, instance=rng.randrange(1 << 16))
        return p4r.Entity(packet_replication_engine_entry=made)

    def _clone_session(self, number: int) -> p4r.Entity:
        made = p4r.PacketReplicationEngineEntry()
        made.clone_session_entry.session_id = number
        made.clone_session_entry.replicas.add(egress_port=self._rng.choice(self._subject.ports), instance=1)
        return p4r.Entity(packet_replication_engine_entry=made)


def key_of(entry: p4r.TableEntry) -> bytes:
    """Returns what identifies an entry of a table."""
    key = p4r.TableEntry(match=entry.match, priority=entry.priority)
    return key.SerializeToString(deterministic=True)
