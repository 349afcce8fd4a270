"""Serves the fabric's metrics, gathered on the controller's event loop, to Prometheus over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from eeon_control.controller.log import say
from eeon_control.controller.machine import State
from eeon_control.controller.metrics.families import families
from eeon_control.controller.metrics.http import HttpServer
from eeon_control.controller.metrics.readings import Readings
from eeon_control.controller.supervisor import Supervisor
from eeon_control.errors import EeonError

_ADDRESS = re.compile(r"(?:(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]*):)?(?P<port>[0-9]{1,5})", re.ASCII)
_LOOPBACK = "127.0.0.1"
# Gathering the rows has its own limit; this one is for a busy event loop.
_LOOP_SECONDS = 10.0
# The default timeout of a Kubernetes probe is 1 s.
_CHECK_SECONDS = 0.8


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
        registry = CollectorRegistry()
        registry.register(_Fabric(Readings(supervisor, zeros=self.zeros), asyncio.get_running_loop()))
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        try:
            loop = asyncio.get_running_loop()
            checks = {
                "/healthz": _on(loop, lambda: ""),
                "/readyz": _on(loop, lambda: why_not_ready(supervisor)),
            }
            server = HttpServer(self.host, self.port, registry, checks=checks)
        except OSError as error:
            raise EeonError(
                f"--metrics-address {self.host}:{self.port}: {error.strerror or error}; choose another"
            ) from None
        # A daemon, so that a scrape in progress does not keep the controller from ending.
        thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
        thread.start()
        say(logging.INFO, "metrics", address=f"{self.host}:{server.port}")
        try:
            yield
        finally:
            # A scrape in progress waits for this loop, so that the loop must not wait for it.
            await asyncio.to_thread(server.shutdown)
            server.server_close()
            await asyncio.to_thread(thread.join)


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


def _on(loop: asyncio.AbstractEventLoop, question: Callable[[], str]) -> Callable[[], str]:
    """Returns a check that runs on the controller's event loop and fails if that is too slow."""

    async def ask() -> str:
        return question()

    def check() -> str:
        future = asyncio.run_coroutine_threadsafe(ask(), loop)
        try:
            return future.result(_CHECK_SECONDS)
        except FutureTimeout:
            future.cancel()
            return f"the controller has been busy for {_CHECK_SECONDS:g} s"

    return check


class _Fabric(Collector):
    """Collects the fabric's metrics on the controller's event loop, from a thread of the HTTP server."""

    def __init__(self, readings: Readings, loop: asyncio.AbstractEventLoop) -> None:
        self._readings = readings
        self._loop = loop

    def describe(self) -> list[Metric]:
        """Returns no metrics, because registering must not read switches."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Returns the metrics of one scrape; none if the controller is too busy."""
        future = asyncio.run_coroutine_threadsafe(self._readings.rows(), self._loop)
        try:
            rows = future.result(_LOOP_SECONDS)
        except FutureTimeout:
            future.cancel()
            say(logging.ERROR, "scrape_failed", reason=f"controller busy for {_LOOP_SECONDS:g} s")
            return iter(())
        return families(rows)
