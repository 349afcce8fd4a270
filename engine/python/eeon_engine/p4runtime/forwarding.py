"""All P4Runtime state of one switch under one program, and which part an entity belongs to.

A committed program has one over the real switch. A program that is saved but not committed, or that has to
take over the entries of another, has one over a switch made for the purpose, so that what is refused is
refused before the real switch is touched.
"""

from collections.abc import Iterator
from typing import Any

from finsy.proto import p4r, rpc_code

from ..control import SwitchControl
from ..exceptions import EngineError
from .action_profiles import ActionProfiles
from .counters import Counters
from .direct_entries import DirectEntries
from .direct_resources import DirectResources
from .errors import StatusError, from_engine, invalid, unimplemented
from .journal import Journal
from .meters import Meters
from .pre import ReplicationEngine
from .registers import Registers
from .schema import Schema
from .tables import Tables
from .value_sets import ValueSets

_KINDS = frozenset({p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE})


class Forwarding:
    """Everything that a Write or a Read can address on one switch."""

    def __init__(self, control: SwitchControl, schema: Schema) -> None:
        self.schema = schema
        self._profiles = ActionProfiles(control, schema)
        resources = DirectResources(control, schema)
        self._tables = Tables(control, schema, self._profiles, resources)
        self._direct = DirectEntries(schema, self._tables, resources)
        self._counters = Counters(control, schema)
        self._meters = Meters(control, schema)
        self._registers = Registers(control, schema)
        self._value_sets = ValueSets(control, schema)
        self._pre = ReplicationEngine(control)

    def write(self, update: Any, journal: Journal) -> None:
        """One update, whole or not at all; what it did is added to `journal`."""
        mine = Journal()
        try:
            self._write(update, mine)
        except StatusError:
            mine.rollback()
            raise
        except EngineError as error:
            mine.rollback()
            raise from_engine(error) from error
        except BaseException:
            mine.rollback()
            raise
        journal.absorb(mine)

    def _write(self, update: Any, journal: Journal) -> None:
        if update.type not in _KINDS:
            raise invalid(f"update type {update.type}; use INSERT, MODIFY or DELETE")
        kind, entity = update.type, update.entity
        match entity.WhichOneof("entity"):
            case "table_entry":
                self._tables.write(kind, entity.table_entry, journal)
            case "action_profile_member":
                self._profiles.write_member(kind, entity.action_profile_member, journal)
            case "action_profile_group":
                self._profiles.write_group(kind, entity.action_profile_group, journal)
            case "counter_entry":
                self._counters.write(kind, entity.counter_entry, journal)
            case "direct_counter_entry":
                self._direct.write_counter(kind, entity.direct_counter_entry, journal)
            case "direct_meter_entry":
                self._direct.write_meter(kind, entity.direct_meter_entry, journal)
            case "meter_entry":
                self._meters.write(kind, entity.meter_entry, journal)
            case "value_set_entry":
                self._value_sets.write(kind, entity.value_set_entry, journal)
            case "register_entry":
                self._registers.write(kind, entity.register_entry, journal)
            case "packet_replication_engine_entry":
                self._pre.write(kind, entity.packet_replication_engine_entry, journal)
            case other:
                raise _unsupported(other)

    def read(self, entity: Any) -> Iterator[Any]:
        """The entities that one request of a Read asks for."""
        match entity.WhichOneof("entity"):
            case "table_entry":
                return self._tables.read(entity.table_entry)
            case "action_profile_member":
                return self._profiles.read_members(entity.action_profile_member)
            case "action_profile_group":
                return self._profiles.read_groups(entity.action_profile_group)
            case "counter_entry":
                return self._counters.read(entity.counter_entry)
            case "direct_counter_entry":
                return self._direct.read_counters(entity.direct_counter_entry)
            case "direct_meter_entry":
                return self._direct.read_meters(entity.direct_meter_entry)
            case "meter_entry":
                return self._meters.read(entity.meter_entry)
            case "value_set_entry":
                return self._value_sets.read(entity.value_set_entry)
            case "register_entry":
                return self._registers.read(entity.register_entry)
            case "packet_replication_engine_entry":
                return self._pre.read(entity.packet_replication_engine_entry)
            case other:
                raise _unsupported(other)

    def snapshot(self) -> list[Any]:
        """Updates that bring a fresh switch to this state: entries, then the cells that are not zero."""
        updates = []
        for empty in (
            p4r.Entity(action_profile_member=p4r.ActionProfileMember()),
            p4r.Entity(action_profile_group=p4r.ActionProfileGroup()),
            p4r.Entity(table_entry=p4r.TableEntry(counter_data=p4r.CounterData())),
            p4r.Entity(packet_replication_engine_entry=p4r.PacketReplicationEngineEntry()),
        ):
            updates += [
                p4r.Update(type=p4r.Update.INSERT, entity=e) for e in self.read(empty) if not _is_const(e)
            ]
        for empty in (
            p4r.Entity(table_entry=p4r.TableEntry(is_default_action=True)),
            p4r.Entity(counter_entry=p4r.CounterEntry()),
            p4r.Entity(register_entry=p4r.RegisterEntry()),
        ):
            updates += [
                p4r.Update(type=p4r.Update.MODIFY, entity=e) for e in self.read(empty) if self._was_set(e)
            ]
        return updates

    def _was_set(self, entity: Any) -> bool:
        match entity.WhichOneof("entity"):
            case "table_entry":
                table = self.schema.tables[entity.table_entry.table_id]
                has_action = entity.table_entry.HasField("action")
                return has_action and not table.const_default and table.profile is None
            case "counter_entry":
                data = entity.counter_entry.data
                return bool(data.packet_count or data.byte_count)
            case _:
                data = entity.register_entry.data
                return data.bool or any(data.bitstring)


def _is_const(entity: Any) -> bool:
    return entity.WhichOneof("entity") == "table_entry" and bool(entity.table_entry.is_const)


def _unsupported(kind: str | None) -> StatusError:
    if kind is None:
        return invalid("the entity is empty; name what to read or write")
    return unimplemented(f"{kind} is not supported")


def rolled_back() -> StatusError:
    """What is reported for an update that worked, in a batch that was taken back."""
    return StatusError(rpc_code.ABORTED, "taken back: another update of this batch failed")
