"""finsy's P4Runtime client with a connection of its own.

gRPC shares connections, and the waiting time after one that failed, between all channels of a process to one
address. A session that is opened because a switch has come back must not be told that it was away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from finsy import P4Client, P4Schema
from finsy.grpcutil import GRPCOptions, grpc_channel
from finsy.proto import p4r_grpc

_MAX_METADATA_BYTES = 64 * 1024  # as finsy: errors of a long write travel in the metadata
_MAX_RECONNECT_BACKOFF_MS = 15_000


class _Options(GRPCOptions):
    def to_native(self) -> Any:
        return [*super().to_native(), ("grpc.use_local_subchannel_pool", 1)]


class Client(P4Client):
    """P4Client whose channel shares nothing with others."""

    async def open(
        self,
        *,
        schema: P4Schema | None = None,
        complete_request: Callable[[Any], None] | None = None,
    ) -> None:
        """Make the channel; nothing is sent before the first request."""
        assert self._channel is None and self._stub is None, "a client is opened once"
        options = _Options(
            max_metadata_size=_MAX_METADATA_BYTES, max_reconnect_backoff_ms=_MAX_RECONNECT_BACKOFF_MS
        )
        self._channel = grpc_channel(
            self._address, credentials=self._credentials, options=options, client_type="P4Client"
        )
        self._stub = p4r_grpc.P4RuntimeStub(self._channel)
        self._schema = schema
        self._complete_request = complete_request
