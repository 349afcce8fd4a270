"""All entries of all switches: routes, ECMP seed, traffic classes; for every linked port its address, buffer,
AQM and EEE.

Every linked port gets all these entries, even those equal to the program's default, so that they can be read
back, shown, and distinguished from removed entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from eeon_control import constants, port_settings
from eeon_control.config import FabricConfig, PortSettings, check
from eeon_control.config.classes import PRIORITIES
from eeon_control.constants import ROUTE_TABLE_SIZE
from eeon_control.entries import CLONE_SESSIONS, Action, Entry, Exact
from eeon_control.errors import InputError, PlanError, Severity
from eeon_control.memory import cyclic_collector_paused
from eeon_control.plan import classes, pfc, qcn
from eeon_control.plan.deadlock import waiting_circle
from eeon_control.plan.routes import ADMIT, Router, ecmp_seed
from eeon_control.port_settings import ByQueueSettings, Settings
from eeon_control.routing import ROUTE_TABLES
from eeon_control.topology import Port, Switch, Topology
from eeon_control.units import Bytes, DataRate, Duration

# The controller's tables. Entries in them that are not intended are deleted.
TABLES: tuple[str, ...] = (
    *("switch_config", ADMIT, *ROUTE_TABLES.values()),
    *classes.TABLES,
    *qcn.TABLES,
    *pfc.TABLES,
    CLONE_SESSIONS,
    port_settings.QUEUE_AQM.name,
    *port_settings.TABLES,
)


def intended(topology: Topology, config: FabricConfig, tick: Duration | int) -> dict[str, tuple[Entry, ...]]:
    """Returns the intended entries of every switch. `tick` is the length of the target's timestamp unit.

    Raises InputError if `config.check` finds an error, and PlanError if the data plane's tables are too
    small, or if routes of lossless classes form a cycle.
    """
    tick = Duration(tick)  # also accepts a plain number of picoseconds
    if tick <= 0:
        raise PlanError(f"the target's tick must be above zero, not {tick}")
    problems = [found for found in check(config, topology, tick) if found.severity is Severity.ERROR]
    if problems:
        raise InputError(problems)
    seeds = ecmp_seed(config.routing.seed, topology)
    with cyclic_collector_paused():
        router, ports = Router(topology, config.routing), _PortEntries(config, tick)
        of_classes = classes.class_entries(config.classes)
        has_qcn = qcn.is_used(topology, config)
        entries = {
            name: (
                _switch_config(seeds[name], config),
                *of_classes,
                *((_copies(),) if has_qcn or config.lossless else ()),
                *(qcn.entries(switch, config) if has_qcn else ()),
                *pfc.pfc_entries(config, switch, tick),
                *_switch_entries(switch, router, ports),
            )
            for name, switch in topology.switches.items()
        }
    if config.lossless and (circle := waiting_circle(topology, entries)) is not None:
        links = ", ".join(f"{sender} -> {receiver}" for sender, receiver in circle)
        raise PlanError(
            f"lossless classes can deadlock the fabric: each of the links {links} may wait for the next, "
            "and the last for the first; connect leaves only through spines, or remove `pfc` from the "
            "classes"
        )
    return entries


def _switch_config(seed: int, config: FabricConfig) -> Entry:
    per_packet = config.routing.ecmp == "per_packet"
    return Entry(
        "switch_config", (), (classes.seed_action(seed, config.classes, per_packet),), is_default=True
    )


def _switch_entries(switch: Switch, router: Router, ports: _PortEntries) -> list[Entry]:
    routes = router.entries(switch)
    counts = Counter(route.table for route in routes)
    for table, count in counts.items():
        if count > ROUTE_TABLE_SIZE:
            raise PlanError(f"{switch.name} needs {count} entries in {table}; it holds {ROUTE_TABLE_SIZE}")
    # ecmp_selector is large enough for every switch. A port is one next hop, which the engine stores once for
    # all its routes; BMv2 stores it once per route, without a limit (bm_sim/action_profile.cpp).
    entries = [*router.admitted(switch), *routes]
    for port in switch.ports:
        entries += ports.of(port)
    return entries


@dataclass
class _PortEntries:
    """The entries of ports: buffer, AQMs and EEE. Equal ports of different switches share them."""

    config: FabricConfig
    tick: Duration
    _entries: dict[tuple[int, str, str, DataRate, Bytes], tuple[Entry, ...]] = field(default_factory=dict)

    def of(self, port: Port) -> tuple[Entry, ...]:
        """Returns the entries of one port: three, and one for each queue that has an AQM of its own."""
        settings = self.config.settings_of(port)
        kind = (port.number, settings.queue_name, settings.eee_name, port.rate, port.overhead)
        if kind not in self._entries:
            self._entries[kind] = tuple(self._made(port, settings))
        return self._entries[kind]

    def _made(self, port: Port, settings: PortSettings) -> Iterator[Entry]:
        for priority, aqm in settings.queue_aqms.items():
            match = (Exact("queue", port.number * PRIORITIES + priority),)
            action = aqm.settings_at(port.rate).to_action(self.tick)
            yield Entry(port_settings.QUEUE_AQM.name, match, (action,))
        match = (Exact("port", port.number),)
        queue = settings.queue
        meant: dict[str, Settings] = {
            port_settings.BUFFER.name: queue.limit(),
            port_settings.AQM.name: (
                ByQueueSettings() if settings.queue_aqms else queue.aqm.settings_at(port.rate)
            ),
            port_settings.EEE.name: settings.eee.settings_at(port.rate, port.overhead),
        }
        for table in port_settings.TABLES:
            yield Entry(table, match, (meant[table].to_action(self.tick),))


def _copies() -> Entry:
    """Returns the clone session for frames that a switch generates (pauses and congestion notification
    messages): one full copy to the port that the program reserves for them."""
    to_itself = Action("clone_to", (("port", constants.COPY_PORT),))
    return Entry(CLONE_SESSIONS, (Exact("session", constants.COPY_SESSION),), (to_itself,))
