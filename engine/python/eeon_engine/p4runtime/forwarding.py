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
from .digests import Digests
from .direct_entries import DirectEntries
from .direct_resources import DirectResources
from .errors import StatusError, from_engine, invalid, unimplemented
from .journal import Journal
from .meters import Meters
from .pre import ReplicationEngine
from .registers import Registers
from .schema import Schema, Table
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
        self._control = control
        self.digests = Digests(schema)

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
            case "digest_entry":
                if not self.digests.is_any_configured:
                    # What the data plane has sent while nobody listened.
                    self._control.take_digests()
                self.digests.write(kind, entity.digest_entry, journal)
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
            case "digest_entry":
                return self.digests.read(entity.digest_entry)
            case other:
                raise _unsupported(other)

    def expired(self) -> list[tuple[Table, list[Any]]]:
        """Table entries that were not hit for their time-out."""
        return self._tables.expired()

    def digest_lists(self, now_ns: int, epoch_ns: int) -> list[Any]:
        """`DigestList`s that are to be sent now."""
        samples = self._control.take_digests() if self.digests.is_any_configured else []
        return self.digests.collect(samples, now_ns, epoch_ns)

    def is_initial(self, message: Any) -> bool:
        """Whether a table entry is one that the program came with, and that no client can insert."""
        return bool(message.is_const)

    def is_default_set(self, table_id: int) -> bool:
        """Whether a client has set the default entry of a table."""
        return self._tables.is_default_set(table_id)

    def read_resources_of_initial_entries(self, table_id: int) -> Iterator[Any]:
        """Direct counters and meters of what is there from the start: const entries, and the default
        entry."""
        return self._direct.read_initial(self.schema.tables[table_id])

    @property
    def has_notices(self) -> bool:
        """Whether digests or expired entries are to be looked for."""
        return self.digests.is_any_configured or self._tables.has_timeouts


def _unsupported(kind: str | None) -> StatusError:
    if kind is None:
        return invalid("the entity is empty; name what to read or write")
    return unimplemented(f"{kind} is not supported")


def rolled_back() -> StatusError:
    """What is reported for an update that worked, in a batch that was taken back."""
    return StatusError(rpc_code.ABORTED, "taken back: another update of this batch failed")
