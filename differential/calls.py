"""Random sequences of control calls for a program: entries that its packets hit, groups, arrays, value sets.

Keys are made from fields of frames that will be sent. The handles come from the answers of both switches, so
a sequence is made call by call. Calls whose answers differ intentionally (docs/p4/behaviour.md) are not made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from .frames import Subject, Values, number
from .program import Action, Field, Program, Table
from .thrift import Call, match

Answer = object


@dataclass
class Handles:
    """The objects in the switches that later calls refer to."""

    entries: dict[str, list[int]] = field(default_factory=dict)
    members: dict[str, list[int]] = field(default_factory=dict)
    groups: dict[str, dict[int, list[int]]] = field(default_factory=dict)
    stuck: dict[str, set[int]] = field(default_factory=dict)
    """Members of refused entries: BMv2 treats them as used for ever."""


def data_bytes(value: int, width: int) -> bytes:
    """Returns a value in the bytes of its width, as BMv2 expects keys and action data."""
    return value.to_bytes((width + 7) // 8, "big")


class Calls:
    """Calls for one program."""

    def __init__(self, program: Program, subject: Subject) -> None:
        self._program, self._subject, self._values = program, subject, Values(program, subject)
        self._defaults, self._registers = dict(subject.defaults), dict(subject.registers)
        self._handles = Handles()

    def first(self, rng: Random, seen: dict[Field, list[int]], make: Callable[[Call], Answer]) -> None:
        """Makes the calls after the start of the switches."""
        for table in self._program.tables:
            if table.name in self._defaults:
                self._set_default(rng, table, make)
        profiles = {table.profile for table in self._program.tables if table.profile}
        for profile in sorted(profiles):
            for _ in range(rng.randint(3, 7)):
                self._add_member(rng, profile, make)
            if any(t.profile == profile and t.kind == "indirect_ws" for t in self._program.tables):
                for _ in range(rng.randint(1, 4)):
                    self._add_group(rng, profile, make)
        for table in self._program.tables:
            if not table.has_const_entries and table.keys and table.name not in self._subject.tables_left_out:
                for _ in range(rng.choice((1, 3, 8, 8, self._subject.entries_at_most))):
                    self._add_entry(rng, table, seen, make)
        if self._subject.has_replication:
            self._replication(rng, make)
        self.later(rng, seen, make)

    def later(self, rng: Random, seen: dict[Field, list[int]], make: Callable[[Call], Answer]) -> None:
        """Makes changes between packets."""
        for table in self._program.tables:
            for _ in range(0 if table.name in self._subject.tables_left_out else rng.randint(0, 3)):
                self._change_table(rng, table, seen, make)
        for profile in sorted({table.profile for table in self._program.tables if table.profile}):
            self._change_profile(rng, profile, make)
        self.registers(rng, make)
        for name, size in self._program.counters:
            if rng.random() < 0.3:
                cell = rng.choice((rng.randrange(size), rng.randrange(min(size, 8))))
                value = {"bytes": rng.randrange(1 << 32), "packets": rng.randrange(1 << 20)}
                make(Call("standard", "bm_counter_write", (0, name, cell, value)))
            if rng.random() < 0.05:
                make(Call("standard", "bm_counter_reset_all", (0, name)))
        for name, size in self._program.meters:
            if rng.random() < 0.5:
                make(Call("standard", "bm_meter_set_rates", (0, name, rng.randrange(size), self._rates(rng))))
        for name, width in self._program.value_sets:
            self._change_value_set(rng, name, width, seen, make)

    def registers(self, rng: Random, make: Callable[[Call], Answer]) -> None:
        """Writes register cells between packets."""
        for name, size, width in self._program.registers:
            values = self._registers.get(name, ())
            if width <= 64 and name not in self._subject.times + self._subject.only_read:
                for _ in range(rng.randint(0, 6)):
                    self._write_register(rng, name, size, width, values, make)

    def _rates(self, rng: Random) -> list[dict[str, object]]:
        # Either so slow that nothing is refilled, or so fast that all is: the colours do not depend on time.
        if rng.random() < 0.2:
            return [{"rate": 1e6, "burst": 1_000_000}, {"rate": 2e6, "burst": 2_000_000}]
        burst = rng.randrange(1, 2000)
        return [{"rate": 1e-9, "burst": burst}, {"rate": 2e-9, "burst": burst + rng.randrange(2000)}]

    def _action(self, rng: Random, actions: tuple[Action, ...]) -> tuple[str, list[bytes]]:
        action = rng.choice(actions)
        for _ in range(2):  # rarely NoAction and actions without parameters
            if not action.parameters:
                action = rng.choice(actions)
        short = action.name.rsplit(".", 1)[-1]
        return action.name, [
            data_bytes(self._values.argument(rng, short, name, width), width)
            for name, width in action.parameters
        ]

    def _key(self, rng: Random, table: Table, seen: dict[Field, list[int]]) -> list[dict[str, object]]:
        return [
            self._match(rng, kind, self._values.key(rng, seen, target, width), width)
            for kind, target, width in table.keys
        ]

    def _match(self, rng: Random, kind: str, value: int, width: int) -> dict[str, object]:
        top = (1 << width) - 1
        if kind == "lpm":
            length = rng.choice((0, 1, width // 2, width - 1, width, rng.randint(0, width)))
            value &= top << (width - length) & top
            return match("lpm", data_bytes(value, width), length)
        if kind == "ternary":
            mask = rng.choice((0, top, top << (width // 2) & top, rng.getrandbits(width), 1, top >> 1))
            return match("ternary", data_bytes(value & mask, width), data_bytes(mask, width))
        if kind == "range":
            spread = rng.choice((0, 1, 16, 1 << (width // 2), top))
            low, high = max(0, value - rng.randint(0, spread)), min(top, value + rng.randint(0, spread))
            return match("range", data_bytes(low, width), data_bytes(high, width))
        return match("exact", data_bytes(value, width))

    def _options(self, rng: Random, table: Table) -> dict[str, int]:
        return {"priority": rng.choice((0, 1, 2, 3, rng.randrange(1000)))} if table.has_priorities else {}

    def _add_entry(
        self, rng: Random, table: Table, seen: dict[Field, list[int]], make: Callable[[Call], Answer]
    ) -> None:
        key, options = self._key(rng, table, seen), self._options(rng, table)
        member: int | None = None
        if table.kind == "simple":
            name, data = self._action(rng, table.actions)
            call = Call("standard", "bm_mt_add_entry", (0, table.name, key, name, data, options))
        else:
            assert table.profile is not None
            members = self._handles.members.get(table.profile, [])
            groups = [g for g, inside in self._handles.groups.get(table.profile, {}).items() if inside]
            if table.kind == "indirect_ws" and groups and rng.random() < 0.8:
                arguments = (0, table.name, key, rng.choice(groups), options)
                call = Call("standard", "bm_mt_indirect_ws_add_entry", arguments)
            elif members:
                member = rng.choice(members)
                call = Call("standard", "bm_mt_indirect_add_entry", (0, table.name, key, member, options))
            else:
                return
        answer = make(call)
        if isinstance(answer, int):
            self._handles.entries.setdefault(table.name, []).append(answer)
        elif member is not None:
            self._handles.stuck.setdefault(str(table.profile), set()).add(member)

    def _change_table(
        self, rng: Random, table: Table, seen: dict[Field, list[int]], make: Callable[[Call], Answer]
    ) -> None:
        entries = self._handles.entries.get(table.name, [])
        kind = rng.random()
        if table.kind == "simple" and (not table.keys or kind < 0.15):
            if not table.has_const_default:
                self._set_default(rng, table, make)
        elif table.has_const_entries:
            return
        elif kind < 0.45 or not entries:
            if len(entries) < 3 * self._subject.entries_at_most:
                self._add_entry(rng, table, seen, make)
        elif kind < 0.6:
            entry = entries.pop(rng.randrange(len(entries)))
            method = "bm_mt_delete_entry" if table.kind == "simple" else "bm_mt_indirect_delete_entry"
            make(Call("standard", method, (0, table.name, entry)))
        elif kind < 0.75 and table.kind == "simple":
            name, data = self._action(rng, table.actions)
            arguments: tuple[object, ...] = (0, table.name, rng.choice(entries), name, data)
            make(Call("standard", "bm_mt_modify_entry", arguments))
        elif table.has_counters and kind < 0.85:
            value = {"bytes": rng.randrange(1 << 20), "packets": rng.randrange(1 << 10)}
            make(Call("standard", "bm_mt_write_counter", (0, table.name, rng.choice(entries), value)))
        elif table.meter is not None:
            arguments = (0, table.name, rng.choice(entries), self._rates(rng))
            make(Call("standard", "bm_mt_set_meter_rates", arguments))
        elif kind > 0.98 and table.kind == "simple":
            make(Call("standard", "bm_mt_reset_default_entry", (0, table.name)))

    def _set_default(self, rng: Random, table: Table, make: Callable[[Call], Answer]) -> None:
        name, data = self._action(rng, table.actions)
        if table.name in self._defaults and rng.random() < 0.9:
            name, data = self._defaults[table.name], []
        make(Call("standard", "bm_mt_set_default_action", (0, table.name, name, data)))

    def _add_member(self, rng: Random, profile: str, make: Callable[[Call], Answer]) -> None:
        if len(self._handles.members.get(profile, [])) >= self._program.profiles[profile]:
            return
        actions = next(table.actions for table in self._program.tables if table.profile == profile)
        name, data = self._action(rng, actions)
        answer = make(Call("standard", "bm_mt_act_prof_add_member", (0, profile, name, data)))
        if isinstance(answer, int):
            self._handles.members.setdefault(profile, []).append(answer)

    def _add_group(self, rng: Random, profile: str, make: Callable[[Call], Answer]) -> None:
        group = make(Call("standard", "bm_mt_act_prof_create_group", (0, profile)))
        members = self._handles.members.get(profile, [])
        if not isinstance(group, int):
            return
        inside = self._handles.groups.setdefault(profile, {}).setdefault(group, [])
        for member in rng.sample(members, rng.randint(1, len(members))):
            make(Call("standard", "bm_mt_act_prof_add_member_to_group", (0, profile, member, group)))
            inside.append(member)

    def _change_profile(self, rng: Random, profile: str, make: Callable[[Call], Answer]) -> None:
        members = self._handles.members.get(profile, [])
        groups = self._handles.groups.get(profile, {})
        kind = rng.random()
        if kind < 0.2:
            self._add_member(rng, profile, make)
        elif kind < 0.5 and members:
            actions = next(table.actions for table in self._program.tables if table.profile == profile)
            name, data = self._action(rng, actions)
            arguments: tuple[object, ...] = (0, profile, rng.choice(members), name, data)
            make(Call("standard", "bm_mt_act_prof_modify_member", arguments))
        elif kind < 0.75 and groups and members:
            group, member = rng.choice(list(groups)), rng.choice(members)
            answer = make(Call("standard", "bm_mt_act_prof_add_member_to_group", (0, profile, member, group)))
            if answer is None:
                groups[group].append(member)
        elif kind < 0.95 and groups:
            group = rng.choice(list(groups))
            if len(groups[group]) > 1:
                member = groups[group].pop(rng.randrange(len(groups[group])))
                make(Call("standard", "bm_mt_act_prof_remove_member_from_group", (0, profile, member, group)))
        elif members:
            # Usually refused, because it is in use.
            member = rng.choice(members)
            if member not in self._handles.stuck.get(profile, ()):
                answer = make(Call("standard", "bm_mt_act_prof_delete_member", (0, profile, member)))
                if answer is None:
                    members.remove(member)

    def _write_register(
        self,
        rng: Random,
        name: str,
        size: int,
        width: int,
        values: tuple[int, ...],
        make: Callable[[Call], Answer],
    ) -> None:
        value = rng.choice(values) if values and rng.random() < 0.8 else number(rng, width, [])
        cells = [cell for cell in self._subject.ports if cell < size] or [0]
        cell = rng.choice((rng.choice(cells), rng.randrange(size)))
        signed = value - (1 << 64) if value >> 63 else value
        make(Call("standard", "bm_register_write", (0, name, cell, signed)))

    def _change_value_set(
        self,
        rng: Random,
        name: str,
        width: int,
        seen: dict[Field, list[int]],
        make: Callable[[Call], Answer],
    ) -> None:
        widths = {**self._program.widths, **self._program.header_widths}
        values = [
            value for field, many in sorted(seen.items()) if widths.get(field) == width for value in many
        ]
        for _ in range(rng.randint(0, 2)):
            value = data_bytes(rng.choice(values) if values else number(rng, width, []), width)
            method = rng.choice(("bm_parse_vset_add", "bm_parse_vset_add", "bm_parse_vset_remove"))
            make(Call("standard", method, (0, name, value)))
        if rng.random() < 0.1:
            make(Call("standard", "bm_parse_vset_clear", (0, name)))

    def _replication(self, rng: Random, make: Callable[[Call], Answer]) -> None:
        for group in (1, 2, 3, 7):
            make(Call("simple_pre_lag", "bm_mc_mgrp_create", (0, group)))
            for _ in range(rng.randint(1, 3)):
                ports = rng.sample(self._subject.ports, rng.randint(1, min(4, len(self._subject.ports))))
                # A bitmap of ports; the last digit is port 0.
                bitmap = "".join("1" if port in ports else "0" for port in range(max(ports), -1, -1))
                node = make(
                    Call("simple_pre_lag", "bm_mc_node_create", (0, rng.randrange(1 << 16), bitmap, ""))
                )
                make(Call("simple_pre_lag", "bm_mc_node_associate", (0, group, node)))
        for session in (1, 2, 3, 4, 5):
            # At least port 0: BMv2 accepts a session with neither port nor group.
            target = {"session": rng.choice(self._subject.ports), "mgid": rng.choice((None, 1, 2, 3))}
            make(Call("simple_switch", "mirroring_session_add", (session, target)))
