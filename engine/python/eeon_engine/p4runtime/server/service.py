"""The RPCs of P4Runtime around a `Device`: threads, queues and statuses, no meaning of their own."""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from grpc import ServicerContext

from ...exceptions import EngineError
from ..clients.access import ANYBODY, Access, Caller
from ..clients.arbitration import Client
from ..clients.outbox import End, Outbox
from ..device import Device
from ..errors import StatusError, abort, abort_batch, from_engine
from ..messages import p4r, p4r_grpc, rpc_code
from .rooms import Room

_LOG = logging.getLogger(__name__)

# The version whose messages finsy 0.30 carries.
API_VERSION = "1.5.0"

_T = TypeVar("_T")


class Service(p4r_grpc.P4RuntimeServicer):
    """P4Runtime of one switch."""

    def __init__(self, device: Device, access: Access | None = None) -> None:
        """Makes a service; without `access` every client has all rights."""
        self._device = device
        self._access = access

    def _caller(self, context: ServicerContext) -> Caller:
        return ANYBODY if self._access is None else self._access.caller(context)

    def is_primary(self, context: ServicerContext) -> bool:
        """Returns whether a call is on the connection of a primary's stream."""
        return context.peer() in self._device.primary_peers

    def Write(self, request: p4r.WriteRequest, context: ServicerContext) -> p4r.WriteResponse:
        """Applies a batch; errors of single updates travel in the trailing metadata."""
        caller = self._caller(context)
        results = guard(context, lambda: self._device.write(request, caller))
        if any(result is not None for result in results):
            abort_batch(context, results)
        return p4r.WriteResponse()

    def Read(self, request: p4r.ReadRequest, context: ServicerContext) -> Iterator[p4r.ReadResponse]:
        """Yields the entities asked for; errors of single requests travel in the trailing metadata."""
        caller = self._caller(context)
        reading = guard(context, lambda: self._device.read(request, caller))
        responses = reading.responses()
        while (response := guard(context, lambda: next(responses, None))) is not None:
            yield response
        if any(error is not None for error in reading.errors):
            abort_batch(context, reading.errors, "request")

    def SetForwardingPipelineConfig(
        self, request: p4r.SetForwardingPipelineConfigRequest, context: ServicerContext
    ) -> p4r.SetForwardingPipelineConfigResponse:
        """Sets the forwarding pipeline: verifies, saves or commits a program."""
        # Rare, and what an operator looks for when a switch does nothing.
        caller = self._caller(context)
        guard(context, lambda: self._device.set_pipeline(request, caller), logging.WARNING)
        return p4r.SetForwardingPipelineConfigResponse()

    def GetForwardingPipelineConfig(
        self, request: p4r.GetForwardingPipelineConfigRequest, context: ServicerContext
    ) -> p4r.GetForwardingPipelineConfigResponse:
        """Answers the program that is set."""
        caller = self._caller(context)
        return guard(context, lambda: self._device.get_pipeline(request, caller))

    def Capabilities(
        self, request: p4r.CapabilitiesRequest, context: ServicerContext
    ) -> p4r.CapabilitiesResponse:
        """Answers the version of the API, which is all there is to say of any device."""
        if request.device_id:
            guard(context, lambda: self._device.check_device(request.device_id))
        return p4r.CapabilitiesResponse(p4runtime_api_version=API_VERSION)

    def StreamChannel(
        self,
        request_iterator: Iterator[p4r.StreamMessageRequest],
        context: ServicerContext,
        silent: Room | None = None,
    ) -> Iterator[p4r.StreamMessageResponse]:
        """Serves a stream: arbitration, packets in and out. One thread reads, this one writes. Until its
        first message the stream is in the room `silent`."""
        outbox = Outbox(context.peer())
        client = Client(outbox.put, outbox.end, self._caller(context), context.peer())
        place = None if silent is None else silent.enter(lambda: outbox.end(_silent()))

        def heard() -> None:
            if silent is not None:
                silent.leave(place)

        reader = threading.Thread(
            target=self._receive, args=(client, request_iterator, outbox, heard), daemon=True
        )
        reader.start()
        try:
            while not isinstance(item := outbox.take(), End):
                yield item
            # First the arbitration, then the status: a client that sees its stream end may come back at once.
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
        except StatusError as caught:
            error = caught
        except EngineError as caught:
            error = from_engine(caught)
        except Exception as caught:
            # gRPC raises from the iterator when the call is over; anything else is a bug to be seen.
            if requests_active(requests):
                _LOG.exception("stream of a P4Runtime client failed")
                error = StatusError(rpc_code.INTERNAL, f"{type(caught).__name__}: {caught}")
        outbox.end(error)


def _silent() -> StatusError:
    return StatusError(
        rpc_code.DEADLINE_EXCEEDED,
        "this stream has sent no MasterArbitrationUpdate in time, or made way for one that may",
    )


def requests_active(requests: Iterator[p4r.StreamMessageRequest]) -> bool:
    """Returns whether the call that a request iterator belongs to is still open."""
    return bool(getattr(requests, "is_active", lambda: False)())


def guard(context: ServicerContext, call: Callable[[], _T], level: int = logging.INFO) -> _T:
    """Runs one RPC; errors end it with their status and a line in the log, at `level`. A bug is logged with
    its traceback and answered as INTERNAL.
    """
    try:
        return call()
    except StatusError as error:
        failure = error
    except EngineError as error:
        failure = from_engine(error)
    except Exception as error:
        _LOG.exception("P4Runtime request failed")
        failure = StatusError(rpc_code.INTERNAL, f"{type(error).__name__}: {error}")
    _LOG.log(level, "call of %s refused: %s (code %d)", context.peer(), failure.message, failure.code)
    abort(context, failure)
    raise AssertionError("abort does not return")
