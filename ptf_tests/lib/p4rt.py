"""A P4Runtime client for tests, with objects and fields by name.

It is not a controller: it computes no routes, keeps no intended state and repairs nothing, so that a test's
writes are exactly the switch's requests. finsy encodes the messages; its own client is asyncio's.

P4Runtime specification 1.4/1.5: sections are cited as "P4RT n.n".
"""

import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import grpc
from finsy import (
    P4CounterEntry,
    P4PacketIn,
    P4PacketOut,
    P4RegisterEntry,
    P4Schema,
    P4TableAction,
    P4TableEntry,
    P4TableMatch,
)
from finsy.p4entity import P4Entity, decode_entity
from finsy.proto import U128, p4i, p4r, p4r_grpc, rpc_code, rpc_status
from google.protobuf import text_format

_RPC_TIMEOUT_SECS = 10.0
_ELECTION_IDS = itertools.count(1)
DEVICE_ID = 1

Match = int | tuple[int, int]


class P4RuntimeError(Exception):
    """The switch refused a request."""


def table_entry(
    table: str, match: Mapping[str, Match], action: str | None = None, params: Mapping[str, int] | None = None
) -> P4TableEntry:
    """Returns a table entry by names. `match` maps a key to a value (exact) or to (value, prefix length)
    (LPM). Without `action` it only identifies the entry. In a table with an action profile, the entry gets a
    group of its own (P4RT 9.2.3)."""
    chosen = None if action is None else P4TableAction(action, **(params or {}))
    return P4TableEntry(table, match=P4TableMatch(match), action=chosen)


@cache
def _schema(p4info: str) -> P4Schema:
    """Parses a P4Info in text format. Cached: all tests use the same one, and none changes it."""
    return P4Schema(text_format.Parse(p4info, p4i.P4Info()))


class P4RuntimeClient:
    """One P4Runtime connection: a stream that arbitrates and receives packets, and unary calls.

    The stream is read by a thread of its own; packets wait in a queue until `packet_in` takes them.
    """

    def __init__(self, address: str, p4info_text: str) -> None:
        self.schema = _schema(p4info_text)
        # Higher than all before it in this process: if a target has not yet noticed the end of the last
        # client, it still makes this one primary.
        self._election_id = U128.encode(next(_ELECTION_IDS))
        self._channel = grpc.insecure_channel(address)
        self._stub = p4r_grpc.P4RuntimeStub(self._channel)
        self._requests: queue.Queue[p4r.StreamMessageRequest | None] = queue.Queue()
        self._arbitrations: queue.Queue[p4r.MasterArbitrationUpdate] = queue.Queue()
        self._packets: queue.Queue[p4r.StreamMessageResponse] = queue.Queue()
        self._stream_end = ""
        self._stream = self._stub.StreamChannel(iter(self._requests.get, None))
        self._reader = threading.Thread(target=self._read_stream, name="p4rt-stream", daemon=True)
        self._reader.start()

    def close(self) -> None:
        """Ends the stream and the channel; idempotent."""
        self._requests.put(None)
        self._stream.cancel()
        self._channel.close()
        self._reader.join(timeout=_RPC_TIMEOUT_SECS)

    def become_primary(self) -> None:
        """Opens the stream with arbitration (P4RT 5), and raises unless it becomes primary."""
        update = p4r.MasterArbitrationUpdate(device_id=DEVICE_ID, election_id=self._election_id)
        self._requests.put(p4r.StreamMessageRequest(arbitration=update))
        try:
            reply = self._arbitrations.get(timeout=_RPC_TIMEOUT_SECS)
        except queue.Empty:
            raise P4RuntimeError(f"no answer to arbitration{self._stream_end}") from None
        if reply.status.code != rpc_code.OK:
            raise P4RuntimeError(f"not primary: {reply.status.message}")

    def set_pipeline(self, device_config: bytes) -> None:
        """Loads and starts a program: VERIFY_AND_COMMIT (P4RT 7), which also clears tables and registers."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=DEVICE_ID,
            election_id=self._election_id,
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
            config=p4r.ForwardingPipelineConfig(p4info=self.schema.p4info, p4_device_config=device_config),
        )
        self._call(self._stub.SetForwardingPipelineConfig, request)

    # --- entities ------------------------------------------------------------------------------------------

    def write(self, kind: str, *entities: P4Entity) -> None:
        """Sends updates of a kind, "INSERT", "MODIFY" or "DELETE", in one batch, in order. Raises
        P4RuntimeError if any is refused."""
        request = p4r.WriteRequest(device_id=DEVICE_ID, election_id=self._election_id)
        for entity in entities:
            request.updates.add(type=p4r.Update.Type.Value(kind), entity=entity.encode(self.schema))
        self._call(self._stub.Write, request)

    # Any: the kinds of the entities that are found are those of the entities asked for.
    def read(self, *entities: P4Entity) -> Iterator[Any]:
        """Returns every entity that matches the requested entities, which may be wildcards."""
        request = p4r.ReadRequest(device_id=DEVICE_ID)
        request.entities.extend(entity.encode(self.schema) for entity in entities)
        return (decode_entity(entity, self.schema) for entity in self._read(request))

    def packets_counted(self, name: str, indexes: Iterable[int]) -> dict[int, int]:
        """Returns the packets in cells of an indirect counter, by index. Hundreds are read after each case,
        so they are not converted to finsy's entities."""
        request = p4r.ReadRequest(device_id=DEVICE_ID)
        whole = P4CounterEntry(name).encode(self.schema)
        for index in indexes:
            request.entities.append(whole)
            request.entities[-1].counter_entry.index.index = index
        found = (entity.counter_entry for entity in self._read(request))
        return {entry.index.index: entry.data.packet_count for entry in found}

    def _read(self, request: p4r.ReadRequest) -> Iterator[p4r.Entity]:
        try:
            for response in self._stub.Read(request, timeout=_RPC_TIMEOUT_SECS):
                yield from response.entities
        except grpc.RpcError as error:
            raise _refusal(error) from error

    def registers_read(self, cells: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Returns cells of registers, by name and index."""
        found = self.read(*(P4RegisterEntry(name, index=index) for name, index in cells))
        return {(cell.register_id, cell.index): int(cell.data) for cell in found}

    def counter_read(self, name: str, index: int) -> tuple[int, int]:
        """Returns one cell of an indirect counter: (packets, bytes)."""
        (cell,) = self.read(P4CounterEntry(name, index=index))
        return cell.packet_count, cell.byte_count

    # --- packets -------------------------------------------------------------------------------------------

    def packet_out(self, payload: bytes, egress_port: int) -> None:
        """Sends a packet-out to a port."""
        packet = P4PacketOut(payload, egress_port=egress_port, _pad=0)
        self._requests.put(packet.encode_update(self.schema))

    def packet_in(self, timeout: float) -> P4PacketIn | None:
        """Returns the oldest packet-in, or None if none arrives within `timeout` seconds."""
        try:
            return P4PacketIn.decode(self._packets.get(timeout=timeout), self.schema)
        except queue.Empty:
            return None

    # --- transport -----------------------------------------------------------------------------------------

    def _read_stream(self) -> None:
        try:
            for message in self._stream:
                kind = message.WhichOneof("update")
                if kind == "arbitration":
                    self._arbitrations.put(message.arbitration)
                elif kind == "packet":
                    self._packets.put(message)
        except grpc.RpcError as error:
            # Also reached when the test itself closes the stream; then no caller waits for it.
            self._stream_end = f"; the stream ended: {error.code().name}: {error.details()}"

    # Any: the stub's methods have one type each.
    def _call(self, method: Callable[..., Any], request: object) -> None:
        try:
            method(request, timeout=_RPC_TIMEOUT_SECS)
        except grpc.RpcError as error:
            raise _refusal(error) from error


def _refusal(error: grpc.RpcError) -> P4RuntimeError:
    """Returns the switch's error, with the per-update errors of a batched write (P4RT 12.3)."""
    message = f"{error.code().name}: {error.details()}"
    for item in error.trailing_metadata() or ():
        if item.key != "grpc-status-details-bin":
            continue
        for position, detail in enumerate(rpc_status.Status.FromString(item.value).details):
            one = p4r.Error()
            if detail.Unpack(one) and one.canonical_code != rpc_code.OK:
                name = rpc_code.Code.Name(rpc_code.Code.ValueType(one.canonical_code))
                message += f"\n  update {position}: {name}: {one.message}"
    return P4RuntimeError(message)
