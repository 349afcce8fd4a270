"""Reads the switches for a scrape: each at most every few seconds, and with a limit on waiting."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from eeon_control import __version__, energy
from eeon_control import program as programs
from eeon_control.controller.counts import Restores
from eeon_control.controller.link import Link
from eeon_control.controller.log import say
from eeon_control.controller.machine import State
from eeon_control.controller.metrics.families import (
    Row,
    families,
    of_energy,
    of_observation,
    of_ports,
    of_restores,
    of_storms,
)
from eeon_control.controller.supervisor import Supervisor
from eeon_control.entries import by_key
from eeon_control.errors import EeonError
from eeon_control.fabric.read import OF_QUEUES, Observation, Wanted, observe_switch
from eeon_control.topology import Switch
from eeon_control.views import power

# Registers for the energy account, and those that are exported.
_REGISTERS = (*energy.REGISTERS, "occupancy_bytes", "occupancy_packets", "held_packets")
_WANTED = Wanted(counters=True, registers=_REGISTERS)
_TOO_OLD_SECONDS = 30.0


@dataclass
class _Known:
    """A switch's last observation, its time and duration, and sums since the first, by metric and port."""

    observation: Observation | None = None
    at: float = 0.0
    seconds: float = 0.0
    before: energy.Reading | None = None
    sums: defaultdict[tuple[str, int], float] = field(default_factory=lambda: defaultdict(float))


class Readings(Collector):
    """The readings of a supervisor's switches, on its event loop; collects the metrics of the last `refresh`.

    `young_seconds`: minimum time between two readings of a switch, independent of the rate of scrapes.
    `wait_seconds`: how long a scrape waits for the switches; a reading that takes longer continues for the
    next scrape. `zeros`: include the ports' counters that are zero.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        young_seconds: float = 5.0,
        wait_seconds: float = 3.0,
        *,
        zeros: bool = True,
    ) -> None:
        self._supervisor = supervisor
        self._zeros = zeros
        self._young_seconds = young_seconds
        self._wait_seconds = wait_seconds
        self._known: dict[str, _Known] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._program = programs.load()
        self._rows: list[Row] = []

    def describe(self) -> list[Metric]:
        """Returns no metrics, because nothing has been read yet."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Returns the metrics of one scrape."""
        return families(self._rows)

    async def refresh(self) -> None:
        """Makes the metrics of a scrape, after reading switches whose last reading is too old.

        A standby reads no switch and reports no port: sums over all controllers would count them twice.
        """
        wanted = self._supervisor.wanted
        if wanted is not None and self._supervisor.in_charge:
            now = time.monotonic()
            for name, switch in wanted.topology.switches.items():
                link, known = self._supervisor.links.get(name), self._known.setdefault(name, _Known())
                old = known.observation is None or now - known.at >= self._young_seconds
                if link is not None and link.machine.is_connected and old and name not in self._running:
                    self._begin(link, switch)
            if self._running:
                await asyncio.wait(list(self._running.values()), timeout=self._wait_seconds)
        # They are of one moment: nothing is awaited between them.
        self._rows, now = [*self._fabric()], time.monotonic()
        if (wanted := self._supervisor.wanted) is not None:
            for name, switch in wanted.topology.switches.items():
                if name in self._supervisor.links:
                    self._rows += self._of_switch(switch, wanted.watchdogs.get(name, ()), now)

    def _begin(self, link: Link, switch: Switch) -> None:
        task = asyncio.create_task(self._read(link, switch), name=f"read {link.name}")
        self._running[link.name] = task
        task.add_done_callback(lambda done: self._running.pop(link.name, None))

    async def _read(self, link: Link, switch: Switch) -> None:
        known = self._known[link.name]
        session = link.session
        if session is None:
            return
        started = time.monotonic()
        try:
            entries = link.machine.intended.entries
            tables = {entry.table for entry in entries if not entry.is_default}
            wanted = replace(_WANTED, queues=tuple(one for one in OF_QUEUES if one in tables))
            observation = await observe_switch(session, switch, link.target, wanted, self._program, entries)
        except EeonError as error:
            say(logging.WARNING, "unread", switch=link.name, reason=str(error))
            return
        known.observation, known.at = observation, time.monotonic()
        known.seconds = known.at - started
        self._account(known, switch, observation)

    def _account(self, known: _Known, switch: Switch, observation: Observation) -> None:
        wanted = self._supervisor.wanted
        reading = None if wanted is None else power.reading(switch, observation, wanted.tick_ps)
        if reading is None:
            return
        before, known.before = known.before or reading, reading
        for one in energy.switch_energy(switch, before, reading).ports:
            for name, value in of_energy(one).items():
                known.sums[name, one.port.number] += value

    def _fabric(self) -> Iterator[Row]:
        of = self._supervisor
        yield "config_revision", 0 if of.wanted is None else of.wanted.revision.number
        yield "config_journal", of.unfinished.found.journal
        yield "config_readable", of.folder_readable
        yield "controller_in_charge", of.in_charge
        if (left := of.unfinished.found.confirm_seconds_left) is not None:
            yield "config_confirm_remaining_seconds", left
        for result, count in of.applies.items():
            yield "config_applies_total", count, result
        for (what, result), count in of.counts.finished.items():
            yield "config_finished_total", count, what, result
        yield "controller_info", 1, __version__, str(of.options.rank)

    def _of_switch(self, switch: Switch, watched: Collection[int], now: float) -> Iterator[Row]:
        of, name = self._supervisor, switch.name
        link = of.links[name]
        known = self._known.get(name, _Known())
        age = now - known.at
        connected = link.machine.is_connected
        seen = known.observation
        fresh = connected and of.in_charge and seen is not None and age <= _TOO_OLD_SECONDS
        yield "switch_up", fresh if of.in_charge else connected, name
        yield "switch_primary", link.machine.is_primary, name
        yield "switch_in_sync", link.machine.state is State.IN_SYNC, name
        yield "switch_drift_entries", link.machine.drift_entries, name
        yield "switch_connections_lost_total", link.machine.connections_lost, name
        yield "switch_refusals_total", link.machine.refusals, name
        yield from of_restores(name, of.counts.restores.get(name, Restores()))
        if of.in_charge:
            limits = by_key(link.machine.intended.entries, "port_buffer")
            buffers = {port: dict(action.params).get("buffer_bytes") for port, action in limits.items()}
            yield from of_ports(switch, buffers, of.ports_down(name) if connected else None)
            storms, found = of.storm_watch.storms.get(name, {}), of.storm_watch.found
            yield from of_storms(name, {one: (found.get((name, one), 0), one in storms) for one in watched})
        if fresh and seen is not None:
            yield "switch_reading_age_seconds", age, name
            yield "switch_reading_seconds", known.seconds, name
            yield from of_observation(name, seen, zeros=self._zeros)
            for (metric, port), value in known.sums.items():
                yield metric, value, name, str(port)
