"""Reads a switch's routes over P4Runtime. Groups and members with ids, which only other controllers write,
are named by their ids."""

from finsy.proto import p4r

from eeon_control.entries import Action, Lpm
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.table_entries import copies, decode, decode_action
from eeon_control.plan.classes import is_per_packet
from eeon_control.plan.routes import ADMIT, ADMITTED
from eeon_control.routing import ROUTE_TABLES, Route, SwitchRoutes, in_order_of_use

_SEED_TABLE = "switch_config"


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
            members = _in_order(session, message.action) or entry.actions
            routes.append(Route(entry.table, entry.match[0], members, _watching(session, message.action)))
    return SwitchRoutes(in_order_of_use(routes), seed, admission, admits_others, per_packet)


def _in_order(session: P4RuntimeSession, action: p4r.TableAction) -> tuple[Action, ...]:
    """Returns the members of a one-shot group in their order; none for another action."""
    return tuple(
        copy
        for one in action.action_profile_action_set.action_profile_actions
        for copy in [decode_action(one.action, session.schema)] * copies(one.weight)
    )


def _watching(session: P4RuntimeSession, action: p4r.TableAction) -> frozenset[Action]:
    """Returns the members of a one-shot group that watch their own egress port."""
    found = set()
    for one in action.action_profile_action_set.action_profile_actions:
        member = decode_action(one.action, session.schema)
        watched = int.from_bytes(one.watch_port, "big") if one.watch_port else None
        if watched is not None and watched == dict(member.params).get("port"):
            found.add(member)
    return frozenset(found)
