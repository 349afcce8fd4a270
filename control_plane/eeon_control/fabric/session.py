"""A P4Runtime session with one switch: arbitration, pipeline, reads, writes.

It uses finsy's P4Client, schema and messages, but not its Switch, which pushes the pipeline as soon as it is
connected (a `plan` must not write), reconnects without the caller's knowledge, and may end the process with
SystemExit. Long reads and writes are split to meet finsy's fixed deadline of 10 s per request.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Self, cast

from finsy import GNMIClient, GRPCCredentialsTLS, GRPCStatusCode, P4Client, P4ClientError, P4Schema
from finsy.grpcutil import GRPCChannelArgumentType, GRPCOptions, grpc_channel
from finsy.p4schema import P4Table
from finsy.pbutil import PBMessage
from finsy.proto import U128, p4i, p4r, p4r_grpc, rpc_code

from eeon_control import election
from eeon_control import tls as tls_files
from eeon_control.election import ArbitrationStatus
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.errors import FabricError
from eeon_control.fabric import clone_sessions
from eeon_control.fabric.diff import Change, ChangeKind
from eeon_control.fabric.table_entries import decode, encode, table_requests
from eeon_control.plan import Entry, EntryKey, owned_of
from eeon_control.printable import SAID_CHARACTERS, one_line
from eeon_control.program import identity, only_adds, roles_of
from eeon_control.targets import Target, is_unix
from eeon_control.tls import Tls

_MAX_METADATA_BYTES = 64 * 1024  # as in finsy: the metadata carries the errors of a long write
_MAX_RECONNECT_BACKOFF_MS = 15_000
ANSWER_SECONDS = 10.0  # the same as finsy's deadline for a request; a switch in this process has none
LOAD_SECONDS = 60.0
"""Deadline for loading a program, which a switch checks and compiles while it forwards packets."""


def _no_answer(seconds: float) -> str:
    lost = "the switch hangs, or packets to or from it are lost (DEADLINE_EXCEEDED)"
    return f"no answer within {seconds:g} s: {lost}"


NO_ANSWER = _no_answer(ANSWER_SECONDS)
"""The message about a switch that neither answers a request nor refuses the connection."""
_UPDATES_PER_WRITE = 256
_ENTITIES_PER_READ = 2048
_BIDS = 5
# A server may notice late that the stream of a command has ended.
_ID_FREE_SECONDS = 1.0
_ID_RETRY_SECONDS = 0.05
_TAKE_OVER = (
    "stop it; a larger --election-id takes over while this command runs, but a running controller takes the "
    "switches back afterwards"
)
_NO_TAKE_OVER = "no larger id exists: end that client, or restart the switch"

# The part of gRPC's message about an unreachable address that our message already contains.
_NOT_CONNECTED = re.compile(
    r"^failed to connect to all addresses; last error: [A-Z_]+: \S+ (?:Failed to connect to remote host: )?"
    r"|^errors resolving .*: ([^:\]]+)\]$"
)
LOST = (GRPCStatusCode.UNAVAILABLE, GRPCStatusCode.DEADLINE_EXCEEDED, GRPCStatusCode.CANCELLED)
"""Status codes of calls that the switch has not answered."""
_UPDATE_TYPE = {kind: p4r.Update.Type.Value(kind.name) for kind in ChangeKind}


class IdInUse(FabricError):
    """The switch closed the stream because another one has the same election id."""


class P4RuntimeSession:
    """An open session; use it with `async with`. Every method raises FabricError naming the switch.

    With an `election_id`, it becomes primary or fails. Without one, it takes no part in arbitration, so that
    reading a fabric never disturbs its controller; it can only read until it bids. `fresh`: use an id that no
    client has had, so that a write in flight under an older id is refused when it arrives (P4Runtime 1.5,
    section 5: a write in flight ends before a new primary is accepted). The largest id has no successor and
    is reused.
    `owned`: the entries of the controller's tables that `read_entries` returns; None for all.

    A target with a role is written to under that role. It runs another owner's program, which must contain
    the schema's program and assign the controller's tables to the role; no program is loaded.
    """

    def __init__(
        self,
        name: str,
        target: Target,
        schema: P4Schema,
        *,
        election_id: int | None = None,
        fresh: bool = False,
        owned: frozenset[EntryKey] | None = None,
    ) -> None:
        assert target.device_id is not None, "targets are resolved before a session is made"
        self.name = name
        self.schema = schema
        self._target = target
        self._device_id = target.device_id
        self._election_id = election_id
        self._fresh = fresh
        self._owned = owned
        self.is_open = False
        self._watches: bool | None = None  # None: unknown

    async def open(self) -> None:
        """Opens the channel, and becomes primary if it has an election id. Nothing else is sent."""
        tls = self._target.tls
        try:
            secret = None if tls is None else _credentials(tls)
        except FabricError as error:
            raise self._error(str(error)) from None
        in_process = self._target.in_process
        self._client = _Client(self._target.address, secret, wait_for_ready=in_process)
        await self._client.open(schema=self.schema, complete_request=self._complete)
        try:
            if self._election_id is not None:
                async with asyncio.timeout(None if in_process else ANSWER_SECONDS):
                    await self._arbitrate(self._election_id)
                    if self._fresh and self._election_id < election.LARGEST:
                        await self._arbitrate(election.above(self._election_id))
        except BaseException as error:
            await self._client.close()
            if isinstance(error, TimeoutError):
                raise self._error(NO_ANSWER, GRPCStatusCode.DEADLINE_EXCEEDED) from None
            raise
        self.is_open = True

    def successor(self) -> Self:
        """Returns a session that is not yet open, with the next election id, which no write in flight has."""
        bid = election.above(self.election_id)
        return type(self)(self.name, self._target, self.schema, election_id=bid, owned=self._owned)

    async def close(self) -> None:
        """Closes the stream and the channel; pending requests fail."""
        self.is_open = False
        await self._client.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def has_stream(self) -> bool:
        """Whether a bid has opened the stream."""
        return self._election_id is not None

    @property
    def election_id(self) -> int:
        """The id of the last bid. Only for an open session that has made one."""
        assert self._election_id is not None, "a session without an election id only reads"
        return self._election_id

    async def gnmi(self) -> GNMIClient:
        """Returns a gNMI client on this session's channel, which closes with the session."""
        client = GNMIClient(self._target.address)
        await client.open(channel=self._client.channel)
        return client

    async def has_pipeline(self) -> bool:
        """Returns whether the switch runs this schema's program, by the cookie that was pushed with it: a
        short answer.

        Another program with the same cookie is not detected (see `runs_program`). If the cookie differs, the
        program itself is read.
        """
        held = await self._config(p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY)
        return held is not None and (self._has_cookie(held) or await self.runs_program())

    async def pipeline(self) -> p4r.ForwardingPipelineConfig | None:
        """Returns the complete pipeline configuration of the switch, or None if it has none."""
        held = await self._config(p4r.GetForwardingPipelineConfigRequest.ALL)
        return None if held is None or not held.HasField("p4info") else held

    async def _config(
        self, kind: p4r.GetForwardingPipelineConfigRequest.ResponseType.ValueType
    ) -> p4r.ForwardingPipelineConfig | None:
        request = p4r.GetForwardingPipelineConfigRequest(device_id=self._device_id, response_type=kind)
        try:
            return (await self._client.request(request)).config
        except P4ClientError as error:
            if error.is_pipeline_missing:
                return None
            raise await self._failure(error) from None

    def _has_cookie(self, held: p4r.ForwardingPipelineConfig) -> bool:
        return held.HasField("cookie") and held.cookie.cookie == self.schema.p4cookie

    def is_program(self, held: p4r.ForwardingPipelineConfig | None) -> bool:
        """Returns whether `held` behaves like the schema's program, by its bytes and P4Info
        (`program.identity`).

        A server may omit the bytes (P4Runtime, section 7.3); then P4Info and cookie are compared. Under a
        role, raises FabricError if `held` does not contain the schema's program.
        """
        if self._target.role is not None:
            self._check_role(self._target.role, None if held is None else held.p4info)
            return True
        if held is None:
            return False
        meant = self.schema.get_pipeline_config()
        if not held.p4_device_config:
            return self._has_cookie(held) and held.p4info == meant.p4info
        if held.p4_device_config == meant.p4_device_config and held.p4info == meant.p4info:
            return True
        return identity(held.p4_device_config, held.p4info) == identity(meant.p4_device_config, meant.p4info)

    async def runs_program(self) -> bool:
        """Returns whether the switch runs exactly this schema's program, by reading all of it."""
        return self.is_program(await self.pipeline())

    def _check_role(self, role: str, held: p4i.P4Info | None) -> None:
        owners = {} if held is None else roles_of(held)
        if held is None or not only_adds(self.schema.p4info, held, roles=False):
            raise self._error(
                "the switch does not run a program with all of E-EON's objects, and a client with a role "
                "cannot load one: let the program's owner load it, or leave out `role` in the targets"
            )
        if role not in owners.values():
            known = ", ".join(sorted(set(owners.values()))) or "none"
            raise self._error(
                f"the program has no role {role} (its roles: {known}): write "
                f'@p4runtime_role("{role}") before its E-EON tables, or leave out `role` in the targets'
            )
        others = [
            name for name in (table.alias for table in self.schema.tables) if owners.get(name, role) != role
        ]
        if others:
            raise self._error(f"table {others[0]} belongs to the role {owners[others[0]]}, not to {role}")

    async def push_pipeline(
        self, config: p4r.ForwardingPipelineConfig | None = None, *, keep_entries: bool = False
    ) -> None:
        """Loads this schema's program, or a configuration read earlier. The switch loses all entries.

        With `keep_entries`, the first attempt asks the switch to keep them (RECONCILE_AND_COMMIT, P4Runtime
        specification 1.3, section 7.2); if it refuses, they are lost.
        """
        actions = p4r.SetForwardingPipelineConfigRequest
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self._device_id,
            action=actions.RECONCILE_AND_COMMIT if keep_entries else actions.VERIFY_AND_COMMIT,
            config=config if config is not None else self.schema.get_pipeline_config(),
        )
        try:
            await self._client.request(request)
        except P4ClientError as error:
            if keep_entries and error.code not in LOST:
                await self.push_pipeline(config)
                return
            reason = await self._reason(error, LOAD_SECONDS)
            raise self._error(f"{_verb(error)} the pipeline: {reason}", error.code) from None

    async def read_entries(self, tables: Iterable[str]) -> list[Entry]:
        """Returns all entries of the named tables, including writable default actions."""
        entities = []
        for name in tables:
            if name == CLONE_SESSIONS:
                entities.append(clone_sessions.wildcard())
            else:
                entities += table_requests(self._table(name))
        messages: list[p4r.TableEntry] = []
        found: dict[EntryKey, Entry] = {}
        async for entity in self.read(entities):
            if entity.HasField("table_entry") and not entity.table_entry.is_const:
                messages.append(entity.table_entry)
            elif entity.HasField("packet_replication_engine_entry"):
                session = clone_sessions.decode(entity)
                if session is not None:
                    found[session.key] = session
        groups = any(message.action.HasField("action_profile_action_set") for message in messages)
        watches = groups and await self._watches_ports()
        for message in messages:
            entry = decode(message, self.schema, watches=watches)
            found[entry.key] = entry
        return owned_of(found.values(), self._owned)

    async def read(self, entities: Sequence[p4r.Entity]) -> AsyncIterator[p4r.Entity]:
        """Yields the switch's answers to a read of the given entities, in its order."""
        for start in range(0, len(entities), _ENTITIES_PER_READ):
            part = entities[start : start + _ENTITIES_PER_READ]
            try:
                async for reply in self._client.request_iter(
                    p4r.ReadRequest(device_id=self._device_id, entities=part)
                ):
                    for entity in reply.entities:
                        yield entity
            except P4ClientError as error:
                raise await self._failure(error, "cannot be read: ") from None

    async def write_changes(self, changes: Sequence[Change]) -> None:
        """Sends changes in order. After an error, some of them may have been carried out."""
        watches = any(change.entry.selector for change in changes) and await self._watches_ports()
        updates, names = [], []
        for change in changes:
            if change.entry.table == CLONE_SESSIONS:
                entity = clone_sessions.encode(change.entry)
            else:
                entity = p4r.Entity(table_entry=encode(change.entry, self.schema, watches=watches))
            updates.append(p4r.Update(type=_UPDATE_TYPE[change.kind], entity=entity))
            names.append(f"{change.kind} {change.entry.table} {change.entry.match_text}")
        await self.write(updates, names)

    async def _watches_ports(self) -> bool:
        """Returns whether the next hops of a group should watch their ports on this switch.

        BMv2 accepts watch ports and skips members whose link is down, but dies with SIGFPE if all members of
        a group are down: a leaf that loses its last uplink would lose its own hosts too. BMv2 is recognised
        by the fact that it does not serve registers.
        """
        if self._watches is None:
            register = next(iter(self.schema.registers))
            cell = p4r.RegisterEntry(register_id=register.id, index=p4r.Index(index=0))
            try:
                async for _ in self.read([p4r.Entity(register_entry=cell)]):
                    pass
                self._watches = True
            except FabricError as error:
                if error.code is not GRPCStatusCode.UNIMPLEMENTED:
                    raise
                self._watches = False
        return self._watches

    async def write(self, updates: Sequence[p4r.Update], names: Sequence[str]) -> None:
        """Sends raw updates in order; errors identify failed updates by `names`."""
        for start in range(0, len(updates), _UPDATES_PER_WRITE):
            request = p4r.WriteRequest(
                device_id=self._device_id, updates=updates[start : start + _UPDATES_PER_WRITE]
            )
            try:
                await self._client.request(request)
            except P4ClientError as error:
                failed = [
                    f"{names[start + index]}: {_said(detail.message) or detail.canonical_code.name}"
                    for index, detail in sorted(error.details.items())
                ]
                shown = "; ".join(failed[:3]) + (f"; and {len(failed) - 3} more" if len(failed) > 3 else "")
                reason = shown or await self._reason(error)
                raise self._error(f"{_verb(error)} a write: {reason}", error.code) from None

    async def bid(self, election_id: int) -> None:
        """Sends a bid with an election id; the first one opens the stream. `listen` yields the answer."""
        self._election_id = election_id
        try:
            await self._client.send(self._arbitration(election_id))
        except P4ClientError as error:
            raise await self._stream_error(error) from None

    async def listen(self) -> AsyncIterator[tuple[ArbitrationStatus, int]]:
        """Yields the switch's reports about the primary, with its election id or the highest seen, until the
        stream ends, which raises FabricError."""
        while True:
            yield await self._report()

    async def _report(self) -> tuple[ArbitrationStatus, int]:
        """Returns the switch's next report about the primary."""
        while True:
            try:
                message = await self._client.receive()
            except P4ClientError as error:
                raise await self._stream_error(error) from None
            except RuntimeError:  # finsy's report that the server closed the stream
                raise self._error("closed the stream (UNAVAILABLE)", GRPCStatusCode.UNAVAILABLE) from None
            if message.HasField("arbitration"):
                return _role(message.arbitration), U128.decode(message.arbitration.election_id)

    async def _stream_error(self, error: P4ClientError) -> FabricError:
        told = await self._failure(error)
        return IdInUse(str(told), told.code) if error.is_election_id_used else told

    async def _arbitrate(self, bid: int) -> None:
        """Becomes primary with id `bid` or a larger one, or raises."""
        give_up_at = asyncio.get_running_loop().time() + _ID_FREE_SECONDS
        for _ in range(_BIDS):
            role, primary = await self._answer_to(bid, give_up_at)
            if role is ArbitrationStatus.PRIMARY:
                return
            if role is ArbitrationStatus.OTHER:
                raise self._error(
                    f"another controller is primary (election id {election.name_of(primary)}); "
                    f"{_way_out(primary)}"
                )
            bid = max(election.above(bid), primary)  # no client is primary, but a larger id has been seen
        raise self._error("the switch accepted no election id")

    async def _answer_to(self, bid: int, give_up_at: float) -> tuple[ArbitrationStatus, int]:
        """Sends a bid and returns the answer. An id in use may be that of a stream that has just ended."""
        while True:
            try:
                await self.bid(bid)
                return await self._report()
            except IdInUse:
                if asyncio.get_running_loop().time() >= give_up_at:
                    used = f"election id {election.name_of(bid)} is in use by another controller"
                    raise self._error(f"{used}; {_way_out(bid)}") from None
                await asyncio.sleep(_ID_RETRY_SECONDS)

    def _arbitration(self, bid: int) -> p4r.StreamMessageRequest:
        """Returns the arbitration message with an election id, and with the target's role if it has one."""
        request = p4r.MasterArbitrationUpdate(device_id=self._device_id, election_id=U128.encode(bid))
        if self._target.role is not None:
            request.role.name = self._target.role
        return p4r.StreamMessageRequest(arbitration=request)

    def _complete(self, message: PBMessage) -> None:
        if isinstance(message, (p4r.WriteRequest, p4r.SetForwardingPipelineConfigRequest)):
            message.election_id.CopyFrom(U128.encode(self.election_id))
        asks = (p4r.WriteRequest, p4r.SetForwardingPipelineConfigRequest, p4r.ReadRequest)
        if self._target.role is not None and isinstance(message, asks):
            message.role = self._target.role

    def _table(self, name: str) -> P4Table:
        try:
            return self.schema.tables[name]
        except (KeyError, ValueError):
            raise self._error(f"the program has no table {name}; is it E-EON's?") from None

    async def _failure(self, error: P4ClientError, what: str = "") -> FabricError:
        return self._error(what + await self._reason(error), error.code)

    async def _reason(self, error: P4ClientError, seconds: float = ANSWER_SECONDS) -> str:
        """Returns gRPC's message, or a better one if the switch hangs or TLS failed."""
        if error.code is GRPCStatusCode.DEADLINE_EXCEEDED:
            return _no_answer(seconds)
        may_explain = tls_files.may_explain(error.message) and not is_unix(self._target.address)
        if error.code is GRPCStatusCode.UNAVAILABLE and may_explain:
            told = await asyncio.to_thread(tls_files.explain, self._target.address, self._target.tls)
            if told is not None:
                return told
        said = _NOT_CONNECTED.sub(r"cannot be reached: \1", _said(error.message))
        return f"{said or 'no reason given'} ({error.code.name})"

    def _error(self, reason: str, code: GRPCStatusCode | None = None) -> FabricError:
        where = f"{self.name} ({self._target.address}, device id {self._device_id})"
        return FabricError(f"{where}: {one_line(reason)}", code)


def _role(update: p4r.MasterArbitrationUpdate) -> ArbitrationStatus:
    if update.status.code == rpc_code.OK:
        return ArbitrationStatus.PRIMARY
    return ArbitrationStatus.NOBODY if update.status.code == rpc_code.NOT_FOUND else ArbitrationStatus.OTHER


def _verb(error: P4ClientError) -> str:
    """Returns the verb for the switch's reaction to a failed request."""
    return "did not answer" if error.code in LOST else "refused"


def _said(text: str) -> str:
    return one_line(text, SAID_CHARACTERS)


def _way_out(primary: int) -> str:
    return _NO_TAKE_OVER if primary == election.LARGEST else _TAKE_OVER


def _credentials(tls: Tls) -> GRPCCredentialsTLS:
    """Reads the files for gRPC. Raises FabricError if one is unusable, or key and certificate differ."""
    for key, fault in tls_files.file_faults(tls):
        raise FabricError(f"tls {key} {tls.files[key]}: {fault}")
    tls_files.context(tls)
    held = {key: file.read_bytes() for key, file in tls.files.items()}
    return GRPCCredentialsTLS(
        cacert=held["ca"],
        cert=held.get("certificate"),
        private_key=held.get("key"),
        target_name_override=tls.server_name or "",
    )


class _Options(GRPCOptions):
    def to_native(self) -> GRPCChannelArgumentType:
        return [*super().to_native(), ("grpc.use_local_subchannel_pool", 1)]


class _Client(P4Client):
    """finsy's client with a separate connection. If it waits for the switch, its requests have no deadline.

    gRPC shares connections, and the back-off after a failed one, among all channels of a process to the same
    address. A session that is opened because a switch has returned must not inherit an earlier failure.
    """

    async def open(
        self, *, schema: P4Schema | None = None, complete_request: Callable[[PBMessage], None] | None = None
    ) -> None:
        """Creates the channel; nothing is sent before the first request."""
        assert self._channel is None and self._stub is None, "a client is opened once"
        options = _Options(
            max_metadata_size=_MAX_METADATA_BYTES, max_reconnect_backoff_ms=_MAX_RECONNECT_BACKOFF_MS
        )
        self._channel = grpc_channel(
            self._address, credentials=self._credentials, options=options, client_type="P4Client"
        )
        stub = _Deadlines(p4r_grpc.P4RuntimeStub(self._channel), none=self._wait_for_ready)
        self._stub = cast("p4r_grpc.P4RuntimeStub", stub)
        self._schema = schema
        self._complete_request = complete_request


class _Deadlines:
    """A stub that gives calls other deadlines than finsy does: a longer one to load a program, or none."""

    def __init__(self, stub: p4r_grpc.P4RuntimeStub, *, none: bool) -> None:
        self._stub = stub
        self._none = none

    def __getattr__(self, name: str) -> Callable[..., object]:
        call: Callable[..., object] = getattr(self._stub, name)
        longer = {"timeout": LOAD_SECONDS} if name == "SetForwardingPipelineConfig" else {}
        other = {"timeout": None} if self._none else longer
        return lambda *given, **options: call(*given, **options | other)
