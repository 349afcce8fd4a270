"""The layer between gRPC and `Service`: threads, and limits on the number and time of calls.

gRPC's own code receives a request before the server can limit the time for it, and shares threads between all
calls. Here each call is handled as a stream of one message (as it is on the wire), so that a client that
sends its request slowly can be cut off. Streams, writes and reads have separate threads, so that none blocks
the others.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from ..clients.arbitration import MAX_STREAMS
from ..errors import exhausted, invalid
from ..messages import p4r
from .rooms import Room
from .service import Service, guard

MAX_SILENT_STREAMS = 16
"""Maximum number of streams without a first message."""
FIRST_MESSAGE_SECONDS = 10.0
MAX_RECEIVING = 32
"""Maximum number of requests being received, for writes and for reads each: their bytes are in memory."""
REQUEST_SECONDS = 30.0
MAX_SENDING = 8
"""Maximum number of multi-message responses whose clients have not received the last message."""
SEND_SECONDS = 30.0
SEND_GRACE_S = 0.25
"""Time in which a client that reads has received a message; until then its call is not ended for others."""
_MORE_THREADS = 16
"""Threads of a pool beyond its limits, so that a call is refused or ended and does not wait for one."""
MAX_READ_BYTES = 1 << 20
"""Maximum size of a request to read; one for thousands of cells by index has a tenth of it."""

M = TypeVar("M", bound=Message)
# Any: requests and responses differ by call, and gRPC checks neither.
Handler = Callable[[Iterator[Any], grpc.ServicerContext], object]


class Handlers:
    """The methods of one gRPC service. Each is handled by the threads of a pool, and waits for its client in
    a room: for a stream's first message, for a request, or until an answer is sent."""

    def __init__(self, name: str, prefix: str, service: Service, *, streams: int, **calls: int) -> None:
        """Makes handlers without methods, for as many streams, and as many calls in each other pool."""
        self._service_name = name
        self._service = service
        self._silent = Room(MAX_SILENT_STREAMS, FIRST_MESSAGE_SECONDS)
        self._receiving = Room(MAX_RECEIVING, REQUEST_SECONDS)
        self._sending = Room(MAX_SENDING, SEND_SECONDS, SEND_GRACE_S)
        self.rooms = [self._silent, self._receiving, self._sending]
        self._pools = {
            name: ThreadPoolExecutor(count + _MORE_THREADS, thread_name_prefix=f"{prefix}-{name}")
            for name, count in {"stream": streams + MAX_SILENT_STREAMS, **calls}.items()
        }
        # Any, because requests and responses have different types.
        self._methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}

    def _add(
        self,
        name: str,
        pool: str,
        response: type[Message],
        behaviour: Handler,
        *,
        streams: bool = False,
        decode: Callable[[bytes], Message] | None = None,
    ) -> None:
        """Adds a method. Its requests are bytes unless gRPC decodes them; `streams`: it yields responses."""
        kind = grpc.stream_stream_rpc_method_handler if streams else grpc.stream_unary_rpc_method_handler
        run = partial(behaviour)
        run.experimental_thread_pool = self._pools[pool]  # type: ignore[attr-defined] # grpcio looks for it
        self._methods[name] = kind(run, decode, response.SerializeToString)

    def handler(self) -> grpc.GenericRpcHandler:
        return grpc.method_handlers_generic_handler(self._service_name, self._methods)

    def stop(self) -> None:
        for pool in self._pools.values():
            pool.shutdown(wait=False)


class Calls(Handlers):
    """The handlers of all calls of a service."""

    def __init__(self, service: Service, max_message_bytes: int) -> None:
        calls = {"write": 2 * MAX_RECEIVING, "read": 2 * MAX_RECEIVING + MAX_SENDING}
        super().__init__("p4.v1.P4Runtime", "p4runtime", service, streams=MAX_STREAMS, **calls)
        writes = Room(MAX_RECEIVING, REQUEST_SECONDS)
        # Primaries compete for places only with other primaries.
        self._primaries = Room(MAX_RECEIVING, REQUEST_SECONDS)
        self.rooms += [writes, self._primaries]
        decode, response = p4r.StreamMessageRequest.FromString, p4r.StreamMessageResponse
        self._add("StreamChannel", "stream", response, self._stream, streams=True, decode=decode)
        self._add("Read", "read", p4r.ReadResponse, self._read, streams=True)
        for name, pool, room, limit in (
            ("Write", "write", writes, max_message_bytes),
            ("SetForwardingPipelineConfig", "write", writes, max_message_bytes),
            ("GetForwardingPipelineConfig", "read", self._receiving, MAX_READ_BYTES),
            ("Capabilities", "read", self._receiving, MAX_READ_BYTES),
        ):
            call = self._unary(getattr(service, name), room, limit, getattr(p4r, f"{name}Request"))
            self._add(name, pool, getattr(p4r, f"{name}Response"), call)

    def _unary(
        self, method: Callable[[M, grpc.ServicerContext], Message], room: Room, limit: int, kind: type[M]
    ) -> Handler:
        def call(requests: Iterator[bytes], context: grpc.ServicerContext) -> Message:
            own = self._primaries if self._service.is_primary(context) else room
            return method(only_request(requests, context, own, limit, kind), context)

        return call

    def _read(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[p4r.ReadResponse]:
        room = self._primaries if self._service.is_primary(context) else self._receiving
        request = only_request(requests, context, room, MAX_READ_BYTES, p4r.ReadRequest)
        for response in self._service.Read(request, context):
            # gRPC returns here when it has sent the message.
            with self._sending.wait(context.cancel):
                yield response

    def _stream(
        self, requests: Iterator[p4r.StreamMessageRequest], context: grpc.ServicerContext
    ) -> Iterator[p4r.StreamMessageResponse]:
        return self._service.StreamChannel(requests, context, self._silent)


def only_request(
    requests: Iterator[bytes], context: grpc.ServicerContext, room: Room, limit: int, kind: type[M]
) -> M:
    """Returns the single message of a call."""
    with room.wait(context.cancel):
        content = next(requests, None)
    return guard(context, lambda: parsed(content, limit, kind))


def parsed(content: bytes | None, limit: int, kind: type[M]) -> M:
    """Returns the message in a client's bytes."""
    if content is None:
        raise invalid("the call has no request")
    if len(content) > limit:
        raise exhausted(f"the request has {len(content)} bytes, the limit is {limit}; send several")
    try:
        return kind.FromString(content)
    except DecodeError:
        # The parser gives no reason.
        raise invalid(f"the request is not a {kind.DESCRIPTOR.full_name}") from None
