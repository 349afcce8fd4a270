"""The entities that Write and Read can address on one switch with one program, and their handlers.

A committed program has a `Forwarding` of the real switch. A program that is saved but not committed, or that
must keep another program's entries, has one of a temporary switch, so that errors are found before the real
switch changes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..._engine import SwitchHandle
from ...exceptions import EngineError
from ...values import Savepoint
from ..errors import StatusError, from_engine, invalid, unimplemented
from ..messages import p4r, rpc_code
from ..program.schema import Schema
from . import chunks
from .action_profiles import ActionProfiles
from .arrays import Counters, Meters, Registers
from .chunks import Chunk
from .digests import DigestLists, Digests
from .pre import ReplicationEngine
from .tables import Tables
from .value_sets import ValueSets

Checkpoint = tuple[Savepoint, dict[int, DigestLists]]

_UPDATE_TYPES = frozenset({p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE})
_Direct = p4r.DirectCounterEntry | p4r.DirectMeterEntry


@dataclass(frozen=True)
class _Kind:
    """The handlers of one kind of entity. Each function takes the kind's own message."""

    write: Callable[[int, Any], None]
    """Applies an update of the given type."""
    read: Callable[[Any], Iterator[Chunk]]
    cells: Callable[[Any], int] = lambda message: 1
    """Returns the number of cells that an update changes."""
    entries: Callable[[Any, Callable[[str], int]], int] | None = None
    """Returns the number of entries that a read inspects. None: as many as `cells`."""


class Forwarding:
    """All entities that a Write or a Read can address on one switch."""

    def __init__(self, control: SwitchHandle, schema: Schema) -> None:
        self.schema = schema
        self._control = control
        self.digests = Digests(schema)
        profiles = ActionProfiles(control, schema)
        self.tables = tables = Tables(control, schema, profiles)
        counters, meters = Counters(control, schema.counters), Meters(control, schema.meters)
        registers, value_sets = Registers(control, schema.registers), ValueSets(control, schema)
        replication = ReplicationEngine(control)

        def entries_of(message: _Direct, count: Callable[[str], int]) -> int:
            return tables.cost(message.table_entry, count)

        self._kinds = {
            "table_entry": _Kind(tables.write, tables.read, entries=tables.cost),
            "action_profile_member": _Kind(profiles.write_member, profiles.read_members),
            "action_profile_group": _Kind(profiles.write_group, profiles.read_groups),
            "counter_entry": _Kind(counters.write, counters.read, counters.cost),
            "direct_counter_entry": _Kind(tables.write_counter, tables.read_counters, entries=entries_of),
            "direct_meter_entry": _Kind(tables.write_meter, tables.read_meters, entries=entries_of),
            "meter_entry": _Kind(meters.write, meters.read, meters.cost),
            "value_set_entry": _Kind(value_sets.write, value_sets.read),
            "register_entry": _Kind(registers.write, registers.read, registers.cost),
            "packet_replication_engine_entry": _Kind(replication.write, replication.read),
            "digest_entry": _Kind(self._write_digest, self.digests.read),
        }

    def checkpoint(self) -> Checkpoint:
        """Returns a point for `restore` to return to. Only within `batch.undisturbed`."""
        return self._control.savepoint(), dict(self.digests.lists)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Undoes all writes since the checkpoint."""
        savepoint, lists = checkpoint
        self._control.roll_back(savepoint)
        self.digests.lists = lists

    def write(self, update: p4r.Update) -> None:
        """Applies one update, completely or not at all. Only within `batch.undisturbed`."""
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
        if update.type not in _UPDATE_TYPES:
            raise invalid(f"update type {update.type} is unknown; use INSERT, MODIFY or DELETE")
        kind, body = self._of(update.entity)
        kind.write(update.type, body)

    def _write_digest(self, update_type: int, entry: p4r.DigestEntry) -> None:
        if not self.digests.lists:
            # Discards the data plane's messages from before any digest was configured.
            self._control.take_digests()
        self.digests.write(update_type, entry)

    def _of(self, entity: p4r.Entity) -> tuple[_Kind, Any]:
        """Returns the handlers of an entity, and the message in it."""
        name = entity.WhichOneof("entity")
        if name is None:
            raise invalid("the entity is empty; name what to read or write")
        if name not in self._kinds:
            raise unimplemented(f"{name} is not supported")
        return self._kinds[name], getattr(entity, name)

    def read(self, entity: p4r.Entity) -> Iterator[Chunk]:
        """Returns the response to one request of a Read, in chunks."""
        kind, body = self._of(entity)
        return kind.read(body)

    def read_whole(self, entity: p4r.Entity) -> Iterator[p4r.Entity]:
        """Returns the same response as entities, for use where no other call waits."""
        return chunks.whole(self.read(entity))

    def read_cost(self, entity: p4r.Entity, count: Callable[[str], int]) -> int:
        """Returns the number of cells that one request of a Read inspects, as far as it is known in advance;
        `count` returns the number of entries in a table."""
        kind, body = self._of(entity)
        return kind.entries(body, count) if kind.entries else kind.cells(body)

    def write_cost(self, entity: p4r.Entity) -> int:
        """Returns the number of cells that an update of this entity changes."""
        kind, body = self._of(entity)
        return kind.cells(body)

    def entries(self, table: str) -> int:
        """Returns the number of entries in a table."""
        return self._control.mt_get_num_entries(table)

    def digest_lists(self, now_ns: int, epoch_ns: int) -> list[p4r.DigestList]:
        """Returns the `DigestList`s that are due."""
        samples = self._control.take_digests() if self.digests.lists else []
        return self.digests.collect(samples, now_ns, epoch_ns)

    @property
    def has_notices(self) -> bool:
        """Whether there may be digests or expired entries to notify."""
        return bool(self.digests.lists) or self.tables.has_timeouts


def rolled_back() -> StatusError:
    """Returns the error of a successful update in a batch that was rolled back."""
    return StatusError(rpc_code.ABORTED, "rolled back: another update of this batch failed")
