"""Conversion between `Entry` and P4Runtime's TableEntry, by the names and ids of a P4Info.

Byte strings are canonical (P4Runtime specification 1.3, section 8.4: no leading zero bytes), because switches
answer in that form; otherwise, differences would never end. Numbers that do not fit their field are refused
here, before anything is sent.
"""

from collections.abc import Iterable, Iterator, Mapping

from finsy import P4Schema
from finsy.p4schema import P4MatchType, P4Table
from finsy.proto import p4r

from eeon_control.entries import CLONE_SESSIONS, NO_PORT, WATCH_PORT
from eeon_control.errors import FabricError
from eeon_control.plan import Action, Entry, Exact, Lpm

_LARGEST_WEIGHT = 1024  # limit of a member's copies: no selector holds more
_PORT = "port"
_PORT_BITS = 32  # P4Runtime's SDN port numbers


def encode(entry: Entry, schema: P4Schema, *, watches: bool) -> p4r.TableEntry:
    """Returns the P4Runtime message of an entry. `watches`: next hops of a group watch their ports.

    Raises FabricError if the program has no such table or field.
    """
    try:
        table = schema.tables[entry.table]
        message = p4r.TableEntry(table_id=table.id, is_default_action=entry.is_default)
        for part in entry.match:
            field = table.match_fields[part.field]
            match = message.match.add(field_id=field.id)
            if isinstance(part, Lpm):
                if part.prefix_length == 0:
                    del message.match[-1]  # an omitted field is a prefix of length 0
                    continue
                match.lpm.value = _bytes(part.value, field.bitwidth, entry, part.field)
                match.lpm.prefix_len = part.prefix_length
            else:
                match.exact.value = _bytes(part.value, field.bitwidth, entry, part.field)
        if entry.selector:
            for action in entry.actions:
                one = message.action.action_profile_action_set.action_profile_actions.add(weight=1)
                params = dict(action.params)
                watched = params.pop(WATCH_PORT, _own_port(params, len(entry.actions), watches))
                one.action.CopyFrom(_encode_action(Action(action.name, tuple(params.items())), entry, schema))
                if watched != NO_PORT:
                    one.watch_port = _bytes(watched, _PORT_BITS, entry, WATCH_PORT)
        else:
            message.action.action.CopyFrom(_encode_action(entry.actions[0], entry, schema))
    except (KeyError, ValueError) as error:
        raise FabricError(f"the program does not fit this controller: table {entry.table}: {error}") from None
    return message


def decode(message: p4r.TableEntry, schema: P4Schema, *, watches: bool) -> Entry:
    """Returns the entry that a switch reported. `watches`: next hops of a group should watch their ports, and
    one that does not is a different action. Raises FabricError for objects unknown to the program.
    """
    try:
        table = schema.tables[message.table_id]
        match: list[Exact | Lpm] = []
        given = {field.field_id: field for field in message.match}
        for field in table.match_fields:
            part = given.get(field.id)
            if part is not None and part.HasField("exact"):
                match.append(Exact(field.alias, int.from_bytes(part.exact.value, "big")))
            elif part is not None and part.HasField("lpm"):
                value = int.from_bytes(part.lpm.value, "big")
                match.append(Lpm(field.alias, value, part.lpm.prefix_len, field.bitwidth))
            elif part is None and field.match_type is P4MatchType.LPM and not message.is_default_action:
                match.append(Lpm(field.alias, 0, 0, field.bitwidth))
        actions, selector = _decode_actions(message.action, schema, watches)
        return Entry(table.alias, tuple(match), actions, message.is_default_action, selector)
    except (KeyError, ValueError) as error:
        raise FabricError(f"the switch reported an entry that does not fit the program: {error}") from None


def table_requests(table: P4Table) -> Iterator[p4r.Entity]:
    """Yields the read requests for a table: all entries, and the default action if it is writable."""
    if table.match_fields:
        yield p4r.Entity(table_entry=p4r.TableEntry(table_id=table.id))
    if table.const_default_action is None and table.action_profile is None:
        yield p4r.Entity(table_entry=p4r.TableEntry(table_id=table.id, is_default_action=True))


def profile_requests(profile_id: int) -> tuple[p4r.Entity, p4r.Entity]:
    """Returns the read requests for the members and for the groups of an action profile."""
    return (
        p4r.Entity(action_profile_member=p4r.ActionProfileMember(action_profile_id=profile_id)),
        p4r.Entity(action_profile_group=p4r.ActionProfileGroup(action_profile_id=profile_id)),
    )


def program_defaults(schema: P4Schema, tables: Iterable[str]) -> list[Entry]:
    """Returns the program's own default actions of tables whose default is writable."""
    entries = []
    for name in tables:
        if name == CLONE_SESSIONS:
            continue  # not a table
        table = schema.tables[name]
        message = table.pbuf.initial_default_action
        if table.const_default_action is None and table.action_profile is None and message.action_id:
            action = schema.actions[message.action_id]
            values = {part.param_id: int.from_bytes(part.value, "big") for part in message.arguments}
            params = tuple((param.name, values.get(param.id, 0)) for param in action.params)
            entries.append(Entry(table.alias, (), (Action(action.alias, params),), is_default=True))
    return entries


def _decode_actions(
    message: p4r.TableAction, schema: P4Schema, watches: bool
) -> tuple[tuple[Action, ...], bool]:
    match message.WhichOneof("type"):
        case "action":
            return (decode_action(message.action, schema),), False
        case "action_profile_action_set":
            members = message.action_profile_action_set.action_profile_actions
            counts = [copies(member.weight) for member in members]
            repeated = [
                _decode_member(member, sum(counts), schema, watches)
                for member, count in zip(members, counts, strict=True)
                for _ in range(count)
            ]
            return tuple(sorted(repeated)), True
        case "action_profile_group_id":
            return (Action("@group", (("id", message.action_profile_group_id),)),), True
        case "action_profile_member_id":
            return (Action("@member", (("id", message.action_profile_member_id),)),), True
        case _:
            return (), False


def copies(weight: int) -> int:
    """Returns how often a group has a member of this weight."""
    return max(1, min(weight, _LARGEST_WEIGHT))


def _own_port(params: Mapping[str, int], members: int, watches: bool) -> int:
    """Returns the port that a member should watch: its own if there are other next hops, so that the switch
    skips it while the link is down (P4Runtime specification 1.3, section 9.2.1)."""
    return params.get(_PORT, NO_PORT) if watches and members > 1 else NO_PORT


def _decode_member(member: p4r.ActionProfileAction, members: int, schema: P4Schema, watches: bool) -> Action:
    action = decode_action(member.action, schema)
    watched = int.from_bytes(member.watch_port, "big") if member.watch_port else NO_PORT
    if watched == _own_port(dict(action.params), members, watches):
        return action
    return Action(action.name, (*action.params, (WATCH_PORT, watched)))


def _encode_action(action: Action, entry: Entry, schema: P4Schema) -> p4r.Action:
    known = schema.tables[entry.table].actions[action.name]
    message = p4r.Action(action_id=known.id)
    if {param.name for param in known.params} != {name for name, _ in action.params}:
        raise ValueError(
            f"action {action.name} has parameters {', '.join(param.name for param in known.params)}"
        )
    for name, value in action.params:
        param = known.params[name]
        message.params.add(param_id=param.id, value=_bytes(value, param.bitwidth, entry, name))
    return message


def decode_action(message: p4r.Action, schema: P4Schema) -> Action:
    """Returns the action of a message. Raises KeyError or ValueError if the program does not have it."""
    known = schema.actions[message.action_id]
    values = {param.param_id: int.from_bytes(param.value, "big") for param in message.params}
    return Action(known.alias, tuple((param.name, values.get(param.id, 0)) for param in known.params))


def _bytes(value: int, width: int, entry: Entry, field: str) -> bytes:
    if not 0 <= value < 1 << width:
        raise FabricError(
            f"table {entry.table}, {entry.match_text}: {field} is {value}, which does not fit {width} bits"
        )
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")
