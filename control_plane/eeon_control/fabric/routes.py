"""Reads a switch's routes over P4Runtime: one-shot groups, and groups and members with ids."""

from finsy.proto import p4r

from eeon_control.entries import Action, Lpm
from eeon_control.errors import FabricError
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.table_entries import copies, decode, decode_action, profile_requests
from eeon_control.plan.classes import is_per_packet
from eeon_control.plan.routes import ADMIT, ADMITTED
from eeon_control.routing import ROUTE_TABLES, Route, SwitchRoutes, in_order_of_use

_SELECTOR = "ecmp_selector"
_SEED_TABLE = "switch_config"

_Members = dict[int, Action]
_Groups = dict[int, list[tuple[int, int]]]  # id -> (member, weight)


async def routes_of(session: P4RuntimeSession) -> SwitchRoutes:
    """Reads routes, admission and ECMP seed of one switch. Raises FabricError."""
    schema = session.schema
    wanted = [p4r.TableEntry(table_id=schema.tables[name].id) for name in (*ROUTE_TABLES.values(), ADMIT)]
    defaults = [schema.tables[name].id for name in (_SEED_TABLE, ADMIT)]
    wanted += [p4r.TableEntry(table_id=table, is_default_action=True) for table in defaults]
    messages = [
        entity.table_entry
        async for entity in session.read([p4r.Entity(table_entry=entry) for entry in wanted])
        if entity.HasField("table_entry")
    ]
    kinds = {message.action.WhichOneof("type") for message in messages}
    has_ids = kinds & {"action_profile_group_id", "action_profile_member_id"}
    members, groups = await _profile(session) if has_ids else ({}, {})
    routes, seed, per_packet = [], 1, False  # the program's default of switch_config
    admission: dict[tuple[int, int], bool] = {}
    admits_others = False
    for message in messages:
        entry = decode(message, schema, watches=False)
        if entry.table == ADMIT:
            admits = all(action.name == ADMITTED for action in entry.actions)
            if entry.is_default:
                admits_others = admits
            else:
                port, dst_mac = (part.value for part in entry.match)
                admission[port, dst_mac] = admits
        elif entry.table == _SEED_TABLE:
            for action in entry.actions:
                seed, per_packet = dict(action.params).get("seed", seed), is_per_packet(action)
        elif not entry.is_default and isinstance(entry.match[0], Lpm):
            chosen, fault = _members(session, message.action, members, groups)
            watching = _watching(session, message.action)
            routes.append(Route(entry.table, entry.match[0], chosen, fault, watching))
    return SwitchRoutes(in_order_of_use(routes), seed, admission, admits_others, per_packet)


def _members(
    session: P4RuntimeSession, action: p4r.TableAction, members: _Members, groups: _Groups
) -> tuple[tuple[Action, ...], str | None]:
    """Returns the actions of an entry in its order, and a text about missing ones."""
    match action.WhichOneof("type"):
        case "action":
            return (_action(session, action.action),), None
        case "action_profile_action_set":
            given = action.action_profile_action_set.action_profile_actions
            return tuple(
                copy for one in given for copy in [_action(session, one.action)] * copies(one.weight)
            ), None
        case "action_profile_member_id":
            shares = [(action.action_profile_member_id, 1)]
        case "action_profile_group_id":
            group = action.action_profile_group_id
            if group not in groups:
                return (), f"group {group} is missing"
            shares = groups[group]
        case _:
            return (), None
    missing = [str(member) for member, _ in shares if member not in members]
    found = tuple(
        copy for member, weight in shares if member in members for copy in [members[member]] * copies(weight)
    )
    return found, f"member {', '.join(missing)} is missing" if missing else None


def _watching(session: P4RuntimeSession, action: p4r.TableAction) -> frozenset[Action]:
    """Returns the members of a one-shot group that watch their own egress port."""
    found = set()
    for one in action.action_profile_action_set.action_profile_actions:
        member = _action(session, one.action)
        if one.watch_port and int.from_bytes(one.watch_port, "big") == dict(member.params).get("port"):
            found.add(member)
    return frozenset(found)


async def _profile(session: P4RuntimeSession) -> tuple[_Members, _Groups]:
    profile = session.schema.action_profiles[_SELECTOR].id
    members: _Members = {}
    groups: _Groups = {}
    async for entity in session.read(profile_requests(profile)):
        if entity.HasField("action_profile_member"):
            member = entity.action_profile_member
            members[member.member_id] = _action(session, member.action)
        elif entity.HasField("action_profile_group"):
            group = entity.action_profile_group
            groups[group.group_id] = [(one.member_id, one.weight) for one in group.members]
    return members, groups


def _action(session: P4RuntimeSession, message: p4r.Action) -> Action:
    try:
        return decode_action(message, session.schema)
    except (KeyError, ValueError) as error:
        raise FabricError(
            f"{session.name}: reported an action that the program does not have: {error}"
        ) from None
