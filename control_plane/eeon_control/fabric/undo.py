"""Snapshots of switches before an apply, and their restoration.

If the switch already runs the program, the snapshot has the entries of the controller's tables. Undo writes
the difference between them and the switch's entries at that time, which is also right after a partial write.
If the switch runs another pipeline (or none), the snapshot is that pipeline with all its entries as raw
messages.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from finsy import GRPCStatusCode, P4Schema
from finsy.proto import p4i, p4r
from google.protobuf.message import DecodeError, Message
from pydantic import ConfigDict, PlainSerializer, PlainValidator

from eeon_control.entries import CLONE_SESSIONS
from eeon_control.errors import FabricError
from eeon_control.fabric import clone_sessions
from eeon_control.fabric.concurrent import failures_of
from eeon_control.fabric.diff import differ, difference
from eeon_control.fabric.progress import Observer, Step
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.table_entries import profile_requests, program_defaults, table_requests
from eeon_control.plan import TABLES, Entry, entries_digest
from eeon_control.program import only_adds


def _in_base64(kind: type[Message]) -> tuple[PlainValidator, PlainSerializer]:
    """Returns pydantic's annotations for a message, which the file of a journal has in base64."""

    def read(text: str) -> Message:
        try:
            return kind.FromString(base64.b64decode(text))
        except (DecodeError, TypeError) as error:
            raise ValueError(f"not a P4Runtime {kind.__name__}: {error}") from None

    return PlainValidator(read), PlainSerializer(lambda one: base64.b64encode(one.SerializeToString()))


_Pipeline = Annotated[p4r.ForwardingPipelineConfig, *_in_base64(p4r.ForwardingPipelineConfig)]
_Entity = Annotated[p4r.Entity, *_in_base64(p4r.Entity)]


@dataclass
class Snapshot:
    """State of one switch before an apply.

    `entries`: of the controller's tables, if the switch ran the program (`same_program`), or another one all
    of whose objects the program has (`may_keep`), so that a load can keep them. If it did not run the
    program, `pipeline` and `entities` are those that it had; None and empty without a pipeline.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # of journals

    same_program: bool
    entries: list[Entry] = field(default_factory=list)
    pipeline: _Pipeline | None = None
    entities: list[_Entity] = field(default_factory=list)
    may_keep: bool = False

    def digest(self) -> str:
        """Returns the SHA-256, in hex, of the snapshot, independent of the order of entries and entities."""
        if self.same_program:
            return entries_digest(self.entries)
        parts = [] if self.pipeline is None else [self.pipeline.SerializeToString(deterministic=True)]
        parts += sorted(_as_bytes(entity) for entity in self.entities)
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


async def take_snapshot(session: P4RuntimeSession) -> Snapshot:
    """Reads a switch's state. Writes nothing."""
    pipeline = await session.pipeline()
    if session.is_program(pipeline):
        return Snapshot(True, await session.read_entries(TABLES))
    if pipeline is None:
        return Snapshot(False)
    entities = await _read_foreign(session, pipeline.p4info)
    if not only_adds(pipeline.p4info, session.schema.p4info):
        return Snapshot(False, pipeline=pipeline, entities=entities)
    there = {table.preamble.alias for table in pipeline.p4info.tables} | {CLONE_SESSIONS}
    try:
        kept = await session.read_entries(name for name in TABLES if name in there)
    except FabricError:  # the program lacks something else that the read needs
        return Snapshot(False, pipeline=pipeline, entities=entities)
    return Snapshot(False, kept, pipeline, entities, may_keep=True)


async def restore(session: P4RuntimeSession, snapshot: Snapshot) -> str:
    """Restores a switch to its snapshot and verifies that by reading. Raises FabricError if that fails.

    Returns a note on remaining differences from the earlier state; empty if there are none.
    """
    if snapshot.same_program:
        await _restore_entries(session, snapshot.entries)
        return ""
    if snapshot.pipeline is not None:
        await _restore_foreign(session, snapshot.pipeline, snapshot.entities)
        return ""
    if not await session.runs_program():
        return ""
    await _restore_entries(session, program_defaults(session.schema, TABLES))
    return (
        f"{session.name} had no program before, and P4Runtime cannot remove one: it runs the program "
        "without entries and forwards nothing, as before"
    )


@dataclass(frozen=True)
class Undone:
    """`undone`: switches that are as before, read back. `not_undone`: switch -> why it is not as before.

    `notes`: switch -> remaining differences from the earlier state.
    """

    undone: tuple[str, ...]
    not_undone: dict[str, str]
    notes: dict[str, str]


async def undo(
    before: Mapping[str, Snapshot], sessions: Mapping[str, P4RuntimeSession], observer: Observer
) -> Undone:
    """Restores every switch of `before` to its snapshot and verifies that by reading.

    `sessions`: with these switches and others. One that is not open is opened. If an open one fails, it may
    itself be the fault; its switch gets another attempt over its successor.
    """
    notes: dict[str, str] = {}

    async def bring_back(session: P4RuntimeSession) -> None:
        observer(Step.UNDOING, session.name)
        note = await _restored(session, before[session.name])
        if note:
            notes[session.name] = note
        observer(Step.UNDONE, session.name)

    not_undone = await failures_of({name: sessions[name] for name in before}, bring_back)
    return Undone(tuple(name for name in before if name not in not_undone), not_undone, notes)


async def _restored(session: P4RuntimeSession, snapshot: Snapshot) -> str:
    if session.is_open:
        try:
            return await restore(session, snapshot)
        except FabricError:
            await session.close()  # the switch may notice the end late
            session = session.successor()
    async with session:
        return await restore(session, snapshot)


async def _restore_entries(session: P4RuntimeSession, entries: list[Entry]) -> None:
    if not await session.runs_program():
        await session.push_pipeline()
    changes = difference(await session.read_entries(TABLES), entries)
    if changes:
        await session.write_changes(changes)
        await verify(session, entries)


async def verify(session: P4RuntimeSession, entries: Iterable[Entry]) -> None:
    """Reads a switch back. Raises FabricError if it does not hold exactly these entries."""
    left = difference(await session.read_entries(TABLES), entries)
    if left:
        raise FabricError(f"{session.name}: accepted every write, but when read back, {differ(left)}")


async def _restore_foreign(
    session: P4RuntimeSession, pipeline: p4r.ForwardingPipelineConfig, entities: list[p4r.Entity]
) -> None:
    await session.push_pipeline(pipeline)
    updates = [p4r.Update(type=_restoring_type(entity), entity=entity) for entity in entities]
    await session.write(updates, [str(entity.WhichOneof("entity")) for entity in entities])
    found = {_as_bytes(entity) for entity in await _read_foreign(session, pipeline.p4info)}
    missing = [entity for entity in entities if _as_bytes(entity) not in found]
    if missing:
        raise FabricError(
            f"{session.name}: {len(missing)} of {len(entities)} entities of the earlier program differ when "
            f"read back; the first is a {missing[0].WhichOneof('entity')}"
        )


def _as_bytes(entity: p4r.Entity) -> bytes:
    return bytes(entity.SerializeToString(deterministic=True))


def _restoring_type(entity: p4r.Entity) -> p4r.Update.Type.ValueType:
    if entity.HasField("table_entry") and entity.table_entry.is_default_action:
        return p4r.Update.MODIFY
    return p4r.Update.INSERT


async def _read_foreign(session: P4RuntimeSession, info: p4i.P4Info) -> list[p4r.Entity]:
    """Returns every writable entity of a pipeline unknown to this controller, in order of insertion."""
    schema = P4Schema(info)
    entries = await _read_foreign_entries(session, schema)
    profile_of = {table.id: table.action_profile.id for table in schema.tables if table.action_profile}
    # A one-shot action set owns its members; they are restored with the table entry.
    one_shot = {
        profile_of[entry.table_entry.table_id]
        for entry in entries
        if entry.table_entry.action.HasField("action_profile_action_set")
    }
    profiles = [profile.id for profile in schema.action_profiles if profile.id not in one_shot]
    before_tables: list[p4r.Entity] = []
    groups = p4r.PacketReplicationEngineEntry(multicast_group_entry=p4r.MulticastGroupEntry())
    for request in (
        *(request for one in profiles for request in profile_requests(one)),
        p4r.Entity(packet_replication_engine_entry=groups),
        clone_sessions.wildcard(),
    ):
        try:
            before_tables += [entity async for entity in session.read([request])]
        except FabricError as error:
            # BMv2 refuses to list members of a profile last used with one-shot sets, which has none. Only its
            # message distinguishes that from other INVALID_ARGUMENT errors.
            if error.code is not GRPCStatusCode.UNIMPLEMENTED and "mix action selector" not in str(error):
                raise
    return before_tables + entries


async def _read_foreign_entries(session: P4RuntimeSession, schema: P4Schema) -> list[p4r.Entity]:
    """Reads the entries of all writable tables, and writable default actions."""
    requests = [one for table in schema.tables if not table.is_const for one in table_requests(table)]
    entries: dict[bytes, p4r.Entity] = {}
    async for entity in session.read(requests):
        entry = entity.table_entry
        if entry.HasField("action") and not entry.is_const:
            entries[_as_bytes(entity)] = entity
    return list(entries.values())
