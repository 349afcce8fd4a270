"""What a Write or a Read can address on one switch under one program, and which part an entity belongs to.

A committed program has one over the real switch. A program that is saved but not committed, or that has to
take over the entries of another, has one over a switch made for the purpose, so that what is refused is
refused before the real switch is touched.
"""

from collections.abc import Callable, Iterator

from ..._engine import SwitchHandle
from ...exceptions import EngineError
from ...values import Savepoint
from ..errors import StatusError, from_engine, invalid, unimplemented
from ..messages import p4r, rpc_code
from ..program.schema import Schema, Table
from . import chunks
from .action_profiles import ActionProfiles
from .chunks import Chunk
from .counters import Counters
from .digests import DigestLists, Digests
from .meters import Meters
from .pre import ReplicationEngine
from .registers import Registers
from .tables import Tables
from .value_sets import ValueSets

Checkpoint = tuple[Savepoint, dict[int, DigestLists]]

_KINDS = frozenset({p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE})


class Forwarding:
    """Everything that a Write or a Read can address on one switch."""

    def __init__(self, control: SwitchHandle, schema: Schema) -> None:
        self.schema = schema
        self._profiles = ActionProfiles(control, schema)
        self._tables = Tables(control, schema, self._profiles)
        self._counters = Counters(control, schema)
        self._meters = Meters(control, schema)
        self._registers = Registers(control, schema)
        self._value_sets = ValueSets(control, schema)
        self._pre = ReplicationEngine(control)
        self._control = control
        self.digests = Digests(schema)

    def checkpoint(self) -> Checkpoint:
        """Returns a point to which `restore` takes back what was written. Only within `batch.undisturbed`."""
        return self._control.savepoint(), self.digests.checkpoint()

    def restore(self, checkpoint: Checkpoint) -> None:
        """Takes back everything that was written since."""
        self._control.roll_back(checkpoint[0])
        self.digests.restore(checkpoint[1])

    def write(self, update: p4r.Update) -> None:
        """Applies one update, whole or not at all. Only within `batch.undisturbed`."""
        before = self._control.savepoint()
        try:
            self._write(update)
        except EngineError as error:
            self._control.roll_back(before)
            raise from_engine(error) from error
        except BaseException:
            self._control.roll_back(before)
            raise

    def _write(self, update: p4r.Update) -> None:
        if update.type not in _KINDS:
            raise invalid(f"update type {update.type}; use INSERT, MODIFY or DELETE")
        kind, entity = update.type, update.entity
        match entity.WhichOneof("entity"):
            case "table_entry":
                self._tables.write(kind, entity.table_entry)
            case "action_profile_member":
                self._profiles.write_member(kind, entity.action_profile_member)
            case "action_profile_group":
                self._profiles.write_group(kind, entity.action_profile_group)
            case "counter_entry":
                self._counters.write(kind, entity.counter_entry)
            case "direct_counter_entry":
                self._tables.write_counter(kind, entity.direct_counter_entry)
            case "direct_meter_entry":
                self._tables.write_meter(kind, entity.direct_meter_entry)
            case "meter_entry":
                self._meters.write(kind, entity.meter_entry)
            case "value_set_entry":
                self._value_sets.write(kind, entity.value_set_entry)
            case "register_entry":
                self._registers.write(kind, entity.register_entry)
            case "packet_replication_engine_entry":
                self._pre.write(kind, entity.packet_replication_engine_entry)
            case "digest_entry":
                if not self.digests.is_any_configured:
                    # What the data plane has sent while nobody listened.
                    self._control.take_digests()
                self.digests.write(kind, entity.digest_entry)
            case other:
                raise _unsupported(other)

    def read(self, entity: p4r.Entity) -> Iterator[Chunk]:
        """Returns what one request of a Read asks for, in chunks."""
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
                return self._tables.read_counters(entity.direct_counter_entry)
            case "direct_meter_entry":
                return self._tables.read_meters(entity.direct_meter_entry)
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

    def read_whole(self, entity: p4r.Entity) -> Iterator[p4r.Entity]:
        """Returns the same, for who keeps nobody waiting."""
        return chunks.whole(self.read(entity))

    def read_cost(self, entity: p4r.Entity, count: Callable[[str], int]) -> int:
        """Returns how many cells one request of a Read looks at, as far as that is known before; `count`
        knows how many entries a table has."""
        match entity.WhichOneof("entity"):
            case "table_entry":
                return self._tables.cost(entity.table_entry, count)
            case "direct_counter_entry":
                return self._tables.cost(entity.direct_counter_entry.table_entry, count)
            case "direct_meter_entry":
                return self._tables.cost(entity.direct_meter_entry.table_entry, count)
        return self.write_cost(entity)

    def write_cost(self, entity: p4r.Entity) -> int:
        """Returns how many cells an update of this entity changes."""
        match entity.WhichOneof("entity"):
            case "counter_entry":
                return self._counters.cost(entity.counter_entry)
            case "meter_entry":
                return self._meters.cost(entity.meter_entry)
            case "register_entry":
                return self._registers.cost(entity.register_entry)
        return 1

    def entries(self, table: str) -> int:
        """Returns how many entries a table has."""
        return self._control.mt_get_num_entries(table)

    def expired(self) -> list[tuple[Table, list[p4r.TableEntry]]]:
        """Returns the table entries that were not hit for their time-out."""
        return self._tables.expired()

    def digest_lists(self, now_ns: int, epoch_ns: int) -> list[p4r.DigestList]:
        """Returns the `DigestList`s that are to be sent now."""
        samples = self._control.take_digests() if self.digests.is_any_configured else []
        return self.digests.collect(samples, now_ns, epoch_ns)

    def is_initial(self, message: p4r.TableEntry) -> bool:
        """Returns whether a table entry is one that the program came with, and that no client can insert."""
        return bool(message.is_const)

    def is_default_set(self, table_id: int) -> bool:
        """Returns whether a client has set the default entry of a table."""
        return self._tables.is_default_set(table_id)

    def read_resources_of_initial_entries(self, table_id: int) -> Iterator[p4r.Entity]:
        """Yields the direct counters and meters of what is there from the start: const entries, and the
        default entry."""
        return self._tables.read_initial_resources(table_id)

    @property
    def has_notices(self) -> bool:
        """Whether digests or expired entries are to be looked for."""
        return self.digests.is_any_configured or self._tables.has_timeouts


def _unsupported(kind: str | None) -> StatusError:
    if kind is None:
        return invalid("the entity is empty; name what to read or write")
    return unimplemented(f"{kind} is not supported")


def rolled_back() -> StatusError:
    """Returns what is reported for an update that worked, in a batch that was taken back."""
    return StatusError(rpc_code.ABORTED, "taken back: another update of this batch failed")
