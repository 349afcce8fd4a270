"""A client of BMv2's Thrift interface, for what its P4Runtime server lacks: registers, queues, ports, clock.

    reading = await read(name, target, program, ports, ["wakes"])
    await set_queues("leaf1", target, {3: Bmv2QueueValues(1024, 0)})

Each call has its own connection and runs in a thread; `ThriftClient` is the underlying blocking client. The
engine's switches serve the same interface, which can set queue depths and rates but not read them. The
protocol has neither encryption nor passwords: `targets` permits only loopback unless configured otherwise.
"""

import asyncio
import functools
import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Self, TypeVar

import thriftpy2
from thriftpy2.protocol.binary import TBinaryProtocol  # the C version does not accept our transport
from thriftpy2.protocol.multiplex import TMultiplexedProtocol
from thriftpy2.thrift import TApplicationException, TClient, TException

from eeon_control.config import Bmv2QueueValues
from eeon_control.errors import FabricError
from eeon_control.fabric.thrift_transport import BoundedTransport, NoThrift
from eeon_control.printable import one_line
from eeon_control.program import Program, identity
from eeon_control.targets import Target

CALL_SECONDS = 5.0
ANSWER_BYTES = 1 << 20
"""Limit of an answer: more than any register of a program here; the program's 512 cells are 4 KiB."""

_IDL = Path(__file__).parent / "bmv2.thrift"
_VERSION = "is it simple_switch or simple_switch_grpc 1.15, or eeon-switch?"


@dataclass
class ThriftClient:
    """A connection; use it with `with`. Every call raises FabricError naming the switch."""

    name: str
    address: str
    device_id: int | None = None
    seconds: float = CALL_SECONDS

    def __enter__(self) -> Self:
        host, _, port = self.address.rpartition(":")
        try:
            self._transport = BoundedTransport(
                host.strip("[]"), int(port), seconds=self.seconds, answer_bytes=ANSWER_BYTES
            )
        except OSError as error:
            reason = error.strerror or str(error) or "no answer"
            raise self._error(f"{reason}; start the switch with --thrift-port") from None
        self._standard = self._service(_idl().Standard, "standard")
        self._switch = self._service(_idl().SimpleSwitch, "simple_switch")
        return self

    def _service(self, interface: ModuleType, name: str) -> TClient:
        # In thriftpy2's annotations, this is not a protocol.
        protocol: Any = TMultiplexedProtocol(TBinaryProtocol(self._transport), name)
        return TClient(interface, protocol)

    def __exit__(self, *_: object) -> None:
        self._transport.close()

    def check_identity(self) -> None:
        """Checks the switch's device id, if one was given."""
        found = self._call("standard", "bm_mgmt_get_info").device_id
        if self.device_id is not None and found != self.device_id:
            raise self._error(
                f"this is the Thrift port of device {found}, not of device {self.device_id}; correct "
                "`thrift` in the targets file"
            )

    def program_md5(self) -> bytes:
        """Returns the MD5 of the JSON that the switch runs, as 16 bytes."""
        found = self._call("standard", "bm_get_config_md5")
        return bytes(found) if isinstance(found, (bytes, bytearray)) else str(found).encode("latin-1")

    def program_json(self) -> bytes:
        return str(self._call("standard", "bm_get_config")).encode()

    def register(self, name: str) -> list[int]:
        """Returns all cells of a register, given by its full name in the program."""
        cells = self._call("standard", "bm_register_read_all", 0, name)
        return [int(cell) % (1 << 64) for cell in cells]  # Thrift has no unsigned numbers

    def port_states(self) -> dict[int, bool]:
        """Returns port number -> whether its interface is up, for ports with an interface."""
        ports = self._call("standard", "bm_dev_mgr_show_ports")
        return {int(port.port_num): bool(port.is_up) for port in ports}

    def elapsed_us(self) -> int:
        """Returns the microseconds since the switch started: the clock of its timestamps."""
        return int(self._call("simple_switch", "get_time_elapsed_us"))

    def set_queue(self, port: int, values: Bmv2QueueValues) -> None:
        """Sets depth and rate of a port's queue. Neither can be read back."""
        for method, value in (
            ("set_egress_queue_depth", values.depth_packets),
            ("set_egress_queue_rate", values.packets_per_second),
        ):
            status = self._call("simple_switch", method, port, value)
            if status != 0:
                raise self._error(f"refused {method}({port}, {value}): status {status}")

    # thriftpy2 creates its types at run time; each caller converts the answer to the right type.
    def _call(self, service: str, method: str, *arguments: int | str) -> Any:  # noqa: ANN401
        client = self._standard if service == "standard" else self._switch
        try:
            return getattr(client, method)(*arguments)
        except TApplicationException as error:
            if error.type == TApplicationException.UNKNOWN_METHOD:
                raise self._error(f"does not know {method}: {_VERSION}") from None
            raise self._error(
                f"{method}: {error.message or f'Thrift error {error.type}'}; {_VERSION}"
            ) from None
        except _idl().InvalidRegisterOperation as refusal:
            code = _idl().RegisterOperationErrorCode._VALUES_TO_NAMES.get(refusal.code, refusal.code)
            raise self._error(f"{method}{arguments[1:]}: {code}; does the switch run this program?") from None
        except TimeoutError:
            raise self._error(f"{method}: no answer within {self.seconds:g} s") from None
        except NoThrift:
            raise self._error(
                f"{method}: the answer is not Thrift, or is larger than {ANSWER_BYTES} bytes; is this the "
                "P4Runtime port?"
            ) from None
        except EOFError:
            raise self._error(
                f"{method}: the server closed the connection; it has no service {service}, or this is not a "
                f"Thrift port ({_VERSION})"
            ) from None
        except OSError as error:
            raise self._error(f"{method}: {error.strerror or error}") from None
        except (TException, ValueError, TypeError, LookupError) as error:
            # Well-formed Thrift, but not an answer to this call: thriftpy2 has no single exception for that.
            raise self._error(f"{method}: unexpected answer ({error}); {_VERSION}") from None

    def _error(self, reason: str) -> FabricError:
        return FabricError(f"{self.name} (Thrift {self.address}): {one_line(reason)}")


@functools.cache
def _idl() -> ModuleType:
    module: ModuleType = thriftpy2.load(str(_IDL), module_name="bmv2_thrift")
    return module


_T = TypeVar("_T")


async def read(
    name: str, target: Target, program: Program, cells: Collection[tuple[str, int]]
) -> dict[tuple[str, int], int]:
    """Reads registers by P4Info alias and index. Raises FabricError, also if another program runs."""
    wanted = {alias: program.schema().registers[alias].name for alias, _ in cells}

    def work(client: ThriftClient) -> dict[tuple[str, int], int]:
        _check_program(client, name, target, program)
        held = {alias: client.register(full) for alias, full in wanted.items()}
        for alias, index in cells:
            if index >= len(held[alias]):
                raise FabricError(f"{name}: register {alias} has {len(held[alias])} cells, none for {index}")
        return {(alias, index): held[alias][index] for alias, index in cells}

    return await ask(name, target, work)


async def set_queues(name: str, target: Target, settings: Mapping[int, Bmv2QueueValues]) -> None:
    """Sets queue depths and rates, port by port. None of them can be read back. Raises FabricError."""

    def work(client: ThriftClient) -> None:
        for port, one in settings.items():
            client.set_queue(port, one)

    await ask(name, target, work)


async def ask(name: str, target: Target, work: Callable[[ThriftClient], _T]) -> _T:
    """Returns what `work` gets from a switch's Thrift server, if that is the switch's. Raises FabricError."""
    address = target.thrift
    if address is None:
        raise FabricError(f"{name}: no Thrift server is known; give `thrift` in the targets file")

    def connected() -> _T:
        with ThriftClient(name, address, device_id=target.device_id) as client:
            client.check_identity()
            return work(client)

    return await asyncio.to_thread(connected)


def _check_program(client: ThriftClient, name: str, target: Target, program: Program) -> None:
    if target.role is not None:
        return  # the program has another owner, and was checked over P4Runtime
    if client.program_md5() == hashlib.md5(program.json, usedforsecurity=False).digest():
        return
    if identity(client.program_json(), program.schema().p4info) != program.identity:
        raise FabricError(f"{name}: does not run this program; `eeon config apply` loads it")
