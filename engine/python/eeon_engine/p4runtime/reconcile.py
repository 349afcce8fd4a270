"""Transfer of one program's state to another (P4Runtime 1.5 §14: COMMIT, RECONCILE_AND_COMMIT).

The state is converted to updates, which are tried on a temporary switch, and accepted or refused as a whole.
Entries, members, groups, replication, value sets, meters and digests are forwarding state, which must be
kept. Counts and register cells are not: those without a place in the new program are dropped, and the drop is
logged.
"""

import logging
from collections.abc import Iterator

from .entities.forwarding import Forwarding
from .errors import StatusError, invalid
from .messages import p4r
from .program.schema import Schema
from .renumbering import Renumbering

_LOG = logging.getLogger(__name__)

# Maximum number of refusals in a message.
_NAMED = 3

_LEFT_BEHIND = frozenset({"counter_entry", "direct_counter_entry", "register_entry"})


def snapshot(forwarding: Forwarding) -> list[p4r.Update]:
    """Returns the updates that give a new switch this state, in an order in which they are accepted."""
    return [
        *_inserts(forwarding),
        *_defaults(forwarding),
        *(p4r.Update(type=p4r.Update.MODIFY, entity=entity) for entity in _cells(forwarding)),
    ]


def _inserts(forwarding: Forwarding) -> Iterator[p4r.Update]:
    entries = p4r.TableEntry(counter_data=p4r.CounterData(), meter_config=p4r.MeterConfig())
    for asked in (
        p4r.Entity(action_profile_member=p4r.ActionProfileMember()),
        p4r.Entity(action_profile_group=p4r.ActionProfileGroup()),
        p4r.Entity(table_entry=entries),
        p4r.Entity(packet_replication_engine_entry=p4r.PacketReplicationEngineEntry()),
        p4r.Entity(digest_entry=p4r.DigestEntry()),
    ):
        for entity in forwarding.read_whole(asked):
            # No client can insert the program's own entries.
            if not entity.table_entry.is_const:
                yield p4r.Update(type=p4r.Update.INSERT, entity=entity)


def _defaults(forwarding: Forwarding) -> Iterator[p4r.Update]:
    """Yields the default entries that a client has set; the new program defines the others."""
    for entity in forwarding.read_whole(p4r.Entity(table_entry=p4r.TableEntry(is_default_action=True))):
        if forwarding.tables.is_default_set(entity.table_entry.table_id):
            yield p4r.Update(type=p4r.Update.MODIFY, entity=entity)


def _cells(forwarding: Forwarding) -> Iterator[p4r.Entity]:
    """Yields the cells that differ from a switch's initial state."""
    for asked in (
        p4r.Entity(counter_entry=p4r.CounterEntry()),
        p4r.Entity(meter_entry=p4r.MeterEntry()),
        p4r.Entity(register_entry=p4r.RegisterEntry()),
        p4r.Entity(value_set_entry=p4r.ValueSetEntry()),
    ):
        for chunk in forwarding.read(asked):
            if not chunk.is_initial:
                yield from filter(_was_set, chunk.entities())
    # The direct resources of other entries are part of these entries.
    for table_id in forwarding.schema.tables:
        yield from filter(_was_set, forwarding.tables.read_initial_resources(table_id))


def _was_set(entity: p4r.Entity) -> bool:
    kind = entity.WhichOneof("entity")
    cell = getattr(entity, kind or "")
    match kind:
        case "counter_entry" | "direct_counter_entry":
            return bool(cell.data.packet_count or cell.data.byte_count)
        case "meter_entry" | "direct_meter_entry":
            return bool(cell.HasField("config"))
        case "value_set_entry":
            return len(cell.members) > 0
    return bool(cell.data.bool or any(cell.data.bitstring) or any(cell.data.enum_value))


def kept(updates: list[p4r.Update], schema: Schema, trial: Forwarding) -> list[p4r.Update]:
    """Returns the updates that `trial`, a switch with the new program, accepts; raises INVALID_ARGUMENT with
    the state that it cannot keep. `schema` is the schema of the updates."""
    taken, refused, left = [], [], 0
    renumbering = Renumbering(schema, trial.schema)
    for update in updates:
        try:
            adapted = _without_counts(renumbering.of(update), trial.schema)
            trial.write(adapted)
        except StatusError as error:
            if update.entity.WhichOneof("entity") in _LEFT_BEHIND:
                left += 1
            else:
                refused.append(error.message)
        else:
            taken.append(adapted)
    if refused:
        more = f"; and {len(refused) - _NAMED} more" if len(refused) > _NAMED else ""
        raise invalid(
            f"{len(refused)} of {len(updates)} parts of the switch's state do not fit the new program: "
            + "; ".join(refused[:_NAMED])
            + more
        )
    if left:
        _LOG.warning("%d counts and register cells do not fit the new program and are not carried over", left)
    return taken


def _without_counts(update: p4r.Update, schema: Schema) -> p4r.Update:
    """Returns the update, without the count if the entry's table has no counter in the new program."""
    if update.entity.WhichOneof("entity") != "table_entry":
        return update
    table = schema.tables.get(update.entity.table_entry.table_id)
    if table is None or table.direct_counter is not None:
        return update
    adapted = p4r.Update()
    adapted.CopyFrom(update)
    adapted.entity.table_entry.ClearField("counter_data")
    return adapted
