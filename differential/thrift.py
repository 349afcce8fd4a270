"""A Thrift client for either switch, and calls as plain data, to be repeated, compared and stored."""

import json
from dataclasses import dataclass
from typing import Any, Self

from eeon_engine.thrift.interface import SERVICES, simple_switch, standard
from eeon_engine.thrift.tables import match_param
from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.protocol.multiplex import TMultiplexedProtocol
from thriftpy2.thrift import TApplicationException, TClient, TException, TPayload
from thriftpy2.transport import TBufferedTransport, TSocket, TTransportException

TIMEOUT_MS = 20_000


@dataclass(frozen=True)
class Call:
    """One call: service, method, arguments without Thrift's structures."""

    service: str
    method: str
    arguments: tuple[object, ...]

    def __str__(self) -> str:
        return f"{self.method}({', '.join(map(_shown, self.arguments))})"


class Client:
    """One connection with simple_switch's services; `standard`, `pre` and `switch` have their methods."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._transport = TBufferedTransport(TSocket(host, int(port), socket_timeout=TIMEOUT_MS))
        self._transport.open()
        # Any: the methods of a client are those of its service.
        self._services: dict[str, Any] = {name: self._client(name) for name in SERVICES}
        self.standard, self.pre = self._services["standard"], self._services["simple_pre_lag"]
        self.switch = self._services["simple_switch"]

    def _client(self, name: str) -> TClient:
        # In thriftpy2's annotations a service is a module ...
        service: Any = SERVICES[name]
        # ... and a multiplexed protocol does not count as one.
        protocol: Any = TMultiplexedProtocol(TBinaryProtocol(self._transport), name)
        return TClient(service, protocol)

    def close(self) -> None:
        """Ends the connection."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def make(self, call: Call) -> object:
        """Returns the switch's answer as plain data; for a refusal, ("refused", exception, code)."""
        arguments = [to_thrift(argument) for argument in call.arguments]
        try:
            answer = getattr(self._services[call.service], call.method)(*arguments)
        except TApplicationException as refusal:
            return ("refused", "TApplicationException", refusal.type)
        except TTransportException:
            raise
        except TException as refusal:
            return ("refused", type(refusal).__name__, getattr(refusal, "code", str(refusal)))
        return _from_thrift(answer)


def match(kind: str, *values: bytes | int) -> dict[str, object]:
    """Returns a field of a match key, as an argument of a call."""
    return {"match": kind, "values": list(values)}


def to_thrift(value: object) -> object:
    """Returns an argument as Thrift's structures."""
    if isinstance(value, list | tuple):
        return [to_thrift(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "match" in value:
        return match_param((value["match"], *value["values"]))
    if "priority" in value:
        return standard.BmAddEntryOptions(priority=value["priority"])
    if "rate" in value:
        return standard.BmMeterRateConfig(units_per_micros=value["rate"], burst_size=value["burst"])
    if "bytes" in value:
        return standard.BmCounterValue(bytes=value["bytes"], packets=value["packets"])
    if "session" in value:
        return simple_switch.MirroringSessionConfig(port=value["session"], mgid=value["mgid"])
    return standard.BmAddEntryOptions()


def _from_thrift(value: object) -> object:
    if isinstance(value, list):
        return [_from_thrift(item) for item in value]
    if isinstance(value, TPayload):
        return {name: _from_thrift(item) for name, item in vars(value).items() if item is not None}
    return value


def _shown(value: object) -> str:
    return json.dumps(value, default=lambda item: item.hex())
