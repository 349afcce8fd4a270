"""The P4Runtime servicer in this process: its methods are called as by gRPC, but without a socket, and its
responses are checked."""

import queue
from collections.abc import Iterator
from typing import Any

import grpc
from eeon_engine import Switch
from eeon_engine.p4runtime.device import Device
from eeon_engine.p4runtime.program.pipeline import Pipeline
from eeon_engine.p4runtime.server.rooms import Room
from eeon_engine.p4runtime.server.service import Service
from finsy.proto import U128, p4r, rpc_code, rpc_status

from .world import require

ELECTION_ID = 7

DOCUMENTED = frozenset(
    {
        rpc_code.INVALID_ARGUMENT,
        rpc_code.NOT_FOUND,
        rpc_code.ALREADY_EXISTS,
        rpc_code.PERMISSION_DENIED,
        rpc_code.FAILED_PRECONDITION,
        rpc_code.RESOURCE_EXHAUSTED,
        rpc_code.ABORTED,
        rpc_code.OUT_OF_RANGE,
        rpc_code.UNIMPLEMENTED,
    }
)
"""Valid codes of refusals. INTERNAL is a bug; UNKNOWN is for batches with details."""

_LONGEST_MESSAGE = 4000
_SECONDS = 60.0


class Refused(Exception):
    """A call that ended with an error: its `code`, and the code of each item in a batch."""

    def __init__(self, code: int, codes: list[int]) -> None:
        super().__init__(code, codes)
        self.code = code
        self.codes = codes


class _Context:
    """The part of `grpc.ServicerContext` that the servicer uses."""

    def peer(self) -> str:
        return "fuzzer"

    def abort(self, code: grpc.StatusCode, message: str) -> None:
        require(code.value[0] in DOCUMENTED, f"status {code.name}: {message}")
        require(0 < len(message) < _LONGEST_MESSAGE, f"a status of {len(message)} characters: {message[:99]}")
        raise Refused(code.value[0], [])

    def abort_with_status(self, status: Any) -> None:
        require(status.code == grpc.StatusCode.UNKNOWN, status.code)
        ((key, value),) = status.trailing_metadata
        require(key == "grpc-status-details-bin", key)
        codes = []
        for detail in rpc_status.Status.FromString(value).details:
            error = p4r.Error.FromString(detail.value)
            code = error.canonical_code
            require(code in DOCUMENTED or code == rpc_code.OK, f"code {code} of an update: {error.message}")
            require(code == rpc_code.OK or bool(error.message), "an error without a message")
            codes.append(code)
        require(any(codes), "a failed batch without an error")
        raise Refused(rpc_code.UNKNOWN, codes)


class _Requests(queue.SimpleQueue[Any]):
    """The requests of a stream, up to None."""

    def is_active(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get, None)


class Stream:
    """One client's stream. `end` returns the server's messages."""

    def __init__(self, service: Service) -> None:
        self._requests = _Requests()
        self._answers: Iterator[Any] = service.StreamChannel(self._requests, _Context(), Room(1, _SECONDS))

    def send(self, message: Any) -> None:
        """Sends a `StreamMessageRequest`."""
        self._requests.put(message)

    def receive(self) -> Any:
        """Returns the next message."""
        return next(self._answers)

    def end(self) -> list[Any]:
        """Ends the stream, returns its remaining messages, and checks its errors."""
        self._requests.put(None)
        left = []
        try:
            for message in self._answers:
                left.append(message)
                message.SerializeToString()
                if message.WhichOneof("update") == "error":
                    code = message.error.canonical_code
                    require(code in DOCUMENTED, f"code {code} on the stream: {message.error.message}")
        except Refused:
            # The stream ended with a status that was checked.
            pass
        return left


class Session:
    """A separate device, its servicer, and its primary's stream, which ends with the block."""

    def __init__(self, switch: Switch, pipeline: Pipeline | None) -> None:
        self.switch = switch
        self.device = Device(switch, pipeline)
        self.service = Service(self.device)
        self.primary = Stream(self.service)
        update = p4r.MasterArbitrationUpdate(device_id=switch.device_id, election_id=U128.encode(ELECTION_ID))
        self.primary.send(p4r.StreamMessageRequest(arbitration=update))
        status = self.primary.receive().arbitration.status
        require(status.code == rpc_code.OK, f"the only client is not primary: {status}")

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.primary.end()

    def sign(self, request: Any) -> None:
        """Makes a request the primary's."""
        request.device_id = self.switch.device_id
        request.role = ""
        request.role_id = 0
        request.election_id.CopyFrom(U128.encode(ELECTION_ID))

    def write(self, request: Any) -> list[int]:
        """Calls Write, and returns the code of each update. Raises `Refused` if the request is refused."""
        try:
            self.service.Write(request, _Context())
        except Refused as refused:
            if refused.code != rpc_code.UNKNOWN:
                raise
            require(len(refused.codes) == len(request.updates), "not one error an update")
            return refused.codes
        return [rpc_code.OK] * len(request.updates)

    def read(self, request: Any) -> tuple[list[Any], list[int]]:
        """Calls Read, and returns the entities and the code of each requested item."""
        found: list[Any] = []
        try:
            for response in self.service.Read(request, _Context()):
                response.SerializeToString()
                found += response.entities
        except Refused as refused:
            if refused.code != rpc_code.UNKNOWN:
                raise
            require(len(refused.codes) == len(request.entities), "not one error an item")
            return found, refused.codes
        return found, [rpc_code.OK] * len(request.entities)

    def read_all(self, *entities: Any) -> list[Any]:
        """Returns the response to these entities, all of which must be valid requests."""
        request = p4r.ReadRequest(device_id=self.switch.device_id, entities=entities)
        found, codes = self.read(request)
        require(not any(codes), f"a plain read is refused: {codes}")
        return found

    def set_pipeline(self, request: Any) -> None:
        """Calls SetForwardingPipelineConfig. Raises `Refused`."""
        self.service.SetForwardingPipelineConfig(request, _Context())

    def get_pipeline(self, request: Any) -> Any:
        """Calls GetForwardingPipelineConfig. Raises `Refused`."""
        return self.service.GetForwardingPipelineConfig(request, _Context())

    def capabilities(self, request: Any) -> Any:
        """Calls Capabilities. Raises `Refused`."""
        return self.service.Capabilities(request, _Context())
