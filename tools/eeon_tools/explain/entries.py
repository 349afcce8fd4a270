"""Writes the controller's planned entries into an engine switch through its control interface, without
network or P4Runtime.

`eeon_control.plan.intended` computes the entries of a switch; its names are P4Info aliases, which are the
last parts of the program's full names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from eeon_control.entries import CLONE_SESSIONS
from eeon_control.plan import Action, Entry, Exact, Lpm

from eeon_tools.errors import InputError
from eeon_tools.explain.source import Source

if TYPE_CHECKING:
    from eeon_engine import SwitchHandle
    from eeon_engine.values import ExactParam, LpmParam


def install(switch: SwitchHandle, source: Source, entries: Iterable[Entry]) -> int:
    """Writes entries into a switch that runs the program of `source` and has none. Returns their number."""
    count = 0
    for entry in entries:
        # A clone session only makes copies, which are not explained.
        if entry.table != CLONE_SESSIONS:
            _install(switch, source, entry)
            count += 1
    return count


def _install(switch: SwitchHandle, source: Source, entry: Entry) -> None:
    table = _full_name(source.tables, entry.table, "table")
    actions = source.actions(table)
    calls = [(_full_name(actions, action.name, "action"), _data(action)) for action in entry.actions]
    key = [_match(part) for part in entry.match]
    if entry.is_default:
        switch.mt_set_default_action(table, *calls[0])
    elif entry.selector:
        profile = source.profile(table)
        group = switch.mt_act_prof_create_group(profile)
        for name, data in calls:
            member = switch.mt_act_prof_add_member(profile, name, data)
            switch.mt_act_prof_add_member_to_group(profile, member, group)
        switch.mt_indirect_ws_add_entry(table, key, group)
    else:
        name, data = calls[0]
        switch.mt_add_entry(table, key, name, data)


def _full_name(names: Iterable[str], alias: str, kind: str) -> str:
    for name in names:
        if name == alias or name.endswith(f".{alias}"):
            return name
    raise InputError("program", alias, f"the program has no {kind} of this name; it is not the E-EON program")


def _match(part: Exact | Lpm) -> ExactParam | LpmParam:
    if isinstance(part, Lpm):
        return ("lpm", _bytes(part.value), part.prefix_length)
    return ("exact", _bytes(part.value))


def _data(action: Action) -> list[bytes]:
    return [_bytes(value) for _, value in action.params]


def _bytes(value: int) -> bytes:
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")
