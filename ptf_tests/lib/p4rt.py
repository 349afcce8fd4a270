"""The P4Runtime client of the packet tests: a session with objects and fields by name.

finsy encodes the messages; its own client is asyncio's.
"""

import contextlib
import itertools
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

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
from finsy.proto import p4i, p4r, rpc_code
from google.protobuf import text_format

from ptf_tests.lib.p4rt_session import COMMIT, Failed, Session

_RPC_TIMEOUT_SECS = 10.0
_ELECTION_IDS = itertools.count(1)

Match = int | tuple[int, int]


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
    """One session of a case. What the switch refuses raises `Failed`.

    The stream is read by a thread of its own; packets wait in a queue until `packet_in` takes them.
    """

    def __init__(self, address: str, p4info_text: str) -> None:
        self.schema = _schema(p4info_text)
        # Higher than all before it in this process: if a target has not yet noticed the end of the last
        # client, it still makes this one primary.
        self._session = Session(
            address, election_id=next(_ELECTION_IDS), timeout_s=_RPC_TIMEOUT_SECS, stream_timeout_s=None
        )
        self._packets: queue.Queue[p4r.StreamMessageResponse] = queue.Queue()
        self._reader = threading.Thread(target=self._read_stream, name="p4rt-stream", daemon=True)

    def close(self) -> None:
        """Ends the stream and the channel; idempotent."""
        self._session.close()
        if self._reader.is_alive():
            self._reader.join(timeout=_RPC_TIMEOUT_SECS)

    def become_primary(self) -> None:
        """Arbitrates (P4RT 5), and asserts that it becomes primary."""
        status = self._session.arbitrate().status
        assert status.code == rpc_code.OK, f"not primary: {status.message}"
        self._reader.start()

    def set_pipeline(self, device_config: bytes) -> None:
        """Loads and starts a program: VERIFY_AND_COMMIT (P4RT 7), which also clears tables and registers."""
        config = p4r.ForwardingPipelineConfig(p4info=self.schema.p4info, p4_device_config=device_config)
        self._session.push(COMMIT, config)

    # --- entities ------------------------------------------------------------------------------------------

    def write(self, kind: str, *entities: P4Entity) -> None:
        """Sends updates of a kind, "INSERT", "MODIFY" or "DELETE", in one batch, in order."""
        number = p4r.Update.Type.Value(kind)
        self._session.write(*((number, entity.encode(self.schema)) for entity in entities))

    # Any: the kinds of the entities that are found are those of the entities asked for.
    def read(self, *entities: P4Entity) -> Iterator[Any]:
        """Returns every entity that matches the requested entities, which may be wildcards."""
        found = self._session.entities(*(entity.encode(self.schema) for entity in entities))
        return (decode_entity(entity, self.schema) for entity in found)

    def packets_counted(self, name: str, indexes: Iterable[int]) -> dict[int, int]:
        """Returns the packets in cells of an indirect counter, by index. Hundreds are read after each case,
        so they are not converted to finsy's entities."""
        counter = P4CounterEntry(name).encode(self.schema).counter_entry.counter_id
        cells = (p4r.CounterEntry(counter_id=counter, index=p4r.Index(index=index)) for index in indexes)
        found = (entity.counter_entry for entity in self._session.entities(*cells))
        return {entry.index.index: entry.data.packet_count for entry in found}

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
        self._session.send(packet.encode_update(self.schema))

    def packet_in(self, timeout: float) -> P4PacketIn | None:
        """Returns the oldest packet-in, or None if none arrives within `timeout` seconds."""
        try:
            return P4PacketIn.decode(self._packets.get(timeout=timeout), self.schema)
        except queue.Empty:
            return None

    def _read_stream(self) -> None:
        # Fails when the case itself ends the stream; then no caller waits for packets.
        with contextlib.suppress(Failed, StopIteration):
            while True:
                message = self._session.receive()
                if message.HasField("packet"):
                    self._packets.put(message)
