"""Errors of the P4Runtime server, and their transport to a client.

All modules here raise `StatusError` for a client's mistake: a google.rpc code and a sentence. An error of a
whole call becomes the gRPC status of the call; an error of a single update in a batch becomes a `p4.v1.Error`
in the trailing metadata (P4Runtime 1.5 §12.3), which also has an `OK` for every successful update.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import grpc

from .. import exceptions as engine
from .messages import p4r, rpc_code, rpc_status

# Metadata beyond a client's limit ends the call without a status; finsy's limit for all metadata is 64 KiB.
_MAX_DETAILS_BYTES = 40 << 10

_GRPC_CODES = {code.value[0]: code for code in grpc.StatusCode}


class StatusError(Exception):
    """A client's mistake or a refusal: `code` is a google.rpc.Code, `message` is for a reader."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


invalid = partial(StatusError, rpc_code.INVALID_ARGUMENT)
"""Makes the error of a request that is invalid for this program."""
not_found = partial(StatusError, rpc_code.NOT_FOUND)
"""Makes the error of a request about a missing object."""
already_exists = partial(StatusError, rpc_code.ALREADY_EXISTS)
"""Makes the error of an INSERT of an existing object."""
denied = partial(StatusError, rpc_code.PERMISSION_DENIED)
"""Makes the error of a request that the client's rights or the program do not allow."""
precondition = partial(StatusError, rpc_code.FAILED_PRECONDITION)
"""Makes the error of a request that needs a previous request."""
exhausted = partial(StatusError, rpc_code.RESOURCE_EXHAUSTED)
"""Makes the error of a request that reaches a limit of the switch or of this server."""
out_of_range = partial(StatusError, rpc_code.OUT_OF_RANGE)
"""Makes the error of a value wider than its field, or of an index beyond the end of an array."""
unimplemented = partial(StatusError, rpc_code.UNIMPLEMENTED)
"""Makes the error of valid P4Runtime that this server does not implement."""


_ENGINE_CODES: tuple[tuple[type[Exception], int], ...] = (
    (engine.NoSuchObjectError, rpc_code.NOT_FOUND),
    (engine.NoSuchHandleError, rpc_code.NOT_FOUND),
    (engine.DuplicateError, rpc_code.ALREADY_EXISTS),
    (engine.FullError, rpc_code.RESOURCE_EXHAUSTED),
    (engine.ImmutableError, rpc_code.PERMISSION_DENIED),
    (engine.InUseError, rpc_code.FAILED_PRECONDITION),
    (engine.OutOfRangeError, rpc_code.OUT_OF_RANGE),
    (engine.EngineError, rpc_code.INVALID_ARGUMENT),
)


def from_engine(error: engine.EngineError) -> StatusError:
    """Converts an error of the engine to its google.rpc code, with the engine's message."""
    code = next(code for kind, code in _ENGINE_CODES if isinstance(error, kind))
    return StatusError(code, str(error))


@dataclass
class _GrpcStatus(grpc.Status):
    """The argument of `ServicerContext.abort_with_status`."""

    code: grpc.StatusCode
    details: str
    trailing_metadata: tuple[tuple[str, bytes], ...]


def abort(context: grpc.ServicerContext, error: StatusError) -> None:
    """Ends the call with the status of `error`. Does not return."""
    context.abort(_GRPC_CODES[error.code], error.message)


def abort_batch(
    context: grpc.ServicerContext, results: Sequence[StatusError | None], noun: str = "update"
) -> None:
    """Ends a Write or Read with failed items: with one `p4.v1.Error` per item, in order. Does not return."""
    failed = [(index, error) for index, error in enumerate(results) if error is not None]
    index, first = failed[0]
    message = f"{len(failed)} of {len(results)} {noun}s failed; first, {noun} {index}: {first.message}"
    for with_messages in (True, False):
        details = _details(message, results, with_messages)
        if len(details) <= _MAX_DETAILS_BYTES:
            trailing = (("grpc-status-details-bin", details),)
            context.abort_with_status(_GrpcStatus(grpc.StatusCode.UNKNOWN, message, trailing))
    abort(context, exhausted(f"{message} (too many errors to send; use smaller batches)"))


def _details(message: str, results: Sequence[StatusError | None], with_messages: bool) -> bytes:
    status = rpc_status.Status(code=rpc_code.UNKNOWN, message=message)
    for error in results:
        detail = p4r.Error(canonical_code=rpc_code.OK)
        if error is not None:
            detail = p4r.Error(canonical_code=error.code, space="eeon", code=error.code)
            if with_messages:
                detail.message = error.message
        status.details.add().Pack(detail)
    serialized: bytes = status.SerializeToString()
    return serialized
