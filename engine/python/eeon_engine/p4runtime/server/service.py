"""The RPCs of P4Runtime around a `Device`: threads, queues and statuses, without their meaning."""

import logging
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from grpc import ServicerContext

from ...exceptions import EngineError
from ..clients.access import ANYBODY, Access, Caller
from ..clients.arbitration import Client
from ..clients.outbox import End, Outbox
from ..device import Device
from ..errors import StatusError, abort, abort_batch, from_engine
from ..messages import p4r, rpc_code
from .rooms import Room

_LOG = logging.getLogger(__name__)

# The version of the messages in finsy 0.30.
API_VERSION = "1.5.0"

_T = TypeVar("_T")


class Service:
    """P4Runtime of one switch."""

    def __init__(self, device: Device, access: Access | None = None) -> None:
        """Makes a service; without `access` every client has all rights."""
        self._device = device
        self._access = access

    def caller(self, context: ServicerContext) -> Caller:
        """Returns the client of a call, with its rights."""
        return ANYBODY if self._access is None else self._access.caller(context)

    def is_primary(self, context: ServicerContext) -> bool:
        """Returns whether a call uses the connection of a primary's stream."""
        return context.peer() in self._device.primary_peers

    def Write(self, request: p4r.WriteRequest, context: ServicerContext) -> p4r.WriteResponse:
        """Applies a batch; the trailing metadata has the errors of single updates."""
        caller = self.caller(context)
        results = guard(context, lambda: self._device.write(request, caller))
        if any(result is not None for result in results):
            abort_batch(context, results)
        return p4r.WriteResponse()

    def Read(self, request: p4r.ReadRequest, context: ServicerContext) -> Iterator[p4r.ReadResponse]:
        """Yields the requested entities; the trailing metadata has the errors of single requests."""
        caller = self.caller(context)
        reading = guard(context, lambda: self._device.read(request, caller))
        yield from guarded(context, reading.responses())
        if any(error is not None for error in reading.errors):
            abort_batch(context, reading.errors, "request")

    def SetForwardingPipelineConfig(
        self, request: p4r.SetForwardingPipelineConfigRequest, context: ServicerContext
    ) -> p4r.SetForwardingPipelineConfigResponse:
        """Sets the forwarding pipeline: verifies, saves or commits a program."""
        # Logged, because it is rare, and operators look for it when a switch does nothing.
        caller = self.caller(context)
        guard(context, lambda: self._device.set_pipeline(request, caller), logging.WARNING)
        return p4r.SetForwardingPipelineConfigResponse()

    def GetForwardingPipelineConfig(
        self, request: p4r.GetForwardingPipelineConfigRequest, context: ServicerContext
    ) -> p4r.GetForwardingPipelineConfigResponse:
        """Returns the current program."""
        caller = self.caller(context)
        return guard(context, lambda: self._device.get_pipeline(request, caller))

    def Capabilities(
        self, request: p4r.CapabilitiesRequest, context: ServicerContext
    ) -> p4r.CapabilitiesResponse:
        """Returns the version of the API, which is the same for all devices."""
        if request.device_id:
            guard(context, lambda: self._device.check_device(request.device_id))
        return p4r.CapabilitiesResponse(p4runtime_api_version=API_VERSION)

    def StreamChannel(
        self, requests: Iterator[p4r.StreamMessageRequest], context: ServicerContext, silent: Room
    ) -> Iterator[p4r.StreamMessageResponse]:
        """Serves a stream: arbitration, packets in and out. A separate thread reads, this thread writes.
        Until its first message, the stream is in the room `silent`."""
        outbox = Outbox(context.peer())
        client = Client(outbox.put, outbox.end, self.caller(context), context.peer())
        heard = partial(silent.leave, silent.enter(lambda: outbox.end(_silent())))
        arguments = (client, requests, outbox, heard)
        threading.Thread(target=self._receive, args=arguments, daemon=True).start()
        try:
            while not isinstance(item := outbox.take(), End):
                yield item
            # Arbitration comes before the status: a client may reconnect as soon as its stream has ended.
            self._device.leave(client)
            if item.error is not None:
                abort(context, item.error)
        finally:
            heard()
            self._device.leave(client)

    def _receive(
        self,
        client: Client,
        requests: Iterator[p4r.StreamMessageRequest],
        outbox: Outbox,
        heard: Callable[[], None],
    ) -> None:
        error = None
        try:
            for request in requests:
                heard()
                self._device.stream_message(client, request)
        except Exception as caught:
            # gRPC raises from the iterator when the call is over.
            is_ours = isinstance(caught, StatusError | EngineError)
            if is_ours or getattr(requests, "is_active", lambda: False)():
                error = _status_of(caught)
        outbox.end(error)


def _silent() -> StatusError:
    return StatusError(
        rpc_code.DEADLINE_EXCEEDED,
        "this stream sent no MasterArbitrationUpdate in time, or was closed to make room for another",
    )


def guard(context: ServicerContext, call: Callable[[], _T], level: int = logging.INFO) -> _T:
    """Runs one RPC. An error ends it with its status, and is logged at `level`."""
    try:
        return call()
    except Exception as error:
        failure = _status_of(error)
    _LOG.log(level, "call of %s refused: %s (code %d)", context.peer(), failure.message, failure.code)
    abort(context, failure)
    raise AssertionError("abort does not return")


def _status_of(error: Exception) -> StatusError:
    """Returns the status of an error. A bug is logged with its traceback, and becomes INTERNAL."""
    match error:
        case StatusError():
            return error
        case EngineError():
            return from_engine(error)
    _LOG.error("P4Runtime request failed", exc_info=error)
    return StatusError(rpc_code.INTERNAL, f"{type(error).__name__}: {error}")


def guarded(context: ServicerContext, responses: Iterator[_T]) -> Iterator[_T]:
    """Yields the same responses; an error ends the call with its status."""
    while (response := guard(context, lambda: next(responses, None))) is not None:
        yield response
