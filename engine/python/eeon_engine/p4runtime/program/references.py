"""Whether the objects that a P4Info refers to are in it, and what two of them say of each other agrees."""

from collections.abc import Iterable

from ..errors import StatusError, invalid
from ..messages import p4i

_NEXT = "use the P4Info that p4c-bm2-ss wrote, or remove the reference too"


def check(info: p4i.P4Info) -> None:
    """Raises INVALID_ARGUMENT that names the first reference to an object that is not there, or that does not
    refer back."""
    tables = {table.preamble.id: table for table in info.tables}
    actions = {action.preamble.id: action for action in info.actions}
    profiles = {profile.preamble.id: profile for profile in info.action_profiles}
    direct: dict[int, p4i.DirectCounter | p4i.DirectMeter] = {
        **{counter.preamble.id: counter for counter in info.direct_counters},
        **{meter.preamble.id: meter for meter in info.direct_meters},
    }
    for table in info.tables:
        what = f"table '{table.preamble.name}'"
        _check_actions(what, table, actions)
        if table.implementation_id and table.implementation_id not in profiles:
            raise _dangling(what, "implementation_id", table.implementation_id, "action profile")
        _once(what, "direct_resource_ids", table.direct_resource_ids)
        for number in table.direct_resource_ids:
            if number not in direct:
                raise _dangling(what, "direct_resource_ids", number, "direct counter or direct meter")
            if direct[number].direct_table_id != table.preamble.id:
                raise _contradicted(what, "direct_resource_ids", f"'{direct[number].preamble.name}'")
        own = [direct[number] for number in table.direct_resource_ids]
        for kind, items in (
            ("counters", [item for item in own if isinstance(item, p4i.DirectCounter)]),
            ("meters", [item for item in own if isinstance(item, p4i.DirectMeter)]),
        ):
            if len(items) > 1:
                first, second = items[0].preamble.name, items[1].preamble.name
                raise invalid(f"P4Info: {what} has direct {kind} '{first}' and '{second}'; keep one of them")
    for item in direct.values():
        kind = "direct counter" if isinstance(item, p4i.DirectCounter) else "direct meter"
        what, of = f"{kind} '{item.preamble.name}'", item.direct_table_id
        if of not in tables:
            raise _dangling(what, "direct_table_id", of, "table")
        if item.preamble.id not in tables[of].direct_resource_ids:
            raise _contradicted(what, "direct_table_id", f"table '{tables[of].preamble.name}'")
    for profile in info.action_profiles:
        what = f"action profile '{profile.preamble.name}'"
        _once(what, "table_ids", profile.table_ids)
        for number in profile.table_ids:
            if number not in tables:
                raise _dangling(what, "table_ids", number, "table")
            if tables[number].implementation_id != profile.preamble.id:
                raise _contradicted(what, "table_ids", f"table '{tables[number].preamble.name}'")


def _check_actions(what: str, table: p4i.Table, actions: dict[int, p4i.Action]) -> None:
    own = [ref.id for ref in table.action_refs]
    _once(what, "action_refs", own)
    for number in own:
        if number not in actions:
            raise _dangling(what, "action_refs", number, "action")
    initial = table.initial_default_action
    for field, number in (
        ("const_default_action_id", table.const_default_action_id),
        ("initial_default_action", initial.action_id),
    ):
        if number and number not in own:
            raise _dangling(what, field, number, "action of its action_refs")
    if initial.action_id:
        action = actions[initial.action_id]
        params = {param.id for param in action.params}
        for argument in initial.arguments:
            if argument.param_id not in params:
                of = f"parameter of action '{action.preamble.name}'"
                raise _dangling(what, "initial_default_action", argument.param_id, of)


def _once(what: str, field: str, numbers: Iterable[int]) -> None:
    seen: set[int] = set()
    for number in numbers:
        if number in seen:
            raise invalid(f"P4Info: {what} has {_shown(number)} in {field} twice; give it once")
        seen.add(number)


def _dangling(what: str, field: str, number: int, kind: str) -> StatusError:
    return invalid(f"P4Info: {what} has {field} {_shown(number)}, and no {kind} has this id; {_NEXT}")


def _contradicted(what: str, field: str, other: str) -> StatusError:
    return invalid(f"P4Info: {what} names {other} in {field}, which does not name it in return; {_NEXT}")


def _shown(number: int) -> str:
    return f"{number} (0x{number:08x})"
