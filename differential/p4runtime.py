"""A P4Runtime client for either switch: the primary of its device, with requests as repeatable text.

A request is `Call("p4runtime", "write" or "read", (text,))`; its text is a WriteRequest or a ReadRequest in
Protobuf's text format without device and election id. The client has no state: `requests` knows the objects
in the switches.
"""

import queue
from collections.abc import Callable
from typing import Any

import grpc
from finsy.proto import U128, p4i, p4r, p4r_grpc, rpc_code, rpc_status
from google.protobuf import text_format

from .thrift import Call

TIMEOUT_SECONDS = 30.0
DEVICE_ID = 1
SERVICE = "p4runtime"
"""In place of a Thrift service."""
NAMES: dict[int, str] = {number: name for name, number in rpc_code.Code.items()}


class P4RuntimeClient:
    """A connection, primary until it is closed."""

    def __init__(self, address: str, info: p4i.P4Info, program: bytes) -> None:
        """Becomes primary, and sets the pipeline. Raises `grpc.RpcError`."""
        self._channel = grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        grpc.channel_ready_future(self._channel).result(TIMEOUT_SECONDS)
        self._stub = p4r_grpc.P4RuntimeStub(self._channel)
        self._requests: queue.SimpleQueue[p4r.StreamMessageRequest | None] = queue.SimpleQueue()
        self._election_id = U128.encode(1)
        self._stream = self._stub.StreamChannel(iter(self._requests.get, None))
        first = p4r.MasterArbitrationUpdate(device_id=DEVICE_ID, election_id=self._election_id)
        self._requests.put(p4r.StreamMessageRequest(arbitration=first))
        next(self._stream)
        self._stub.SetForwardingPipelineConfig(
            p4r.SetForwardingPipelineConfigRequest(
                device_id=DEVICE_ID,
                election_id=self._election_id,
                action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
                config=p4r.ForwardingPipelineConfig(p4info=info, p4_device_config=program),
            ),
            timeout=TIMEOUT_SECONDS,
        )

    def close(self) -> None:
        """Ends the stream and the connection."""
        self._requests.put(None)
        self._stream.cancel()
        self._channel.close()

    def make(self, call: Call) -> object:
        """Returns the code of each update of a write, or the serialized entities of a read; for a refusal,
        ("refused", code).

        Raises `grpc.RpcError` if the switch has ended.
        """
        (text,) = call.arguments
        assert isinstance(text, str), "a request as text"
        made: Callable[[str], object] = self._write if call.method == "write" else self._read
        try:
            return made(text)
        except grpc.RpcError as error:
            if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise
            return ("refused", error.code().name)

    def _write(self, text: str) -> list[str]:
        request = text_format.Parse(text, p4r.WriteRequest())
        request.device_id = DEVICE_ID
        request.election_id.CopyFrom(self._election_id)
        try:
            self._stub.Write(request, timeout=TIMEOUT_SECONDS)
        except grpc.RpcError as error:
            found = _codes(error)
            if not found:
                raise
            return found
        return ["OK"] * len(request.updates)

    def _read(self, text: str) -> list[bytes]:
        request = text_format.Parse(text, p4r.ReadRequest())
        request.device_id = DEVICE_ID
        found = [
            _bytes(entity)
            for response in self._stub.Read(request, timeout=TIMEOUT_SECONDS)
            for entity in response.entities
        ]
        # Neither side guarantees an order.
        return sorted(found)


def entity_text(content: bytes) -> str:
    """Returns an entity of an answer as text."""
    return text_format.MessageToString(p4r.Entity.FromString(content), as_one_line=True)


def _bytes(entity: p4r.Entity) -> bytes:
    if entity.WhichOneof("entity") == "action_profile_group":
        members = sorted(entity.action_profile_group.members, key=lambda member: member.member_id)
        del entity.action_profile_group.members[:]
        entity.action_profile_group.members.extend(members)
    return entity.SerializeToString(deterministic=True)


def _codes(error: grpc.RpcError) -> list[str]:
    """Returns the code of each update, from the details of a failed write."""
    # Any: grpc's stubs have no type for pairs of names and values.
    metadata: Any = error.trailing_metadata() or ()
    content = dict(metadata).get("grpc-status-details-bin")
    if content is None:
        return []
    details = rpc_status.Status.FromString(content).details
    codes = [p4r.Error.FromString(detail.value).canonical_code for detail in details]
    return [NAMES.get(code, str(code)) for code in codes]
