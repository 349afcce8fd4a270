"""The RPCs of P4Runtime around a `Device`: threads, queues and statuses, no meaning of their own."""

import logging
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from finsy.proto import p4r, p4r_grpc, rpc_code

from ..exceptions import EngineError
from .arbitration import Client
from .device import Device
from .errors import StatusError, abort, abort_batch, exhausted, from_engine

_LOG = logging.getLogger(__name__)

# The version whose messages finsy 0.30 carries.
API_VERSION = "1.5.0"

# Messages that wait for a client that does not read. Packets beyond it are dropped, anything else ends the
# stream.
_OUTBOX_LIMIT = 4096

_T = TypeVar("_T")


@dataclass(frozen=True)
class _End:
    """The last item of an outbox."""

    error: StatusError | None


class Service(p4r_grpc.P4RuntimeServicer):
    """P4Runtime of one switch."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def Write(self, request: Any, context: Any) -> Any:
        """Applies a batch; errors of single updates travel in the trailing metadata."""
        results = _guard(context, lambda: self._device.write(request))
        if any(result is not None for result in results):
            abort_batch(context, results)
        return p4r.WriteResponse()

    def Read(self, request: Any, context: Any) -> Iterator[Any]:
        """Streams the entities asked for."""
        yield from _guard(context, lambda: self._device.read(request))

    def SetForwardingPipelineConfig(self, request: Any, context: Any) -> Any:
        """Checks, saves or commits a program."""
        _guard(context, lambda: self._device.set_pipeline(request))
        return p4r.SetForwardingPipelineConfigResponse()

    def GetForwardingPipelineConfig(self, request: Any, context: Any) -> Any:
        """Answers the program that is set."""
        return _guard(context, lambda: self._device.get_pipeline(request))

    def Capabilities(self, request: Any, context: Any) -> Any:
        """Answers the version of the API."""
        return p4r.CapabilitiesResponse(p4runtime_api_version=API_VERSION)

    def StreamChannel(self, request_iterator: Iterator[Any], context: Any) -> Iterator[Any]:
        """Arbitration, packets in and out. One thread reads, this one writes."""
        outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def send(message: Any) -> None:
            if outbox.qsize() < _OUTBOX_LIMIT:
                outbox.put(message)
            elif message.WhichOneof("update") != "packet":
                outbox.put(
                    _End(
                        exhausted(f"{_OUTBOX_LIMIT} messages wait for this client, which does not read them")
                    )
                )

        client = Client(send)
        reader = threading.Thread(target=self._receive, args=(client, request_iterator, outbox), daemon=True)
        reader.start()
        try:
            while not isinstance(item := outbox.get(), _End):
                yield item
            # First the books, then the status: a client that sees its stream end may come back at once.
            self._device.leave(client)
            if item.error is not None:
                abort(context, item.error)
        finally:
            self._device.leave(client)

    def _receive(self, client: Client, requests: Iterator[Any], outbox: "queue.SimpleQueue[Any]") -> None:
        error = None
        try:
            for request in requests:
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
        outbox.put(_End(error))


def requests_active(requests: Any) -> bool:
    """Whether the call that a request iterator belongs to is still open."""
    return bool(getattr(requests, "is_active", lambda: False)())


def _guard(context: Any, call: Callable[[], _T]) -> _T:
    """Runs one RPC; errors end it with their status. A bug is logged with its traceback and answered as
    INTERNAL.
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
    abort(context, failure)
    raise AssertionError("abort does not return")
