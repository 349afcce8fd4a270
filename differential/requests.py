"""Random P4Runtime requests for a program: entries that its packets hit, action profiles, counters, groups.

They are made from the P4Info, with keys from fields of frames that will be sent. Some are wrong
intentionally. Requests whose answers differ intentionally (docs/develop/conformance.md) are not made.
"""

from collections import defaultdict
from collections.abc import Callable

from eeon_engine.p4runtime.bytestrings import encode
from eeon_engine.p4runtime.entities.translate import message_of, wildcard
from eeon_engine.p4runtime.program.p4info import read
from finsy.proto import p4i, p4r
from google.protobuf import text_format

from .frames import Choices
from .p4runtime import SERVICE
from .program import Program
from .thrift import Call

INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
WRONG = 0.3
"""Probability that a table gets an intentionally wrong entry."""
UPDATES_AT_MOST = 4
"""Maximum number in one request."""


Update = tuple[int, p4r.Entity]


def _written(program: Program, info: p4i.P4Info) -> list[p4i.Table]:
    """Returns the tables without const entries, which BMv2 returns unmarked and with other priorities."""
    constant = {table.name for table in program.tables if table.has_const_entries}
    return [table for table in info.tables if table.preamble.name not in constant]


def whole_state(program: Program, info: p4i.P4Info) -> list[Call]:
    """Returns reads of everything that both switches return, except counters."""
    found = []
    # BMv2 returns packets and bytes for any unit.
    both = [counter for counter in info.direct_counters if counter.spec.unit == p4i.CounterSpec.BOTH]
    counted = {counter.preamble.id for counter in both}
    for table in _written(program, info):
        entry = p4r.TableEntry(table_id=table.preamble.id)
        if counted & set(table.direct_resource_ids):
            entry.counter_data.SetInParent()
        found.append(p4r.Entity(table_entry=entry))
        if not table.implementation_id:
            default = p4r.TableEntry(table_id=table.preamble.id, is_default_action=True)
            found.append(p4r.Entity(table_entry=default))
    for profile in info.action_profiles:
        member = p4r.ActionProfileMember(action_profile_id=profile.preamble.id)
        found.append(p4r.Entity(action_profile_member=member))
        if profile.with_selector:
            group = p4r.ActionProfileGroup(action_profile_id=profile.preamble.id)
            found.append(p4r.Entity(action_profile_group=group))
    return [Call(SERVICE, "read", (_text(p4r.ReadRequest(entities=[entity])),)) for entity in found]


def counter_cells(info: p4i.P4Info, name: str, cells: list[int]) -> Call | None:
    """Returns a read of a counter's cells; None for one of only packets or bytes: BMv2 returns both."""
    counter = next(counter for counter in info.counters if counter.preamble.name == name)
    if counter.spec.unit != p4i.CounterSpec.BOTH:
        return None
    request = p4r.ReadRequest()
    for cell in cells:
        entry = p4r.CounterEntry(counter_id=counter.preamble.id, index=p4r.Index(index=cell))
        request.entities.add(counter_entry=entry)
    return Call(SERVICE, "read", (_text(request),))


class Requests:
    """Requests for one program. `make` makes one on both switches, and returns their answer."""

    def __init__(self, choices: Choices, info: p4i.P4Info, make: Callable[[Call], object]) -> None:
        self._choices, self._rng, self._make = choices, choices.rng, make
        self._info, self._subject = info, choices.subject
        self._defaults = dict(choices.subject.defaults)
        self._schema = read(info)
        self._targets = {
            table.name: [(target, width) for _, target, width in table.keys]
            for table in choices.program.tables
        }
        self._tables = _written(choices.program, info)
        # What the switches have: entries by table and key, members and groups by action profile.
        self._entries = defaultdict[int, dict[bytes, p4r.TableEntry]](dict)
        self._members = defaultdict[int, set[int]](set)
        self._groups = defaultdict[int, dict[int, set[int]]](dict)
        # Action profiles whose entries have their own actions; BMv2 supports only one kind in a profile.
        self._with_one_shots: set[int] = set()

    # ---- writes

    def first(self) -> None:
        """Makes the requests after the start of the switches."""
        rng = self._rng
        for profile in self._info.action_profiles:
            if profile.with_selector and rng.random() < 0.4:
                self._with_one_shots.add(profile.preamble.id)
                continue
            self._write([self._member(profile) for _ in range(rng.randint(3, 7))])
            if profile.with_selector:
                self._write([self._group(profile) for _ in range(rng.randint(1, 4))])
        for table in self._tables:
            if table.preamble.name in self._defaults:
                self._write([(MODIFY, self._default(table))])
            if table.match_fields:
                count = min(rng.choice((1, 3, 8, 8, self._subject.entries_at_most)), self._room(table))
                self._write([(INSERT, self._entry(table)) for _ in range(count)])
        self._write(self._replication(INSERT))
        self.later()

    def later(self) -> None:
        """Makes changes between packets."""
        rng = self._rng
        for table in self._tables:
            self._write([self._change(table) for _ in range(rng.randint(0, 4))])
            if table.match_fields and rng.random() < WRONG:
                # Alone, and with a new key: it has only one error, so that the answer is unique.
                wrong = self._entry(table)
                if _key(wrong.table_entry) not in self._entries[table.preamble.id]:
                    self._spoil(wrong.table_entry)
                    self._write([(INSERT, wrong)])
        for profile in self._info.action_profiles:
            if profile.preamble.id not in self._with_one_shots:
                self._write([self._profile_change(profile)])
        for counter in self._info.counters:
            if rng.random() < 0.3:
                cell = rng.choice((rng.randrange(counter.size), rng.randrange(min(counter.size, 8))))
                entry = p4r.CounterEntry(counter_id=counter.preamble.id, index=p4r.Index(index=cell))
                if counter.spec.unit != p4i.CounterSpec.PACKETS:
                    entry.data.byte_count = rng.randrange(1 << 32)
                if counter.spec.unit != p4i.CounterSpec.BYTES:
                    entry.data.packet_count = rng.randrange(1 << 20)
                self._write([(MODIFY, p4r.Entity(counter_entry=entry))])
        if rng.random() < 0.5:
            self._write(self._replication(rng.choice((INSERT, MODIFY, MODIFY, DELETE))))

    def _write(self, updates: list[Update | None]) -> None:
        left = [update for update in updates if update is not None]
        while left:
            taken = left[: self._rng.randint(1, UPDATES_AT_MOST)]
            del left[: len(taken)]
            request = p4r.WriteRequest()
            for kind, entity in taken:
                request.updates.add(type=kind, entity=entity)
            codes = self._make(Call(SERVICE, "write", (_text(request),)))
            if isinstance(codes, list):
                for (kind, entity), code in zip(taken, codes, strict=True):
                    if code == "OK":
                        self._note(kind, entity)

    def _note(self, kind: int, entity: p4r.Entity) -> None:
        match entity.WhichOneof("entity"):
            case "table_entry" if not entity.table_entry.is_default_action:
                entry = entity.table_entry
                if kind == DELETE:
                    del self._entries[entry.table_id][_key(entry)]
                else:
                    self._entries[entry.table_id][_key(entry)] = entry
            case "action_profile_member":
                member = entity.action_profile_member
                members = self._members[member.action_profile_id]
                (members.discard if kind == DELETE else members.add)(member.member_id)
            case "action_profile_group":
                group = entity.action_profile_group
                if kind == DELETE:
                    del self._groups[group.action_profile_id][group.group_id]
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
        usual = self._defaults.get(table.preamble.name)
        if usual is not None and self._rng.random() < 0.9:
            entry.action.action.action_id = self._schema.tables[entry.table_id].actions_by_name[usual].id
        elif self._rng.random() < 0.8:
            entry.action.action.CopyFrom(self._action(table, as_default=True))
        return p4r.Entity(table_entry=entry)

    def _room(self, table: p4i.Table) -> int:
        """Returns the number of entries that the table may still get: error codes of a full table differ."""
        size = min(2 * self._subject.entries_at_most, table.size - 2 * UPDATES_AT_MOST)
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

    def _spoil(self, entry: p4r.TableEntry) -> None:
        match self._rng.randrange(6):
            case 0:
                entry.ClearField("action")
            case 1:
                entry.priority = 0 if entry.priority else 1
            case 2 if entry.match:
                entry.match[0].field_id = 99
            case 3 if entry.match and entry.match[0].HasField("exact"):
                entry.match[0].exact.value = b"\1" + bytes(20)
            case 4 if entry.action.action.params:
                del entry.action.action.params[-1]
            case _ if entry.action.HasField("action"):
                entry.action.action.action_id = 1

    # ---- action profiles

    def _usually_right(self, is_there: bool) -> int:
        """Returns MODIFY for an object that exists and INSERT for another, or rarely the other way round."""
        wanted = MODIFY if is_there else INSERT
        return wanted if self._rng.random() < 0.9 else INSERT + MODIFY - wanted

    def _member(self, profile: p4i.ActionProfile) -> Update:
        table = next(t for t in self._info.tables if t.preamble.id in profile.table_ids)
        number = profile.preamble.id
        member = p4r.ActionProfileMember(
            action_profile_id=number,
            member_id=self._rng.randrange(1, 9),
            action=self._action(table),
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

    # ---- replication

    def _replication(self, kind: int) -> list[Update | None]:
        rng, ports = self._rng, self._subject.ports
        found: list[Update | None] = []
        for number in rng.sample((1, 2, 3, 7), rng.randint(1, 4)):
            made = p4r.PacketReplicationEngineEntry()
            made.multicast_group_entry.multicast_group_id = number
            for port in rng.sample(ports, rng.randint(1, min(4, len(ports)))):
                made.multicast_group_entry.replicas.add(egress_port=port, instance=rng.randrange(1 << 16))
            found.append((kind, p4r.Entity(packet_replication_engine_entry=made)))
        for number in rng.sample((1, 2, 3, 5), rng.randint(1, 4)):
            made = p4r.PacketReplicationEngineEntry()
            made.clone_session_entry.session_id = number
            made.clone_session_entry.replicas.add(egress_port=rng.choice(ports), instance=1)
            found.append((kind, p4r.Entity(packet_replication_engine_entry=made)))
        return found


def _key(entry: p4r.TableEntry) -> bytes:
    key = p4r.TableEntry(match=entry.match, priority=entry.priority)
    return key.SerializeToString(deterministic=True)


def _text(request: p4r.WriteRequest | p4r.ReadRequest) -> str:
    return text_format.MessageToString(request, as_one_line=True)
