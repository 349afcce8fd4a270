"""Whether the objects that a P4Info refers to are in it, and what two of them say of each other agrees."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from ..errors import StatusError, invalid
from ..messages import p4i

_NEXT = "use the P4Info that p4c-bm2-ss wrote, or remove the reference too"
_T = TypeVar("_T")


def check(info: p4i.P4Info) -> None:
    """Raises INVALID_ARGUMENT for the first reference to a missing object, or not made in return."""
    tables = {table.preamble.id: table for table in info.tables}
    actions = {action.preamble.id: action for action in info.actions}
    profiles = {profile.preamble.id: profile for profile in info.action_profiles}
    counters = {counter.preamble.id: counter for counter in info.direct_counters}
    meters = {meter.preamble.id: meter for meter in info.direct_meters}
    direct: dict[int, p4i.DirectCounter | p4i.DirectMeter] = {**counters, **meters}
    for table in info.tables:
        what = f"table '{table.preamble.name}'"
        _check_actions(what, table, actions)
        implementation = [table.implementation_id] if table.implementation_id else []
        _found(what, "implementation_id", implementation, profiles, "action profile")
        field, kind = "direct_resource_ids", "direct counter or direct meter"
        for item in _found(what, field, table.direct_resource_ids, direct, kind):
            if item.direct_table_id != table.preamble.id:
                raise _contradicted(what, field, f"'{item.preamble.name}'")
        for kind, items in (("counters", counters), ("meters", meters)):
            own = [items[number].preamble.name for number in table.direct_resource_ids if number in items]
            if len(own) > 1:
                raise invalid(f"P4Info: {what} has direct {kind} '{own[0]}' and '{own[1]}'; keep one of them")
    for item in direct.values():
        kind = "direct counter" if isinstance(item, p4i.DirectCounter) else "direct meter"
        what = f"{kind} '{item.preamble.name}'"
        for table in _found(what, "direct_table_id", [item.direct_table_id], tables, "table"):
            if item.preamble.id not in table.direct_resource_ids:
                raise _contradicted(what, "direct_table_id", f"table '{table.preamble.name}'")
    for profile in info.action_profiles:
        what = f"action profile '{profile.preamble.name}'"
        for table in _found(what, "table_ids", profile.table_ids, tables, "table"):
            if table.implementation_id != profile.preamble.id:
                raise _contradicted(what, "table_ids", f"table '{table.preamble.name}'")


def _check_actions(what: str, table: p4i.Table, actions: dict[int, p4i.Action]) -> None:
    refs = [ref.id for ref in table.action_refs]
    own = dict(zip(refs, _found(what, "action_refs", refs, actions, "action"), strict=True))
    initial = table.initial_default_action
    for field, number in (
        ("const_default_action_id", table.const_default_action_id),
        ("initial_default_action", initial.action_id),
    ):
        _found(what, field, [number] if number else [], own, "action of its action_refs")
    if initial.action_id:
        action = own[initial.action_id]
        params = {param.id: param for param in action.params}
        given = [argument.param_id for argument in initial.arguments]
        kind = f"parameter of action '{action.preamble.name}'"
        _found(what, "initial_default_action", given, params, kind)


def _found(what: str, field: str, numbers: Iterable[int], objects: Mapping[int, _T], kind: str) -> list[_T]:
    """Returns the objects of a kind with these ids. Refuses an id that no object has, or that comes twice."""
    found: dict[int, _T] = {}
    for number in numbers:
        if number in found:
            raise invalid(f"P4Info: {what} has {_shown(number)} in {field} twice; give it once")
        if number not in objects:
            raise invalid(f"P4Info: {what} has {field} {_shown(number)}, and no {kind} has this id; {_NEXT}")
        found[number] = objects[number]
    return list(found.values())


def _contradicted(what: str, field: str, other: str) -> StatusError:
    return invalid(f"P4Info: {what} names {other} in {field}, which does not name it in return; {_NEXT}")


def _shown(number: int) -> str:
    return f"{number} (0x{number:08x})"
