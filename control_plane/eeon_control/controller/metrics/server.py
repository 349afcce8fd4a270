"""Serves the fabric's metrics to Prometheus over HTTP."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from eeon_control.controller.log import say
from eeon_control.controller.machine import State
from eeon_control.controller.metrics.families import Row, families
from eeon_control.controller.metrics.http import HttpServer
from eeon_control.controller.metrics.readings import Readings
from eeon_control.controller.supervisor import Supervisor
from eeon_control.errors import EeonError

_ADDRESS = re.compile(r"(?:(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]*):)?(?P<port>[0-9]{1,5})", re.ASCII)
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class MetricsServer:
    """The address and options of the metrics server. Port 0: any free one, which the log reports.

    `zeros`: include the ports' counters that are zero.
    """

    host: str
    port: int
    zeros: bool = True

    @classmethod
    def parse(cls, text: str) -> MetricsServer:
        """Parses `host:port`, `:port` or `port`; the default host is loopback. Raises ValueError."""
        match = _ADDRESS.fullmatch(text)
        if match is None or int(match["port"]) > 65535:
            raise ValueError(f"{text!r} is not HOST:PORT; write for example 127.0.0.1:9100")
        return cls((match["host"] or _LOOPBACK).strip("[]"), int(match["port"]))

    @contextlib.asynccontextmanager
    async def open(self, supervisor: Supervisor) -> AsyncIterator[None]:
        """Serves metrics in its context. Raises EeonError if the address is not available."""
        fabric = _Fabric(Readings(supervisor, zeros=self.zeros))
        registry = CollectorRegistry()
        registry.register(fabric)
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        checks = {"/healthz": lambda: "", "/readyz": lambda: why_not_ready(supervisor)}
        server = HttpServer(registry, fabric.refresh, checks=checks)
        try:
            port = await server.start(self.host, self.port)
        except OSError as error:
            reason = str(error.strerror).rpartition(": ")[2]  # without asyncio's sentence about the address
            raise EeonError(f"--metrics-address {self.host}:{self.port}: {reason}; choose another") from None
        say(logging.INFO, "metrics", address=f"{self.host}:{port}")
        try:
            yield
        finally:
            await server.close()


def why_not_ready(supervisor: Supervisor) -> str:
    """Returns why the fabric is not as intended; empty if it is. A standby is ready once it has read a
    revision."""
    if not supervisor.started.is_set():
        return "the controller is starting"
    if not supervisor.folder_readable:
        return "the state folder cannot be read"
    if supervisor.wanted is None:
        return "no revision yet"
    if not supervisor.in_charge:
        return ""
    late = [
        f"{name} ({state.value})" for name, state in supervisor.states().items() if state is not State.IN_SYNC
    ]
    return f"not in sync: {', '.join(late)}" if late else ""


class _Fabric(Collector):
    """Collects the fabric's metrics from the rows of the last `refresh`."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings
        self._rows: list[Row] = []

    async def refresh(self) -> None:
        """Reads the switches, unless their last readings are young."""
        self._rows = await self._readings.rows()

    def describe(self) -> list[Metric]:
        """Returns no metrics, because nothing has been read yet."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Returns the metrics of one scrape."""
        return families(self._rows)
