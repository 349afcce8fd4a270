"""All entries of all switches: routes, ECMP seed, and for every linked port its buffer, AQM and EEE.

Every linked port gets all three entries, also where they say what the program does by default, so that what
is intended can be read back, shown, and told from what somebody removed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from operator import attrgetter

from eeon_control.config import Aqm, Codel, DropTail, FabricConfig, MarkThreshold, PortSettings, Red, check
from eeon_control.config.thresholds import mark_thresholds, red_thresholds
from eeon_control.config.timers import EeeTicks, codel_ticks, eee_ticks, red_slope
from eeon_control.constants import ECMP_SELECTOR_SIZE, PROTECT, ROUTE_TABLE_SIZE
from eeon_control.errors import InputError, PlanError, Severity
from eeon_control.memory import cyclic_collector_paused
from eeon_control.plan.entries import Action, Entry, Exact
from eeon_control.plan.routes import Router, ecmp_seed
from eeon_control.topology import Port, Switch, Topology
from eeon_control.units import Bytes, DataRate, Duration, Packets

# The tables the controller owns: entries in them that are not intended are deleted.
TABLES: tuple[str, ...] = ("switch_config", "ipv4_route", "ipv6_route", "port_buffer", "port_aqm", "port_eee")


def intended(topology: Topology, config: FabricConfig, tick: Duration | int) -> dict[str, tuple[Entry, ...]]:
    """What every switch should hold. `tick` is the length of the target's timestamp unit.

    Raises InputError when `config.check` finds an error, PlanError when the data plane's tables are too
    small.
    """
    tick = Duration(tick)  # a plain number of picoseconds will do
    if tick <= 0:
        raise PlanError(f"the target's tick must be above zero, not {tick}")
    problems = [found for found in check(config, topology, tick) if found.severity is Severity.ERROR]
    if problems:
        raise InputError(problems)
    seeds = ecmp_seed(config.routing.seed, topology)
    with cyclic_collector_paused():
        router, ports = Router(topology, config.routing), _PortEntries(config, tick)
        return {
            name: tuple(_switch_entries(switch, router, ports, seeds[name]))
            for name, switch in topology.switches.items()
        }


def host_nics(topology: Topology, config: FabricConfig, tick: Duration) -> dict[str, EeeTicks | None]:
    """The EEE timers of every host's own NIC (role `host`), in ticks of `tick`; None where EEE is off."""
    return {
        name: eee_ticks(config.eee_of(host.port), host.port.rate, host.port.overhead, tick)
        for name, host in topology.hosts.items()
    }


def _switch_entries(switch: Switch, router: Router, ports: _PortEntries, seed: int) -> list[Entry]:
    entries = [Entry("switch_config", (), (Action("set_ecmp_seed", (("seed", seed),)),), is_default=True)]
    routes = router.entries(switch)
    counts = Counter(route.table for route in routes)
    for table, count in counts.items():
        if count > ROUTE_TABLE_SIZE:
            raise PlanError(f"{switch.name} needs {count} entries in {table}; it holds {ROUTE_TABLE_SIZE}")
    members = sum(map(len, map(attrgetter("actions"), routes)))
    if members > ECMP_SELECTOR_SIZE:
        raise PlanError(
            f"{switch.name} needs {members} next hops in all; ecmp_selector holds {ECMP_SELECTOR_SIZE}. "
            "Set routing.max_paths to a smaller number"
        )
    entries += routes
    for port in switch.ports:
        entries += ports.of(port)
    return entries


class _PortEntries:
    """Buffer, AQM and EEE of ports; equal ports of different switches share their entries."""

    def __init__(self, config: FabricConfig, tick: Duration) -> None:
        self._config = config
        self._tick = tick
        self._entries: dict[tuple[int, str, str, DataRate, Bytes], tuple[Entry, ...]] = {}

    def of(self, port: Port) -> tuple[Entry, ...]:
        """The three entries of one port."""
        settings = self._config.settings_of(port)
        kind = (port.number, settings.queue_name, settings.eee_name, port.rate, port.overhead)
        entries = self._entries.get(kind)
        if entries is None:
            match = (Exact("port", port.number),)
            actions = self._actions_of(port, settings)
            entries = self._entries[kind] = tuple(Entry(table, match, action) for table, action in actions)
        return entries

    def _actions_of(self, port: Port, settings: PortSettings) -> tuple[tuple[str, tuple[Action, ...]], ...]:
        eee = eee_ticks(settings.eee, port.rate, port.overhead, self._tick)
        eee_action = Action("eee_off") if eee is None else Action("eee", tuple(asdict(eee).items()))
        buffer = Action("set_buffer_limit", (("buffer_bytes", int(settings.queue.buffer)),))
        return (
            ("port_buffer", (buffer,)),
            ("port_aqm", (_aqm_action(settings.queue.aqm, port, self._tick),)),
            ("port_eee", (eee_action,)),
        )


def _aqm_action(aqm: Aqm, port: Port, tick: Duration) -> Action:
    match aqm:
        case DropTail():
            return Action("drop_tail")
        case MarkThreshold():
            threshold, l4s_threshold = mark_thresholds(aqm, port.rate)
            return Action(
                "mark_threshold",
                (
                    ("threshold_bytes", int(threshold)),
                    ("l4s_threshold_bytes", int(l4s_threshold)),
                    ("at_dequeue", int(aqm.at == "dequeue")),
                ),
            )
        case Red():
            low, high = red_thresholds(aqm, port.rate)
            return Action(
                "red",
                (
                    ("min_threshold", int(low)),
                    ("max_threshold", int(high)),
                    ("probability_slope", red_slope(low, high, aqm.max_probability)),
                    ("in_packets", int(isinstance(low, Packets))),
                    ("average_shift", aqm.average_shift),
                    ("ecn", int(aqm.ecn)),
                    ("protect", PROTECT[aqm.protect]),
                ),
            )
        case Codel():
            target, interval = codel_ticks(aqm, tick)
            return Action(
                "codel",
                (
                    ("target_ticks", target),
                    ("interval_ticks", interval),
                    ("mtu_bytes", int(aqm.mtu)),
                    ("ecn", int(aqm.ecn)),
                    ("protect", PROTECT[aqm.protect]),
                ),
            )
