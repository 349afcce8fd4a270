"""Reads the switches for a scrape: each at most every few seconds, and with a limit on waiting."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from eeon_control import __version__, energy
from eeon_control import program as programs
from eeon_control.controller.counts import Restores
from eeon_control.controller.link import Link
from eeon_control.controller.log import say
from eeon_control.controller.machine import State
from eeon_control.controller.metrics.sample import FabricSample, PortAccount, SwitchSample
from eeon_control.controller.supervisor import Supervisor
from eeon_control.entries import by_key
from eeon_control.errors import EeonError
from eeon_control.fabric.read import Observation, Wanted, observe_switch, pfc_values, qcn_counts
from eeon_control.plan import pfc, qcn
from eeon_control.topology import Switch
from eeon_control.views import power

# Registers for the energy account, and those that are exported.
_REGISTERS = (*energy.REGISTERS, "occupancy_bytes", "occupancy_packets", "held_packets")
_WANTED = Wanted(counters=True, registers=_REGISTERS)
_TOO_OLD_SECONDS = 30.0


@dataclass
class _Known:
    """Data of one switch: the last observation, its time and duration, and the sums since the first."""

    observation: Observation | None = None
    at: float = 0.0
    seconds: float = 0.0
    before: energy.Reading | None = None
    accounts: dict[int, PortAccount] = field(default_factory=dict)


class Readings:
    """The readings of a supervisor's switches, on its event loop.

    `young_seconds`: minimum time between two readings of a switch, independent of the rate of scrapes.
    `wait_seconds`: how long a scrape waits for the switches; a reading that takes longer continues for the
    next scrape.
    """

    def __init__(self, supervisor: Supervisor, young_seconds: float = 5.0, wait_seconds: float = 3.0) -> None:
        self._supervisor = supervisor
        self._young_seconds = young_seconds
        self._wait_seconds = wait_seconds
        self._known: dict[str, _Known] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._program = programs.load()

    async def sample(self) -> FabricSample:
        """Returns the present data, after reading switches whose last reading is too old.

        A standby reads no switch and reports no port: sums over all controllers would count them twice.
        """
        wanted = self._supervisor.wanted
        if wanted is not None and self._supervisor.in_charge:
            now = time.monotonic()
            for name, link in self._supervisor.links.items():
                known = self._known.setdefault(name, _Known())
                old = known.observation is None or now - known.at >= self._young_seconds
                if old and link.machine.is_connected and name not in self._running:
                    self._begin(link, wanted.topology.switches[name])
            if self._running:
                await asyncio.wait(list(self._running.values()), timeout=self._wait_seconds)
        return self._gather()

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
            observation = await observe_switch(session, switch, link.target, _WANTED, self._program)
            entries = link.machine.intended.entries
            tables = {entry.table for entry in entries if not entry.is_default}
            observation = replace(
                observation,
                entries=entries,
                pfc=await pfc_values(session, switch, entries) if pfc.GROUPS in tables else {},
                qcn=await qcn_counts(session, switch, entries) if qcn.POINTS in tables else {},
            )
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
            account = known.accounts.setdefault(one.port.number, PortAccount())
            account.lpi_ps += one.lpi_ps
            account.transition_ps += one.transition_ps
            if one.joules is not None and one.legacy_joules is not None:
                account.joules = (account.joules or 0.0) + one.joules
                account.legacy_joules = (account.legacy_joules or 0.0) + one.legacy_joules

    def _gather(self) -> FabricSample:
        of = self._supervisor
        wanted = of.wanted
        switches = () if wanted is None else tuple(wanted.topology.switches.values())
        now = time.monotonic()
        values: dict[str, float] = {
            "config_revision": 0 if wanted is None else wanted.revision.number,
            "config_journal": of.journal_found,
            "config_readable": of.folder_readable,
            "controller_in_charge": of.in_charge,
        }
        if of.confirm_seconds_left is not None:
            values["config_confirm_remaining_seconds"] = of.confirm_seconds_left
        return FabricSample(
            version=__version__,
            election_id=of.options.rank,
            values=values,
            applies=of.applies,
            finished=dict(of.counts.finished),
            switches=tuple(self._of_switch(one, now) for one in switches if one.name in of.links),
        )

    def _storms(self, name: str) -> dict[int, tuple[int, bool]]:
        """Returns the number of storms so far, and whether there is one now, by watched queue of a switch."""
        of = self._supervisor
        watched = {} if of.wanted is None else of.wanted.watchdogs.get(name, {})
        storms = of.storm_watch.storms.get(name, {})
        return {queue: (of.storm_watch.found.get((name, queue), 0), queue in storms) for queue in watched}

    def _of_switch(self, switch: Switch, now: float) -> SwitchSample:
        link = self._supervisor.links[switch.name]
        known = self._known.get(switch.name, _Known())
        age = now - known.at
        connected, in_charge = link.machine.is_connected, self._supervisor.in_charge
        fresh = connected and in_charge and known.observation is not None and age <= _TOO_OLD_SECONDS
        values: dict[str, float] = {
            "switch_up": fresh if in_charge else connected,
            "switch_primary": link.machine.is_primary,
            "switch_in_sync": link.machine.state is State.IN_SYNC,
            "switch_drift_entries": link.machine.drift_entries,
            "switch_connections_lost_total": link.machine.connections_lost,
            "switch_refusals_total": link.machine.refusals,
        }
        if fresh:
            values |= {"switch_reading_age_seconds": age, "switch_reading_seconds": known.seconds}
        return SwitchSample(
            switch=switch,
            values=values,
            restores=self._supervisor.counts.restores.get(switch.name, Restores()),
            buffers=_buffers(link) if in_charge else {},
            storms=self._storms(switch.name) if in_charge else {},
            down=self._supervisor.ports_down(switch.name) if connected and in_charge else None,
            observation=known.observation if fresh else None,
            accounts=known.accounts,
        )


def _buffers(link: Link) -> Mapping[int, int | None]:
    """Returns the intended buffer limits in bytes, by port; None if the limit counts packets."""
    limits = by_key(link.machine.intended.entries, "port_buffer")
    return {port: dict(action.params).get("buffer_bytes") for port, action in limits.items()}
