"""Serves the fabric's metrics to Prometheus over HTTP."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from eeon_control.controller.log import say
from eeon_control.controller.machine import State
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
        readings = Readings(supervisor, zeros=self.zeros)
        registry = CollectorRegistry()
        registry.register(readings)
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        checks = {"/healthz": lambda: "", "/readyz": lambda: why_not_ready(supervisor)}
        server = HttpServer(registry, readings.refresh, checks=checks)
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
    """Returns why the fabric is not as intended, or an empty text. A standby needs only a revision."""
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
