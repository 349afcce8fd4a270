"""A minimal P4Runtime client for tests, with objects and fields by name.

It is not a controller: it computes no routes, keeps no intended state and repairs nothing, so that a test's
writes are exactly the switch's requests. Messages come from `finsy.proto` (the only P4Runtime stubs on PyPI
that can be imported beside a current protobuf); nothing else of finsy is used.

P4Runtime specification 1.4/1.5: sections are cited as "P4RT n.n".
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, TypeVar

import grpc
from finsy.proto import p4i, p4r, p4r_grpc, rpc_code, rpc_status
from google.protobuf import text_format

_RPC_TIMEOUT_SECS = 10.0
_ELECTION_IDS = itertools.count(1)

Match = int | tuple[int, int]


class _Named(Protocol):
    """An object of a P4Info."""

    @property
    def preamble(self) -> p4i.Preamble: ...


_Object = TypeVar("_Object", bound=_Named)
_Request = TypeVar("_Request", contravariant=True)
_Reply = TypeVar("_Reply", covariant=True)


class _Method(Protocol[_Request, _Reply]):
    """A unary call of the stub."""

    def __call__(self, request: _Request, /, *, timeout: float) -> _Reply: ...


class P4RuntimeError(Exception):
    """The switch refused a request. `codes` has one gRPC code for each update (0 = accepted), if the switch
    returned them."""

    def __init__(self, message: str, code: int, codes: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.codes = list(codes)


@dataclass(frozen=True)
class PacketIn:
    """A packet from the switch to its controller, with its metadata by name."""

    payload: bytes
    metadata: Mapping[str, int]


def canonical(value: int) -> bytes:
    """Returns the shortest big-endian string of a value, at least one byte ("canonical" in P4RT 8.4)."""
    if value < 0:
        raise ValueError(f"{value}: P4Runtime values are unsigned")
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


class P4InfoIndex:
    """Finds objects of a P4Info by alias or full name; the error for an unknown name lists the names."""

    def __init__(self, p4info: p4i.P4Info) -> None:
        self.p4info = p4info

    @classmethod
    @cache
    def from_text(cls, text: str) -> P4InfoIndex:
        """Parses a P4Info in text format. Cached: all tests use the same one, and none changes it."""
        return cls(text_format.Parse(text, p4i.P4Info()))

    def table(self, name: str) -> p4i.Table:
        """Returns the table called `name`."""
        return self._find("table", self.p4info.tables, name)

    def action(self, name: str) -> p4i.Action:
        """Returns the action called `name`."""
        return self._find("action", self.p4info.actions, name)

    def counter(self, name: str) -> p4i.Counter:
        """Returns the indirect counter called `name`."""
        return self._find("counter", self.p4info.counters, name)

    def register(self, name: str) -> p4i.Register:
        """Returns the register called `name`."""
        return self._find("register", self.p4info.registers, name)

    def action_profile(self, name: str) -> p4i.ActionProfile:
        """Returns the action profile (or selector) called `name`."""
        return self._find("action profile", self.p4info.action_profiles, name)

    def packet_metadata(self, name: str) -> p4i.ControllerPacketMetadata:
        """Returns the header `packet_in` or `packet_out`."""
        return self._find("packet metadata", self.p4info.controller_packet_metadata, name)

    @staticmethod
    def _find(kind: str, objects: Iterable[_Object], name: str) -> _Object:
        known = []
        for candidate in objects:
            if name in (candidate.preamble.alias, candidate.preamble.name):
                return candidate
            known.append(candidate.preamble.alias)
        raise LookupError(f"the P4Info has no {kind} '{name}'; it has {', '.join(sorted(known))}")


class P4RuntimeClient:
    """One P4Runtime connection: a stream that arbitrates and receives packets, and unary calls.

    The stream is read by a thread of its own; packets wait in a queue until `packet_in` takes them.
    """

    def __init__(self, address: str, p4info_text: str, device_id: int = 1) -> None:
        # Higher than all before it in this process: if a target has not yet noticed the end of the last
        # client, it still makes this one primary.
        election_id = next(_ELECTION_IDS)
        self.index = P4InfoIndex.from_text(p4info_text)
        self.device_id = device_id
        self.election_id = p4r.Uint128(high=election_id >> 64, low=election_id & (2**64 - 1))
        self._channel = grpc.insecure_channel(address)
        self._stub = p4r_grpc.P4RuntimeStub(self._channel)
        self._requests: queue.Queue[p4r.StreamMessageRequest | None] = queue.Queue()
        self._arbitrations: queue.Queue[p4r.MasterArbitrationUpdate] = queue.Queue()
        self._packets: queue.Queue[p4r.PacketIn] = queue.Queue()
        self._stream_end = ""
        self._stream = self._stub.StreamChannel(iter(self._requests.get, None))
        self._reader = threading.Thread(target=self._read_stream, name="p4rt-stream", daemon=True)
        self._reader.start()

    def __enter__(self) -> P4RuntimeClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the stream and the channel; idempotent."""
        self._requests.put(None)
        self._stream.cancel()
        self._channel.close()
        self._reader.join(timeout=_RPC_TIMEOUT_SECS)

    def become_primary(self) -> None:
        """Opens the stream with arbitration (P4RT 5), and raises unless it becomes primary."""
        request = p4r.StreamMessageRequest()
        request.arbitration.device_id = self.device_id
        request.arbitration.election_id.CopyFrom(self.election_id)
        self._requests.put(request)
        try:
            reply = self._arbitrations.get(timeout=_RPC_TIMEOUT_SECS)
        except queue.Empty:
            raise P4RuntimeError(
                f"no answer to arbitration{self._stream_end}", rpc_code.DEADLINE_EXCEEDED
            ) from None
        if reply.status.code != rpc_code.OK:
            raise P4RuntimeError(f"not primary: {reply.status.message}", reply.status.code)

    def set_pipeline(self, device_config: bytes) -> None:
        """Loads and starts a program: VERIFY_AND_COMMIT (P4RT 7), which also clears tables and registers."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device_id,
            election_id=self.election_id,
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
        )
        request.config.p4info.CopyFrom(self.index.p4info)
        request.config.p4_device_config = device_config
        self._call(self._stub.SetForwardingPipelineConfig, request)

    # --- writing -------------------------------------------------------------------------------------------

    def write(self, *updates: p4r.Update) -> None:
        """Sends updates in one batch, in order. Raises P4RuntimeError if any is refused."""
        request = p4r.WriteRequest(device_id=self.device_id, election_id=self.election_id)
        request.updates.extend(updates)
        self._call(self._stub.Write, request)

    def update(self, kind: str, entity: p4r.Entity) -> p4r.Update:
        """Returns an update of kind "INSERT", "MODIFY" or "DELETE"."""
        return p4r.Update(type=p4r.Update.Type.Value(kind), entity=entity)

    def table_entry(
        self,
        table: str,
        match: Mapping[str, Match],
        action: str | None = None,
        params: Mapping[str, int] | None = None,
    ) -> p4r.Entity:
        """Returns a table entry by names. `match` maps a key to a value (exact) or to (value, prefix length)
        (LPM). Without `action` the entity only identifies the entry (to delete it)."""
        info = self.index.table(table)
        entry = p4r.TableEntry(table_id=info.preamble.id)
        fields = {field.name: field for field in info.match_fields}
        for name, wanted in match.items():
            if name not in fields:
                raise LookupError(f"table {table} has no key '{name}'; it has {', '.join(fields)}")
            field = fields[name]
            key = entry.match.add(field_id=field.id)
            if field.match_type == p4i.MatchField.EXACT:
                assert isinstance(wanted, int)
                key.exact.value = canonical(wanted)
            elif field.match_type == p4i.MatchField.LPM:
                assert isinstance(wanted, tuple)
                key.lpm.value, key.lpm.prefix_len = canonical(wanted[0]), wanted[1]
            else:
                raise NotImplementedError(f"key '{name}' of table {table}: match type {field.match_type}")
        if action is not None:
            entry.action.action.CopyFrom(self.action(action, params or {}))
        return p4r.Entity(table_entry=entry)

    def action(self, name: str, params: Mapping[str, int]) -> p4r.Action:
        """Returns an action; every parameter must be given by name."""
        info = self.index.action(name)
        wanted = {param.name: param.id for param in info.params}
        if set(wanted) != set(params):
            raise LookupError(f"action {name} takes {sorted(wanted)}, given {sorted(params)}")
        action = p4r.Action(action_id=info.preamble.id)
        for param, value in params.items():
            action.params.add(param_id=wanted[param], value=canonical(value))
        return action

    def default_entry(self, table: str, action: str, params: Mapping[str, int]) -> p4r.Entity:
        """Returns the default action of a table, to be written with MODIFY (P4RT 9.1.2)."""
        entity = self.table_entry(table, {}, action, params)
        entity.table_entry.is_default_action = True
        return entity

    def one_shot_entry(
        self,
        table: str,
        match: Mapping[str, Match],
        actions: Sequence[tuple[str, Mapping[str, int], int]],
    ) -> p4r.Entity:
        """Returns an entry with its own group of actions, each (action, params, weight) (P4RT 9.2.3)."""
        entity = self.table_entry(table, match)
        chosen = entity.table_entry.action.action_profile_action_set
        for name, params, weight in actions:
            member = chosen.action_profile_actions.add(weight=weight)
            member.action.CopyFrom(self.action(name, params))
        return entity

    def member(self, profile: str, member_id: int, action: str, params: Mapping[str, int]) -> p4r.Entity:
        """Returns a member of an action profile."""
        entity = p4r.Entity()
        entity.action_profile_member.action_profile_id = self.index.action_profile(profile).preamble.id
        entity.action_profile_member.member_id = member_id
        entity.action_profile_member.action.CopyFrom(self.action(action, params))
        return entity

    def group(self, profile: str, group_id: int, members: Mapping[int, int], max_size: int = 0) -> p4r.Entity:
        """Returns a group of an action profile: member id -> weight."""
        entity = p4r.Entity()
        group = entity.action_profile_group
        group.action_profile_id = self.index.action_profile(profile).preamble.id
        group.group_id, group.max_size = group_id, max_size
        for member_id, weight in members.items():
            group.members.add(member_id=member_id, weight=weight)
        return entity

    def group_entry(self, table: str, match: Mapping[str, Match], group_id: int) -> p4r.Entity:
        """Returns a table entry that refers to a group."""
        entity = self.table_entry(table, match)
        entity.table_entry.action.action_profile_group_id = group_id
        return entity

    def clone_session(self, session: int, port: int) -> p4r.Entity:
        """Returns a clone session with one replica."""
        entity = p4r.Entity()
        entity.packet_replication_engine_entry.clone_session_entry.session_id = session
        replica = entity.packet_replication_engine_entry.clone_session_entry.replicas.add()
        replica.egress_port, replica.instance = port, 1
        return entity

    # --- reading -------------------------------------------------------------------------------------------

    def read(self, *entities: p4r.Entity) -> Iterator[p4r.Entity]:
        """Yields every entity that matches the requested entities, which may be wildcards."""
        request = p4r.ReadRequest(device_id=self.device_id)
        request.entities.extend(entities)
        try:
            for response in self._stub.Read(request, timeout=_RPC_TIMEOUT_SECS):
                yield from response.entities
        except grpc.RpcError as error:
            raise _refusal(error) from error

    def register_read(self, name: str, index: int) -> int:
        """Returns one cell of a register."""
        replies = list(self.read(self._register(name, index)))
        if len(replies) != 1:
            raise AssertionError(f"register {name}[{index}]: one cell asked for, {len(replies)} returned")
        return int.from_bytes(replies[0].register_entry.data.bitstring, "big")

    def counter_read(self, name: str, index: int) -> tuple[int, int]:
        """Returns one cell of an indirect counter: (packets, bytes)."""
        request = p4r.Entity()
        request.counter_entry.counter_id = self.index.counter(name).preamble.id
        request.counter_entry.index.index = index
        replies = list(self.read(request))
        if len(replies) != 1:
            raise AssertionError(f"counter {name}[{index}]: one cell asked for, {len(replies)} returned")
        data = replies[0].counter_entry.data
        return data.packet_count, data.byte_count

    def _register(self, name: str, index: int) -> p4r.Entity:
        entity = p4r.Entity()
        entity.register_entry.register_id = self.index.register(name).preamble.id
        entity.register_entry.index.index = index
        return entity

    # --- packets -------------------------------------------------------------------------------------------

    def packet_out(self, payload: bytes, metadata: Mapping[str, int]) -> None:
        """Sends a packet-out; fields of the packet_out header that are not given are 0."""
        request = p4r.StreamMessageRequest()
        request.packet.payload = payload
        for field in self.index.packet_metadata("packet_out").metadata:
            request.packet.metadata.add(metadata_id=field.id, value=canonical(metadata.get(field.name, 0)))
        self._requests.put(request)

    def packet_in(self, timeout: float) -> PacketIn | None:
        """Returns the oldest packet-in, or None if none arrives within `timeout` seconds."""
        try:
            message = self._packets.get(timeout=timeout)
        except queue.Empty:
            return None
        names = {field.id: field.name for field in self.index.packet_metadata("packet_in").metadata}
        fields = {names[m.metadata_id]: int.from_bytes(m.value, "big") for m in message.metadata}
        return PacketIn(message.payload, fields)

    # --- transport -----------------------------------------------------------------------------------------

    def _read_stream(self) -> None:
        try:
            for message in self._stream:
                kind = message.WhichOneof("update")
                if kind == "arbitration":
                    self._arbitrations.put(message.arbitration)
                elif kind == "packet":
                    self._packets.put(message.packet)
        except grpc.RpcError as error:
            # Also reached when the test itself closes the stream; then no caller waits for it.
            self._stream_end = f"; the stream ended: {error.code().name}: {error.details()}"

    def _call(self, method: _Method[_Request, _Reply], request: _Request) -> _Reply:
        try:
            return method(request, timeout=_RPC_TIMEOUT_SECS)
        except grpc.RpcError as error:
            raise _refusal(error) from error


def _refusal(error: grpc.RpcError) -> P4RuntimeError:
    """Returns the switch's error, with the per-update errors of a batched write (P4RT 12.3)."""
    message, code, codes = f"{error.code().name}: {error.details()}", error.code().value[0], []
    for item in error.trailing_metadata() or ():
        if item.key != "grpc-status-details-bin":
            continue
        status = rpc_status.Status.FromString(item.value)
        for position, detail in enumerate(status.details):
            one = p4r.Error()
            if not detail.Unpack(one):
                continue
            codes.append(one.canonical_code)
            if one.canonical_code != rpc_code.OK:
                name = rpc_code.Code.Name(rpc_code.Code.ValueType(one.canonical_code))
                message += f"\n  update {position}: {name}: {one.message}"
    return P4RuntimeError(message, code, codes)
