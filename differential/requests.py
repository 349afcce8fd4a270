"""Random P4Runtime requests for a program: entries that its packets hit, action profiles, counters, groups.

They are made from the P4Info, with keys from fields of frames that will be sent. Some are wrong
intentionally. Requests whose answers differ intentionally (docs/develop/conformance.md) are not made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from finsy.proto import p4i, p4r
from google.protobuf import text_format

from .frames import Subject, Values
from .p4runtime import SERVICE
from .program import Field, Program
from .thrift import Call

INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
EXACT, LPM, TERNARY, RANGE = (
    p4i.MatchField.EXACT,
    p4i.MatchField.LPM,
    p4i.MatchField.TERNARY,
    p4i.MatchField.RANGE,
)
WRONG = 0.3
"""Probability that a table gets an intentionally wrong entry."""
UPDATES_AT_MOST = 4
"""Maximum number in one request."""


def bytestring(value: int) -> bytes:
    """Returns the canonical bytes of a number."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


@dataclass
class Held:
    """The objects in the switches on which later requests depend."""

    entries: dict[int, dict[bytes, p4r.TableEntry]] = field(default_factory=dict)
    """By table and key."""
    members: dict[int, set[int]] = field(default_factory=dict)
    """By action profile."""
    groups: dict[int, dict[int, set[int]]] = field(default_factory=dict)
    """Members by action profile and group."""
    with_one_shots: set[int] = field(default_factory=set)
    """Action profiles whose entries have their own actions; BMv2 supports only one kind in a profile."""


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
    """Requests for one program."""

    def __init__(self, program: Program, info: p4i.P4Info, subject: Subject) -> None:
        self._info, self._subject, self._values = info, subject, Values(program, subject)
        self._defaults = dict(subject.defaults)
        self._actions = {action.preamble.id: action for action in info.actions}
        self._targets = {
            table.name: [(target, width) for _, target, width in table.keys] for table in program.tables
        }
        self._tables = _written(program, info)
        self._held = Held()

    # ---- writes

    def first(self, rng: Random, seen: dict[Field, list[int]], make: Callable[[Call], object]) -> None:
        """Makes the requests after the start of the switches."""
        for profile in self._info.action_profiles:
            if profile.with_selector and rng.random() < 0.4:
                self._held.with_one_shots.add(profile.preamble.id)
                continue
            self._write(rng, [self._member(rng, profile) for _ in range(rng.randint(3, 7))], make)
            if profile.with_selector:
                self._write(rng, [self._group(rng, profile) for _ in range(rng.randint(1, 4))], make)
        for table in self._tables:
            if table.preamble.name in self._defaults:
                self._write(rng, [(MODIFY, self._default(rng, table))], make)
            if table.match_fields:
                count = min(rng.choice((1, 3, 8, 8, self._subject.entries_at_most)), self._room(table))
                self._write(rng, [(INSERT, self._entry(rng, table, seen)) for _ in range(count)], make)
        self._write(rng, self._replication(rng, INSERT), make)
        self.later(rng, seen, make)

    def later(self, rng: Random, seen: dict[Field, list[int]], make: Callable[[Call], object]) -> None:
        """Makes changes between packets."""
        for table in self._tables:
            updates = [self._change(rng, table, seen) for _ in range(rng.randint(0, 4))]
            self._write(rng, updates, make)
            if table.match_fields and rng.random() < WRONG:
                # Alone, and with a new key: it has only one error, so that the answer is unique.
                wrong = self._entry(rng, table, seen)
                if _key(wrong.table_entry) not in self._held.entries.get(table.preamble.id, {}):
                    self._spoil(rng, wrong.table_entry)
                    self._write(rng, [(INSERT, wrong)], make)
        for profile in self._info.action_profiles:
            if profile.preamble.id not in self._held.with_one_shots:
                self._write(rng, [self._profile_change(rng, profile)], make)
        for counter in self._info.counters:
            if rng.random() < 0.3:
                cell = rng.choice((rng.randrange(counter.size), rng.randrange(min(counter.size, 8))))
                entry = p4r.CounterEntry(counter_id=counter.preamble.id, index=p4r.Index(index=cell))
                self._fill(rng, counter.spec, entry.data)
                self._write(rng, [(MODIFY, p4r.Entity(counter_entry=entry))], make)
        if rng.random() < 0.5:
            kind = rng.choice((INSERT, MODIFY, MODIFY, DELETE))
            self._write(rng, self._replication(rng, kind), make)

    def _write(
        self,
        rng: Random,
        updates: list[tuple[int, p4r.Entity] | None],
        make: Callable[[Call], object],
    ) -> None:
        left = [update for update in updates if update is not None]
        while left:
            taken = left[: rng.randint(1, UPDATES_AT_MOST)]
            del left[: len(taken)]
            request = p4r.WriteRequest()
            for kind, entity in taken:
                request.updates.add(type=kind, entity=entity)
            codes = make(Call(SERVICE, "write", (_text(request),)))
            if isinstance(codes, list):
                for (kind, entity), code in zip(taken, codes, strict=True):
                    if code == "OK":
                        self._note(kind, entity)

    def _note(self, kind: int, entity: p4r.Entity) -> None:
        match entity.WhichOneof("entity"):
            case "table_entry" if not entity.table_entry.is_default_action:
                entry = entity.table_entry
                entries = self._held.entries.setdefault(entry.table_id, {})
                if kind == DELETE:
                    del entries[_key(entry)]
                else:
                    entries[_key(entry)] = entry
            case "action_profile_member":
                member = entity.action_profile_member
                members = self._held.members.setdefault(member.action_profile_id, set())
                (members.discard if kind == DELETE else members.add)(member.member_id)
            case "action_profile_group":
                group = entity.action_profile_group
                groups = self._held.groups.setdefault(group.action_profile_id, {})
                if kind == DELETE:
                    del groups[group.group_id]
                else:
                    groups[group.group_id] = {member.member_id for member in group.members}

    # ---- tables

    def _change(
        self, rng: Random, table: p4i.Table, seen: dict[Field, list[int]]
    ) -> tuple[int, p4r.Entity] | None:
        entries = list(self._held.entries.get(table.preamble.id, {}).values())
        kind = rng.random()
        if not table.match_fields or kind < 0.15:
            if table.const_default_action_id or table.implementation_id:
                return None
            return MODIFY, self._default(rng, table)
        if kind < 0.45 or not entries:
            if self._room(table) == 0:
                return None
            return rng.choice((INSERT, INSERT, INSERT, MODIFY, DELETE)), self._entry(rng, table, seen)
        old = p4r.TableEntry()
        old.CopyFrom(rng.choice(entries))
        if kind < 0.65:
            return DELETE, p4r.Entity(table_entry=old)
        self._set_action(rng, table, old)
        return rng.choice((MODIFY, MODIFY, MODIFY, INSERT)), p4r.Entity(table_entry=old)

    def _default(self, rng: Random, table: p4i.Table) -> p4r.Entity:
        entry = p4r.TableEntry(table_id=table.preamble.id, is_default_action=True)
        usual = self._defaults.get(table.preamble.name)
        if usual is not None and rng.random() < 0.9:
            names = {action.preamble.name: number for number, action in self._actions.items()}
            entry.action.action.action_id = names[usual]
        elif rng.random() < 0.8:
            scopes = (p4i.ActionRef.TABLE_AND_DEFAULT, p4i.ActionRef.DEFAULT_ONLY)
            entry.action.action.CopyFrom(self._action(rng, table, scopes))
        return p4r.Entity(table_entry=entry)

    def _room(self, table: p4i.Table) -> int:
        """Returns the number of entries that the table may still get: error codes of a full table differ."""
        size = min(2 * self._subject.entries_at_most, table.size - 2 * UPDATES_AT_MOST)
        return max(0, size - len(self._held.entries.get(table.preamble.id, {})))

    def _entry(self, rng: Random, table: p4i.Table, seen: dict[Field, list[int]]) -> p4r.Entity:
        entry = p4r.TableEntry(table_id=table.preamble.id)
        targets = self._targets[table.preamble.name]
        for match, (target, width) in zip(table.match_fields, targets, strict=False):
            self._match(rng, entry, match, self._values.key(rng, seen, target, width))
        if any(match.match_type not in (EXACT, LPM) for match in table.match_fields):
            entry.priority = rng.choice((1, 2, 3, rng.randrange(1, 1000)))
        self._set_action(rng, table, entry)
        if rng.random() < 0.2:
            entry.metadata = rng.randbytes(rng.randrange(1, 5))
        return p4r.Entity(table_entry=entry)

    def _match(self, rng: Random, entry: p4r.TableEntry, match: p4i.MatchField, value: int) -> None:
        width, top = match.bitwidth, (1 << match.bitwidth) - 1
        made = p4r.FieldMatch(field_id=match.id)
        match match.match_type:
            case p4i.MatchField.EXACT:
                made.exact.value = bytestring(value)
            case p4i.MatchField.LPM:
                length = rng.choice((0, 1, width // 2, width - 1, width, rng.randint(0, width)))
                if length == 0:
                    return
                made.lpm.value = bytestring(value & top << (width - length) & top)
                made.lpm.prefix_len = length
            case p4i.MatchField.TERNARY:
                mask = rng.choice((0, top, top << (width // 2) & top, rng.getrandbits(width), 1, top >> 1))
                if mask == 0:
                    return
                made.ternary.value, made.ternary.mask = bytestring(value & mask), bytestring(mask)
            case p4i.MatchField.RANGE:
                spread = rng.choice((0, 1, 16, 1 << (width // 2), top))
                low = max(0, value - rng.randint(0, spread))
                high = min(top, value + rng.randint(0, spread))
                if (low, high) == (0, top):
                    return
                made.range.low, made.range.high = bytestring(low), bytestring(high)
            case _:
                if rng.random() < 0.4:
                    return
                made.optional.value = bytestring(value)
        entry.match.append(made)

    def _set_action(self, rng: Random, table: p4i.Table, entry: p4r.TableEntry) -> None:
        scopes = (p4i.ActionRef.TABLE_AND_DEFAULT, p4i.ActionRef.TABLE_ONLY)
        entry.ClearField("action")
        if not table.implementation_id:
            entry.action.action.CopyFrom(self._action(rng, table, scopes))
            return
        if table.implementation_id in self._held.with_one_shots:
            # One action: among several, a hash chooses by members' handles, and the engine shares members.
            one_shot = entry.action.action_profile_action_set
            action = self._action(rng, table, scopes)
            one_shot.action_profile_actions.add(action=action, weight=rng.randint(1, 3))
            return
        members = sorted(self._held.members.get(table.implementation_id, ()))
        groups = sorted(self._held.groups.get(table.implementation_id, {}))
        if groups and rng.random() < 0.7:
            entry.action.action_profile_group_id = rng.choice(groups)
        elif members:
            entry.action.action_profile_member_id = rng.choice(members)

    def _action(self, rng: Random, table: p4i.Table, scopes: tuple[int, ...]) -> p4r.Action:
        references = [reference.id for reference in table.action_refs if reference.scope in scopes]
        chosen = self._actions[rng.choice(references)]
        for _ in range(2):  # rarely NoAction and actions without parameters
            if not chosen.params:
                chosen = self._actions[rng.choice(references)]
        action = p4r.Action(action_id=chosen.preamble.id)
        for parameter in chosen.params:
            value = self._values.argument(rng, chosen.preamble.alias, parameter.name, parameter.bitwidth)
            action.params.add(param_id=parameter.id, value=bytestring(value))
        return action

    def _spoil(self, rng: Random, entry: p4r.TableEntry) -> None:
        match rng.randrange(6):
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

    def _member(self, rng: Random, profile: p4i.ActionProfile) -> tuple[int, p4r.Entity]:
        table = next(t for t in self._info.tables if t.preamble.id in profile.table_ids)
        scopes = (p4i.ActionRef.TABLE_AND_DEFAULT, p4i.ActionRef.TABLE_ONLY)
        member = p4r.ActionProfileMember(
            action_profile_id=profile.preamble.id,
            member_id=rng.randrange(1, 9),
            action=self._action(rng, table, scopes),
        )
        held = self._held.members.get(profile.preamble.id, set())
        wanted = MODIFY if member.member_id in held else INSERT
        kind = wanted if rng.random() < 0.9 else INSERT + MODIFY - wanted
        return kind, p4r.Entity(action_profile_member=member)

    def _group(self, rng: Random, profile: p4i.ActionProfile) -> tuple[int, p4r.Entity] | None:
        members = sorted(self._held.members.get(profile.preamble.id, ()))
        if not members:
            return None
        group = p4r.ActionProfileGroup(
            action_profile_id=profile.preamble.id, group_id=rng.randrange(1, 5), max_size=8
        )
        for member in rng.sample(members, rng.randint(1, min(len(members), 8))):
            group.members.add(member_id=member, weight=1)
        held = self._held.groups.get(profile.preamble.id, {})
        wanted = MODIFY if group.group_id in held else INSERT
        kind = wanted if rng.random() < 0.9 else INSERT + MODIFY - wanted
        return kind, p4r.Entity(action_profile_group=group)

    def _profile_change(self, rng: Random, profile: p4i.ActionProfile) -> tuple[int, p4r.Entity] | None:
        number_of = profile.preamble.id
        used_members = {member for group in self._held.groups.get(number_of, {}).values() for member in group}
        used_groups = set()
        for table in profile.table_ids:
            for entry in self._held.entries.get(table, {}).values():
                used_members.add(entry.action.action_profile_member_id)
                used_groups.add(entry.action.action_profile_group_id)
        kind = rng.random()
        if kind < 0.4:
            return self._member(rng, profile)
        if kind < 0.7:
            return self._group(rng, profile) if profile.with_selector else None
        # Objects in use are not deleted: the error codes differ.
        if kind < 0.85:
            groups = sorted(set(range(1, 5)) - used_groups) if profile.with_selector else []
            if not groups:
                return None
            group = p4r.ActionProfileGroup(action_profile_id=number_of, group_id=rng.choice(groups))
            return DELETE, p4r.Entity(action_profile_group=group)
        members = sorted(set(range(1, 9)) - used_members)
        if not members:
            return None
        member = p4r.ActionProfileMember(action_profile_id=number_of, member_id=rng.choice(members))
        return DELETE, p4r.Entity(action_profile_member=member)

    # ---- counters, replication

    def _fill(self, rng: Random, spec: p4i.CounterSpec, data: p4r.CounterData) -> None:
        if spec.unit != p4i.CounterSpec.PACKETS:
            data.byte_count = rng.randrange(1 << 32)
        if spec.unit != p4i.CounterSpec.BYTES:
            data.packet_count = rng.randrange(1 << 20)

    def _replication(self, rng: Random, kind: int) -> list[tuple[int, p4r.Entity] | None]:
        found: list[tuple[int, p4r.Entity] | None] = []
        for group in rng.sample((1, 2, 3, 7), rng.randint(1, 4)):
            entry = p4r.MulticastGroupEntry(multicast_group_id=group)
            for port in rng.sample(self._subject.ports, rng.randint(1, min(4, len(self._subject.ports)))):
                entry.replicas.add(egress_port=port, instance=rng.randrange(1 << 16))
            made = p4r.PacketReplicationEngineEntry(multicast_group_entry=entry)
            found.append((kind, p4r.Entity(packet_replication_engine_entry=made)))
        for session in rng.sample((1, 2, 3, 5), rng.randint(1, 4)):
            clone = p4r.CloneSessionEntry(session_id=session)
            clone.replicas.add(egress_port=rng.choice(self._subject.ports), instance=1)
            made = p4r.PacketReplicationEngineEntry(clone_session_entry=clone)
            found.append((kind, p4r.Entity(packet_replication_engine_entry=made)))
        return found


def _key(entry: p4r.TableEntry) -> bytes:
    key = p4r.TableEntry(match=entry.match, priority=entry.priority)
    return key.SerializeToString(deterministic=True)


def _text(request: p4r.WriteRequest | p4r.ReadRequest) -> str:
    return text_format.MessageToString(request, as_one_line=True)
