"""A plain Thrift client, made with thriftpy2 from the interface files. For tests only."""

from collections.abc import Callable
from typing import Any

import pytest
from eeon_engine.thrift.interface import SERVICES, standard
from eeon_engine.thrift.tables import match_param
from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.protocol.multiplex import TMultiplexedProtocol
from thriftpy2.thrift import TClient, TException
from thriftpy2.transport import TBufferedTransport, TSocket

__all__ = ["EXACT", "ThriftClient", "add", "code_of", "standard"]

EXACT = "EverythingIngress.exact_table"


class ThriftClient:
    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._transport = TBufferedTransport(TSocket(host, int(port), socket_timeout=20_000))
        self._transport.open()
        protocol = TBinaryProtocol(self._transport)

        def service(name: str) -> Any:
            return TClient(SERVICES[name], TMultiplexedProtocol(protocol, name))

        self.standard = service("standard")
        self.pre = service("simple_pre_lag")
        self.switch = service("simple_switch")

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> "ThriftClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def add(thrift: ThriftClient, value: int, action: str, *data: bytes) -> int:
    """Adds an entry to the exact table of `everything`, and returns its handle."""
    key, name = [match_param(("exact", value.to_bytes(4, "big")))], f"EverythingIngress.{action}"
    options = standard.BmAddEntryOptions()
    return int(thrift.standard.bm_mt_add_entry(0, EXACT, key, name, list(data), options))


def code_of(kind: type[TException], call: Callable[..., Any], *arguments: Any) -> int:
    """Returns the code of a call that must be refused with this exception."""
    with pytest.raises(kind) as refused:
        call(*arguments)
    return int(refused.value.code)  # type: ignore[attr-defined]
