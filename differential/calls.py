"""Random sequences of control calls for a program: entries that its packets hit, groups, arrays, value sets.

Keys are made from fields of frames that will be sent. The handles come from the answers of both switches, so
a sequence is made call by call. Calls whose answers differ intentionally (docs/p4/behaviour.md) are not made.
"""

from collections import defaultdict
from collections.abc import Callable

from .frames import Choices
from .program import Action, Table
from .thrift import Call, match


def data_bytes(value: int, width: int) -> bytes:
    """Returns a value in the bytes of its width, as BMv2 expects keys and action data."""
    return value.to_bytes((width + 7) // 8, "big")


def key_of(table: Table, choices: Choices) -> list[dict[str, object]]:
    """Returns a key of a table, usually one that a frame has."""
    found = []
    for kind, target, width in table.keys:
        first, *rest = choices.match(kind, choices.key(target, width), width)
        if kind == "lpm":
            found.append(match("lpm", data_bytes(first, width), *rest))
        else:
            values = [data_bytes(number, width) for number in (first, *rest)]
            found.append(match(kind if rest else "exact", *values))
    return found


class Calls:
    """Calls for one program. `make` makes one on both switches, and returns their answer."""

    def __init__(self, choices: Choices, make: Callable[[Call], object]) -> None:
        self._choices, self._rng, self._make = choices, choices.rng, make
        self._program, self._subject = choices.program, choices.subject
        # Handles, by table or action profile; of a group with its members.
        self._entries = defaultdict[str, list[int]](list)
        self._members = defaultdict[str, list[int]](list)
        self._groups = defaultdict[str, dict[int, list[int]]](dict)
        # Members of refused entries: BMv2 treats them as used for ever.
        self._stuck = defaultdict[str, set[int]](set)

    def _call(self, method: str, *arguments: object) -> object:
        """Makes a call of the service `standard` in context 0."""
        return self._make(Call("standard", method, (0, *arguments)))

    def first(self) -> None:
        """Makes the calls after the start of the switches."""
        rng = self._rng
        for table in self._program.tables:
            if table.name in self._subject.defaults:
                self._set_default(table)
        profiles = {table.profile for table in self._program.tables if table.profile}
        for profile in sorted(profiles):
            for _ in range(rng.randint(3, 7)):
                self._add_member(profile)
            if any(t.profile == profile and t.kind == "indirect_ws" for t in self._program.tables):
                for _ in range(rng.randint(1, 4)):
                    self._add_group(profile)
        for table in self._program.tables:
            if not table.has_const_entries and table.keys and table.name not in self._subject.tables_left_out:
                for _ in range(rng.choice((1, 3, 8, 8, self._subject.entries_at_most))):
                    self._add_entry(table)
        if self._subject.has_replication:
            self._replication()
        self.later()

    def later(self) -> None:
        """Makes changes between packets."""
        rng = self._rng
        for table in self._program.tables:
            for _ in range(0 if table.name in self._subject.tables_left_out else rng.randint(0, 3)):
                self._change_table(table)
        for profile in sorted({table.profile for table in self._program.tables if table.profile}):
            self._change_profile(profile)
        self.registers()
        for name, size in self._program.counters:
            if rng.random() < 0.3:
                cell = rng.choice((rng.randrange(size), rng.randrange(min(size, 8))))
                value = {"bytes": rng.randrange(1 << 32), "packets": rng.randrange(1 << 20)}
                self._call("bm_counter_write", name, cell, value)
            if rng.random() < 0.05:
                self._call("bm_counter_reset_all", name)
        for name, size in self._program.meters:
            if rng.random() < 0.5:
                self._call("bm_meter_set_rates", name, rng.randrange(size), self._rates())
        for name, width in self._program.value_sets:
            self._change_value_set(name, width)

    def registers(self) -> None:
        """Writes register cells between packets."""
        rng, subject = self._rng, self._subject
        for name, size, width in self._program.registers:
            if width > 64 or name in subject.times + subject.only_read:
                continue
            values = subject.registers.get(name, ())
            for _ in range(rng.randint(0, 6)):
                usual = values and rng.random() < 0.8
                value = rng.choice(values) if usual else self._choices.number(width)
                cells = [cell for cell in subject.ports if cell < size] or [0]
                cell = rng.choice((rng.choice(cells), rng.randrange(size)))
                self._call("bm_register_write", name, cell, value - (1 << 64) if value >> 63 else value)

    def _rates(self) -> list[dict[str, object]]:
        # Either so slow that nothing is refilled, or so fast that all is: the colours do not depend on time.
        if self._rng.random() < 0.2:
            return [{"rate": 1e6, "burst": 1_000_000}, {"rate": 2e6, "burst": 2_000_000}]
        burst = self._rng.randrange(1, 2000)
        return [{"rate": 1e-9, "burst": burst}, {"rate": 2e-9, "burst": burst + self._rng.randrange(2000)}]

    def _action(self, actions: tuple[Action, ...]) -> tuple[str, list[bytes]]:
        action = self._rng.choice(actions)
        for _ in range(2):  # rarely NoAction and actions without parameters
            if not action.parameters:
                action = self._rng.choice(actions)
        short = action.name.rsplit(".", 1)[-1]
        return action.name, [
            data_bytes(self._choices.argument(short, name, width), width) for name, width in action.parameters
        ]

    # ---- tables

    def _add_entry(self, table: Table) -> None:
        rng = self._rng
        key = key_of(table, self._choices)
        options = {"priority": rng.choice((0, 1, 2, 3, rng.randrange(1000)))} if table.has_priorities else {}
        member: int | None = None
        if table.kind == "simple":
            answer = self._call("bm_mt_add_entry", table.name, key, *self._action(table.actions), options)
        else:
            assert table.profile is not None
            members = self._members[table.profile]
            groups = [g for g, inside in self._groups[table.profile].items() if inside]
            if table.kind == "indirect_ws" and groups and rng.random() < 0.8:
                answer = self._call(
                    "bm_mt_indirect_ws_add_entry", table.name, key, rng.choice(groups), options
                )
            elif members:
                member = rng.choice(members)
                answer = self._call("bm_mt_indirect_add_entry", table.name, key, member, options)
            else:
                return
        if isinstance(answer, int):
            self._entries[table.name].append(answer)
        elif member is not None:
            self._stuck[str(table.profile)].add(member)

    def _change_table(self, table: Table) -> None:
        rng, entries = self._rng, self._entries[table.name]
        kind = rng.random()
        if table.kind == "simple" and (not table.keys or kind < 0.15):
            if not table.has_const_default:
                self._set_default(table)
        elif table.has_const_entries:
            return
        elif kind < 0.45 or not entries:
            if len(entries) < 3 * self._subject.entries_at_most:
                self._add_entry(table)
        elif kind < 0.6:
            entry = entries.pop(rng.randrange(len(entries)))
            method = "bm_mt_delete_entry" if table.kind == "simple" else "bm_mt_indirect_delete_entry"
            self._call(method, table.name, entry)
        elif kind < 0.75 and table.kind == "simple":
            name, data = self._action(table.actions)
            self._call("bm_mt_modify_entry", table.name, rng.choice(entries), name, data)
        elif table.has_counters and kind < 0.85:
            value = {"bytes": rng.randrange(1 << 20), "packets": rng.randrange(1 << 10)}
            self._call("bm_mt_write_counter", table.name, rng.choice(entries), value)
        elif table.meter is not None:
            self._call("bm_mt_set_meter_rates", table.name, rng.choice(entries), self._rates())
        elif kind > 0.98 and table.kind == "simple":
            self._call("bm_mt_reset_default_entry", table.name)

    def _set_default(self, table: Table) -> None:
        name, data = self._action(table.actions)
        if table.name in self._subject.defaults and self._rng.random() < 0.9:
            name, data = self._subject.defaults[table.name], []
        self._call("bm_mt_set_default_action", table.name, name, data)

    # ---- action profiles

    def _action_of_member(self, profile: str) -> tuple[str, list[bytes]]:
        return self._action(next(table.actions for table in self._program.tables if table.profile == profile))

    def _add_member(self, profile: str) -> None:
        if len(self._members[profile]) >= self._program.profiles[profile]:
            return
        answer = self._call("bm_mt_act_prof_add_member", profile, *self._action_of_member(profile))
        if isinstance(answer, int):
            self._members[profile].append(answer)

    def _add_group(self, profile: str) -> None:
        group = self._call("bm_mt_act_prof_create_group", profile)
        members = self._members[profile]
        if not isinstance(group, int):
            return
        inside = self._groups[profile].setdefault(group, [])
        for member in self._rng.sample(members, self._rng.randint(1, len(members))):
            self._call("bm_mt_act_prof_add_member_to_group", profile, member, group)
            inside.append(member)

    def _change_profile(self, profile: str) -> None:
        rng, members, groups = self._rng, self._members[profile], self._groups[profile]
        kind = rng.random()
        if kind < 0.2:
            self._add_member(profile)
        elif kind < 0.5 and members:
            name, data = self._action_of_member(profile)
            self._call("bm_mt_act_prof_modify_member", profile, rng.choice(members), name, data)
        elif kind < 0.75 and groups and members:
            group, member = rng.choice(list(groups)), rng.choice(members)
            if self._call("bm_mt_act_prof_add_member_to_group", profile, member, group) is None:
                groups[group].append(member)
        elif kind < 0.95 and groups:
            group = rng.choice(list(groups))
            if len(groups[group]) > 1:
                member = groups[group].pop(rng.randrange(len(groups[group])))
                self._call("bm_mt_act_prof_remove_member_from_group", profile, member, group)
        elif members:
            # Usually refused, because it is in use.
            member = rng.choice(members)
            is_stuck = member in self._stuck[profile]
            if not is_stuck and self._call("bm_mt_act_prof_delete_member", profile, member) is None:
                members.remove(member)

    # ---- value sets, replication

    def _change_value_set(self, name: str, width: int) -> None:
        rng, widths = self._rng, {**self._program.widths, **self._program.header_widths}
        seen = sorted(self._choices.seen.items())
        values = [value for field, many in seen if widths.get(field) == width for value in many]
        for _ in range(rng.randint(0, 2)):
            value = rng.choice(values) if values else self._choices.number(width)
            method = rng.choice(("bm_parse_vset_add", "bm_parse_vset_add", "bm_parse_vset_remove"))
            self._call(method, name, data_bytes(value, width))
        if rng.random() < 0.1:
            self._call("bm_parse_vset_clear", name)

    def _replication(self) -> None:
        rng, ports = self._rng, self._subject.ports
        for group in (1, 2, 3, 7):
            self._make(Call("simple_pre_lag", "bm_mc_mgrp_create", (0, group)))
            for _ in range(rng.randint(1, 3)):
                chosen = rng.sample(ports, rng.randint(1, min(4, len(ports))))
                # A bitmap of ports; the last digit is port 0.
                bitmap = "".join("1" if port in chosen else "0" for port in range(max(chosen), -1, -1))
                create = Call("simple_pre_lag", "bm_mc_node_create", (0, rng.randrange(1 << 16), bitmap, ""))
                node = self._make(create)
                self._make(Call("simple_pre_lag", "bm_mc_node_associate", (0, group, node)))
        for session in (1, 2, 3, 4, 5):
            # At least port 0: BMv2 accepts a session with neither port nor group.
            target = {"session": rng.choice(ports), "mgid": rng.choice((None, 1, 2, 3))}
            self._make(Call("simple_switch", "mirroring_session_add", (session, target)))
