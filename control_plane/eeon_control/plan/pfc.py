"""The entries of priority flow control. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eeon_control.config import FabricConfig
from eeon_control.config.pfc import PAUSE_FRAME, QUANTUM_BITS, Thresholds, Watchdog
from eeon_control.constants import PRIORITY_BITS, TICK_VALUES
from eeon_control.entries import Action, Entry, Exact
from eeon_control.errors import PlanError
from eeon_control.topology import Port, Switch, mac_number
from eeon_control.units import PS_PER_S, Duration

GROUPS = "lossless_group"
"""The table of lossless groups, the packets of a priority from one port: thresholds by port and priority."""
STORM_TABLES = frozenset(("port_pfc", "pausable_queue"))
"""The tables whose entries change during a storm."""
TABLES: tuple[str, ...] = ("port_pfc", "pausable_queue", GROUPS, "made_pause")


def pfc_entries(config: FabricConfig, switch: Switch, tick: Duration) -> list[Entry]:
    """Returns the entries of `TABLES`; none without a lossless class. Raises PlanError."""
    lossless = config.lossless
    if not lossless:
        return []
    entries: list[Entry] = []
    bits = sum(1 << priority for priority in lossless)
    source = mac_number(switch.mac)
    for port in switch.ports:
        match = (Exact("port", port.number),)
        loop = max(config.profiles.pfc[name].loop for name in lossless.values())
        obey = Action("obey_pauses", (("quantum_ticks_q16", _quantum(port, tick)), ("priorities", bits)))
        made = Action("send_pause", (("source", source), ("loop_ticks", (loop + tick // 2) // tick)))
        entries += [Entry("port_pfc", match, (obey,)), Entry("made_pause", match, (made,))]
        for priority in sorted(lossless):
            at = config.pfc_at(port, priority)
            queue = (Exact("queue", port.number << PRIORITY_BITS | priority),)
            values = {
                "xoff_bytes": int(at.xoff),
                "xon_bytes": int(at.xon),
                "limit_bytes": int(at.limit),
                "pause_quanta": at.pause,
                "pause_refresh_ticks": at.pause_time // 2 // tick,
            }
            entries += [
                Entry("pausable_queue", queue, (Action("take_pauses"),)),
                Entry(GROUPS, queue, (Action("lossless", tuple(values.items())),)),
            ]
    return entries


def _quantum(port: Port, tick: Duration) -> int:
    """Returns the ticks of a quantum, with 16 fractional bits. Raises PlanError."""
    ticks = (QUANTUM_BITS * PS_PER_S << 16) // (int(port.rate) * int(tick))
    if not 0 < ticks < TICK_VALUES:
        raise PlanError(f"{port.name}: 512 bit times at {port.rate} are not a whole number of {tick} ticks")
    return ticks


@dataclass(frozen=True)
class Watched:
    """A watched queue."""

    rules: Watchdog
    pause: Duration
    """The duration for which one of this fabric's pauses stops the queue."""
    packets_a_pause: int
    """The maximum number of packets that leave between the end of a pause and the arrival of the next one:
    the headroom in shortest frames."""


def watchdogs(config: FabricConfig, switch: Switch) -> dict[int, Watched]:
    """Returns the watched queues of a switch, with the reaction to endless pauses. Raises PlanError."""
    return {
        port.number << PRIORITY_BITS | priority: _watched(config.pfc_at(port, priority), port, one)
        for port in switch.ports
        for priority, one in config.watchdogs.items()
    }


def _watched(at: Thresholds, port: Port, rules: Watchdog) -> Watched:
    return Watched(rules, at.pause_time, -(-at.headroom.total // (PAUSE_FRAME + port.overhead)))


def around_storms(entries: Sequence[Entry], storms: Mapping[int, Watchdog]) -> tuple[Entry, ...]:
    """Returns the entries of a switch during storms: the affected queues ignore pauses, and with `drop`,
    their packets are discarded."""
    acted = {queue: one for queue, one in storms.items() if one.action != "alert"}
    if not acted:
        return tuple(entries)
    return tuple(_around(entry, acted) for entry in entries)


def _around(entry: Entry, storms: Mapping[int, Watchdog]) -> Entry:
    if entry.is_default or entry.table not in STORM_TABLES:
        return entry
    assert isinstance(entry.match[0], Exact)
    number = entry.match[0].value
    if entry.table == "pausable_queue":
        drops = number in storms and storms[number].action == "drop"
        return entry._replace(actions=(Action("discard"),)) if drops else entry
    (action,) = entry.actions
    params = dict(action.params)
    for queue in storms:
        if queue >> PRIORITY_BITS == number:
            params["priorities"] &= ~(1 << queue % (1 << PRIORITY_BITS))
    return entry._replace(actions=(Action(action.name, tuple(params.items())),))
