"""What the rest of the controller asks over Thrift, one connection a call, off the event loop.

values = await read_registers(name, target, schema, ports, ["wakes"])
await set_queues("leaf1", target, {3: QueueSettings(depth_packets=1024)})
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from eeon_control.errors import FabricError
from eeon_control.fabric.targets import Target
from eeon_control.fabric.thrift_client import QueueSettings, ThriftClient
from eeon_control.program import Program

_T = TypeVar("_T")


@dataclass(frozen=True)
class ThriftReading:
    """Registers by port and P4Info alias, and microseconds since the switch started."""

    registers: Mapping[int, Mapping[str, int]]
    elapsed_us: int


async def read(
    name: str, target: Target, program: Program, ports: Iterable[int], registers: Iterable[str]
) -> ThriftReading:
    """Read per-port registers and the clock. Raises FabricError, also when another program runs there."""
    wanted = {alias: program.schema().registers[alias].name for alias in registers}
    numbers = tuple(ports)

    def work(client: ThriftClient) -> ThriftReading:
        _check_program(client, name, program)
        cells = {alias: client.register(full) for alias, full in wanted.items()}
        return ThriftReading(
            {port: {alias: _cell(cells[alias], port, name, alias) for alias in wanted} for port in numbers},
            client.elapsed_us(),
        )

    return await _with_client(name, target, work)


async def check(name: str, target: Target) -> None:
    """See that the Thrift server answers and is this switch's. Raises FabricError."""
    await _with_client(name, target, lambda client: None)


async def read_clock(name: str, target: Target) -> int:
    """Microseconds since the switch started. Raises FabricError."""
    return await _with_client(name, target, lambda client: client.elapsed_us())


async def set_queues(name: str, target: Target, settings: Mapping[int, QueueSettings]) -> None:
    """Set queue depths and rates, port by port. Raises FabricError; nothing of it can be read back."""

    def work(client: ThriftClient) -> None:
        for port, one in settings.items():
            client.set_queue(port, one)

    await _with_client(name, target, work)


async def _with_client(name: str, target: Target, work: Callable[[ThriftClient], _T]) -> _T:
    address = target.thrift
    if address is None:
        raise FabricError(f"{name}: no Thrift server is known; give `thrift` in the targets file")

    def connected() -> _T:
        with ThriftClient(name, address, device_id=target.device_id) as client:
            client.check_identity()
            return work(client)

    return await asyncio.to_thread(connected)


def _check_program(client: ThriftClient, name: str, program: Program) -> None:
    if client.program_md5() != hashlib.md5(program.json, usedforsecurity=False).digest():
        raise FabricError(f"{name}: does not run this program; `eeon config apply` loads it")


def _cell(cells: list[int], port: int, name: str, alias: str) -> int:
    if port >= len(cells):
        raise FabricError(f"{name}: register {alias} has {len(cells)} cells, port {port} has none")
    return cells[port]
