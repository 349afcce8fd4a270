"""The P4Runtime client of all tests: one connection, with the messages of the specification.

It is not a controller: it keeps no intended state and repairs nothing, so that a test's requests are exactly
the switch's. P4Runtime specification 1.4/1.5: sections are cited as "P4RT n.n".
"""

import contextlib
import queue
import threading
from collections.abc import Iterator
from typing import Any

import grpc
from finsy.proto import U128, p4r, p4r_grpc, rpc_code, rpc_status
from google.protobuf.message import Message

DEVICE_ID = 1
INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
COMMIT = p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
_ALL = p4r.GetForwardingPipelineConfigRequest.ALL
CODES: dict[int, str] = {number: name for name, number in rpc_code.Code.items()}

_OPTIONS = [("grpc.max_metadata_size", 1 << 20), ("grpc.use_local_subchannel_pool", 1)]
_FIELDS = {
    field.message_type.name: field.name
    for field in p4r.Entity.DESCRIPTOR.fields
    if field.message_type is not None
}


class Failed(Exception):
    """A call that ended with an error: `code`, `message`, and for a Write the `(code, message)` of each
    update (P4RT 12.3).
    """

    def __init__(self, error: grpc.RpcError) -> None:
        self.code: int = error.code().value[0]
        self.message: str = error.details() or ""
        self.updates: list[tuple[int, str]] = []
        # Any: grpc's stubs have no type for pairs of names and values.
        metadata: Any = error.trailing_metadata() or ()
        for key, value in metadata:
            # PI also sends details with other errors, but without items.
            if key == "grpc-status-details-bin":
                status = rpc_status.Status.FromString(value)
                assert status.code == self.code
                assert self.code == rpc_code.UNKNOWN or not status.details
                for detail in status.details:
                    assert detail.type_url == "type.googleapis.com/p4.v1.Error"
                    one = p4r.Error.FromString(detail.value)
                    self.updates.append((one.canonical_code, one.message))
        lines = [f"{CODES[self.code]}: {self.message}"]
        for position, (code, message) in enumerate(self.updates):
            if code != rpc_code.OK:
                lines.append(f"  update {position}: {CODES.get(code, code)}: {message}")
        super().__init__("\n".join(lines))


class Session:
    """A client of one switch, with its stream. A refused or failed call raises `Failed`."""

    def __init__(
        self,
        address: str,
        device_id: int = DEVICE_ID,
        election_id: int = 1,
        role: str = "",
        timeout_s: float = 120,
        stream_timeout_s: float | None = 120,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        """Opens the stream; `stream_timeout_s` is its whole life, `timeout_s` that of arbitration and of any
        other call."""
        self._address = address
        if credentials is None:
            self.channel = grpc.insecure_channel(address, options=_OPTIONS)
        else:
            self.channel = grpc.secure_channel(address, credentials, options=_OPTIONS)
        self.stub = p4r_grpc.P4RuntimeStub(self.channel)
        self.device_id, self.election_id, self.role = device_id, election_id, role
        self._timeout_s = timeout_s
        self._requests: queue.SimpleQueue[p4r.StreamMessageRequest | None] = queue.SimpleQueue()
        self._stream = self.stub.StreamChannel(iter(self._requests.get, None), timeout=stream_timeout_s)

    def close(self) -> None:
        """Ends the stream and the connection; idempotent."""
        self._requests.put(None)
        self._stream.cancel()
        self.channel.close()

    def leave(self) -> None:
        """Ends the stream, and waits until the switch has noticed it."""
        self._requests.put(None)
        for _ in self._stream:
            pass

    def send(self, message: p4r.StreamMessageRequest) -> None:
        """Sends a message on the stream."""
        self._requests.put(message)

    def receive(self) -> p4r.StreamMessageResponse:
        """Returns the next message of the stream."""
        with _failing():
            return next(self._stream)

    def arbitrate(
        self, election_id: int | None = None, role: p4r.Role | None = None
    ) -> p4r.MasterArbitrationUpdate:
        """Sends an election id and a role (by default, this client's), and returns the answer (P4RT 5).
        Raises TimeoutError if the switch gives none in time, and ends the stream."""
        self.election_id = self.election_id if election_id is None else election_id
        if role is None and self.role:
            role = p4r.Role(name=self.role)
        number = U128.encode(self.election_id)
        update = p4r.MasterArbitrationUpdate(device_id=self.device_id, election_id=number, role=role)
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._stream.cancel()

        timer = threading.Timer(self._timeout_s, give_up)
        timer.daemon = True
        timer.start()
        try:
            self.send(p4r.StreamMessageRequest(arbitration=update))
            return self.receive().arbitration
        except Failed:
            if late.is_set():
                reason = f"{self._address}: no answer to arbitration within {self._timeout_s:g} s"
                raise TimeoutError(reason) from None
            raise
        finally:
            timer.cancel()

    def push(
        self,
        action: p4r.SetForwardingPipelineConfigRequest.Action.ValueType,
        config: p4r.ForwardingPipelineConfig | None = None,
    ) -> None:
        """Calls SetForwardingPipelineConfig (P4RT 7)."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device_id,
            role=self.role,
            election_id=U128.encode(self.election_id),
            action=action,
            config=config,
        )
        with _failing():
            self.stub.SetForwardingPipelineConfig(request, timeout=self._timeout_s)

    def write(
        self,
        *updates: tuple[p4r.Update.Type.ValueType, Message],
        atomicity: p4r.WriteRequest.Atomicity.ValueType = p4r.WriteRequest.CONTINUE_ON_ERROR,
        role_id: int = 0,
    ) -> None:
        """Writes (kind, entity) pairs in one batch, in order."""
        request = p4r.WriteRequest(
            device_id=self.device_id,
            role=self.role,
            role_id=role_id,
            election_id=U128.encode(self.election_id),
            atomicity=atomicity,
            updates=[p4r.Update(type=kind, entity=entity_of(entity)) for kind, entity in updates],
        )
        with _failing():
            self.stub.Write(request, timeout=self._timeout_s)

    def pipeline(
        self, response_type: p4r.GetForwardingPipelineConfigRequest.ResponseType.ValueType = _ALL
    ) -> p4r.ForwardingPipelineConfig:
        """Calls GetForwardingPipelineConfig."""
        request = p4r.GetForwardingPipelineConfigRequest(
            device_id=self.device_id, response_type=response_type
        )
        with _failing():
            return self.stub.GetForwardingPipelineConfig(request, timeout=self._timeout_s).config

    def entities(self, *wanted: Message, role: str = "") -> Iterator[p4r.Entity]:
        """Returns the entities that the switch sends in answer to a Read, as they arrive."""
        request = p4r.ReadRequest(
            device_id=self.device_id, role=role, entities=[entity_of(entity) for entity in wanted]
        )
        with _failing():
            for response in self.stub.Read(request, timeout=self._timeout_s):
                yield from response.entities


@contextlib.contextmanager
def _failing() -> Iterator[None]:
    try:
        yield
    except grpc.RpcError as error:
        raise Failed(error) from None


def entity_of(content: Message) -> p4r.Entity:
    """Returns an `Entity` around one of its kinds."""
    if isinstance(content, p4r.Entity):
        return content
    if isinstance(content, p4r.MulticastGroupEntry):
        content = p4r.PacketReplicationEngineEntry(multicast_group_entry=content)
    elif isinstance(content, p4r.CloneSessionEntry):
        content = p4r.PacketReplicationEngineEntry(clone_session_entry=content)
    # Any: which type a field has, the name of the type decides.
    fields: Any = {_FIELDS[content.DESCRIPTOR.name]: content}
    return p4r.Entity(**fields)
