"""The layer between gRPC and `service` and `Stream`: threads, and limits on the number and time of calls."""

import math
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from .._engine import SwitchHandle
from ..p4runtime.clients.access import Caller, Right
from ..p4runtime.errors import abort, exhausted, invalid
from ..p4runtime.server.calls import MAX_READ_BYTES, MAX_RECEIVING, Handlers, only_request, parsed
from ..p4runtime.server.service import Service as P4RuntimeService
from ..p4runtime.server.service import guard, guarded
from .messages import gnmi
from .service import Reader, capabilities, get, refuse_set
from .subscribing import Stream

MAX_STREAMS = 32
"""Maximum number of Subscribe calls. The same number is reserved for the connections of primaries."""
# Maximum delay until a stream notices that its client has gone, or that the interpreter exits.
_LOOK_S = 0.25

M = TypeVar("M", bound=Message)


class Calls(Handlers):
    """The handlers of gNMI. Other clients do not keep P4Runtime's primaries, whom `service` knows, out."""

    def __init__(self, control: SwitchHandle, service: P4RuntimeService) -> None:
        super().__init__("gnmi.gNMI", "gnmi", service, streams=2 * MAX_STREAMS, read=MAX_RECEIVING)
        self._reader = Reader(control)
        self._places = threading.BoundedSemaphore(MAX_STREAMS)
        self._primaries_places = threading.BoundedSemaphore(MAX_STREAMS)
        self._stopping = threading.Event()
        self._add("Subscribe", "stream", gnmi.SubscribeResponse, self._subscribe, streams=True)
        for name, method, request, response in (
            ("Capabilities", capabilities, gnmi.CapabilityRequest, gnmi.CapabilityResponse),
            ("Get", partial(get, self._reader), gnmi.GetRequest, gnmi.GetResponse),
            ("Set", refuse_set, gnmi.SetRequest, gnmi.SetResponse),
        ):
            call = self._unary(method, request)  # type: ignore[arg-type] # one type a line
            self._add(name, "read", response, call)

    def stop(self) -> None:
        self._stopping.set()
        super().stop()

    def _unary(
        self, method: Callable[[M, Caller], Message], kind: type[M]
    ) -> Callable[[Iterator[bytes], grpc.ServicerContext], Message]:
        def call(requests: Iterator[bytes], context: grpc.ServicerContext) -> Message:
            request = only_request(requests, context, self._receiving, MAX_READ_BYTES, kind)
            caller = self._service.caller(context)
            return guard(context, lambda: method(request, caller))

        return call

    def _subscribe(
        self, requests: Iterator[bytes], context: grpc.ServicerContext
    ) -> Iterator[gnmi.SubscribeResponse]:
        """Serves a subscription. Each message waits for its client for a limited time, so that a client that
        reads nothing does not hold a thread."""
        guard(context, lambda: self._service.caller(context).check_right(Right.READ))
        with self._place(context):
            messages = _Requests(requests, context, self._is_stopping)
            with self._silent.wait(context.cancel):
                first = guard(context, lambda: messages.take(None))
            if first is None:
                abort(context, invalid("the call has no request"))
                return
            stream = guard(context, lambda: Stream(self._reader, first))
            answers = stream.first()
            while True:
                for response in guarded(context, answers):
                    with self._sending.wait(context.cancel):
                        yield response
                if stream.mode == gnmi.SubscriptionList.ONCE or messages.is_over():
                    return
                upcoming = guard(context, lambda: self._follow(stream, messages))
                if upcoming is None:
                    return
                answers = upcoming

    def _follow(self, stream: Stream, messages: "_Requests") -> Iterator[gnmi.SubscribeResponse] | None:
        """Waits until messages are due, and returns them; None when the call is over."""
        message = messages.take(stream.wait_s() if stream.is_streaming else None)
        if message is not None:
            if stream.is_streaming or message.WhichOneof("request") != "poll":
                raise invalid(
                    "after its first message, a POLL stream may send `poll`; others may send nothing"
                )
            return stream.first()
        if messages.is_over() or not stream.is_streaming:
            return None
        return stream.due()

    def _is_stopping(self) -> bool:
        return self._stopping.is_set() or not threading.main_thread().is_alive()

    @contextmanager
    def _place(self, context: grpc.ServicerContext) -> Iterator[None]:
        places = self._primaries_places if self._service.is_primary(context) else self._places
        if not places.acquire(blocking=False):
            abort(context, exhausted(f"{MAX_STREAMS} subscriptions are open, the limit; end one, or use Get"))
        try:
            yield
        finally:
            places.release()


class _Requests:
    """The requests of a stream, received by a separate thread."""

    def __init__(
        self, requests: Iterator[bytes], context: grpc.ServicerContext, is_stopping: Callable[[], bool]
    ) -> None:
        self._has_ended = threading.Event()
        self._is_complete = threading.Event()
        # A size of 1 blocks a client that sends faster than it is served.
        self._queue: queue.Queue[bytes] = queue.Queue(1)
        self._requests = requests
        self._is_stopping = is_stopping
        if not context.add_callback(self._end):
            self._end()
        threading.Thread(target=self._receive, name="gnmi-receive", daemon=True).start()

    def is_over(self) -> bool:
        """Returns whether the call is over."""
        return self._has_ended.is_set() or self._is_stopping()

    def take(self, wait_s: float | None) -> gnmi.SubscribeRequest | None:
        """Returns the next message of a client; None if none arrives within `wait_s`, or (without `wait_s`)
        if the client sends no more, or if the call is over."""
        end = math.inf if wait_s is None else time.monotonic() + wait_s
        while not self.is_over():
            is_complete = self._is_complete.is_set()
            left = min(max(end - time.monotonic(), 0.001), _LOOK_S)
            with suppress(queue.Empty):
                return parsed(self._queue.get(timeout=left), MAX_READ_BYTES, gnmi.SubscribeRequest)
            if time.monotonic() >= end or (wait_s is None and is_complete):
                return None
        return None

    def _receive(self) -> None:
        # gRPC raises from the iterator when the call is over; otherwise this only ends the requests.
        with suppress(Exception):
            for message in self._requests:
                self._queue.put(message)
        self._is_complete.set()

    def _end(self) -> None:
        self._has_ended.set()
        # `_receive` may wait for room.
        with suppress(queue.Empty):
            self._queue.get_nowait()
