"""Converts a topology and a configuration to the engine's fabric (the JSON of its `FabricSpec`).

The spec has only what the controller does not write to switches: links and their speeds, PHYs, and the hosts'
NICs. The settings for packets are written into the switches' tables over P4Runtime afterwards. EEE is in
both: the tables tell the program when a port may send, and the spec tells each PHY whether it sleeps, so that
the energy that the PHY used can be compared with the program's account.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from eeon_control.config import PRIORITIES, Eee, FabricConfig
from eeon_control.config.classes import default_priority
from eeon_control.constants import CPU_PORT, DROP_PORT
from eeon_control.topology import Link, Port, Topology
from eeon_control.topology import phy as phys
from eeon_control.units import DataRate

from eeon_tools.errors import UnavailableError

if TYPE_CHECKING:
    from eeon_engine.json_types import EndSpec, FabricSpec, LinkSpec, NicClassesSpec, NicEeeSpec, PhySpec

TICK_PS = 1000
"""Picoseconds; the twin's timestamps count nanoseconds."""
LONGEST_RUN_PS = (1 << 61) - 1
"""Picoseconds; no twin runs for longer than 26 days."""
GATE_REGISTER = "gate_open_at"
CLASS_GATE_REGISTER = "class_gate_open_at"
TIMER_REGISTER = "pause_timer"
QUEUE_SAMPLES = 512
_QUEUE_SAMPLE_PS = 10_000_000


def fabric_spec(
    topology: Topology, config: FabricConfig, seed: int, nic_eee: Mapping[str, Eee] | None = None
) -> FabricSpec:
    """Returns the spec of a twin of `topology` with the PHYs and NICs that `config` defines; `nic_eee`
    replaces the EEE of the hosts' NICs.

    Raises UnavailableError if two ports of one speed have different EEE timings (a twin has one kind of PHY
    for each speed), or if EEE is on at a speed whose power is not known.
    """
    nics = nic_eee or {host.name: config.eee_of(host.port) for host in topology.hosts.values()}
    spec: FabricSpec = {
        "seed": seed,
        "tick_ps": TICK_PS,
        "cpu_port": CPU_PORT,
        "drop_port": DROP_PORT,
        "gate_register": GATE_REGISTER,
        "priorities": PRIORITIES if config.classes else 1,
        "switches": [
            {"name": switch.name, "device_id": switch.device_id} for switch in topology.switches.values()
        ],
        "hosts": [
            {
                "name": host.name,
                "mac": host.mac,
                "gateway_mac": host.gateway_mac,
                "ipv4": str(host.ipv4),
                "ipv6": str(host.ipv6),
                "nic": {"eee": _nic_eee(nics[host.name]), "buffer_bytes": None},
            }
            for host in topology.hosts.values()
        ],
        "links": [_link(topology, config, link) for link in topology.links],
        "phy": _phys(topology, config, nics),
        "queue_samples": {"period_ps": _QUEUE_SAMPLE_PS, "max": QUEUE_SAMPLES},
    }
    if config.classes:
        spec["class_gate_register"] = CLASS_GATE_REGISTER
        spec["timer_register"] = TIMER_REGISTER
    if config.quanta:
        spec["quanta"] = [
            {"priority": priority, "bytes": int(quantum)} for priority, quantum in config.quanta.items()
        ]
    priorities = {one.priority for one in config.classes.values()} | {default_priority(config.classes)}
    if config.lossless or len(priorities) > 1:
        spec["nic_classes"] = _nic_classes(config)
    return spec


def transmitters_without_power(spec: FabricSpec) -> int:
    """Returns how many transmitters have a speed whose power is not known: no energy includes them."""
    known = {one["rate_bps"] for one in spec["phy"]}
    return 2 * sum(link["rate_bps"] not in known for link in spec["links"])


def _nic_classes(config: FabricConfig) -> NicClassesSpec:
    """Returns the NICs' classes: hosts classify frames like switches, and obey lossless classes' pauses."""
    return {
        "dscp": [
            {"dscp": dscp, "priority": one.priority}
            for one in config.classes.values()
            for dscp in sorted(one.dscp)
        ],
        "default_priority": default_priority(config.classes),
        "pausable": sorted(config.lossless),
    }


def _link(topology: Topology, config: FabricConfig, link: Link) -> LinkSpec:
    ends: list[EndSpec] = []
    for end in (link.a, link.b):
        shown: EndSpec = {"node": end.node, "port": 0 if end.node in topology.hosts else end.port}
        port = topology.port(str(end))
        if port is not None and config.eee_of(port).mode != "off":
            shown["eee"] = {"stall_ps": int(config.eee_of(port).stall)}
        ends.append(shown)
    return {
        "a": ends[0],
        "b": ends[1],
        "rate_bps": int(link.rate),
        "delay_ps": int(link.delay),
        "overhead_bytes": int(link.overhead),
    }


def _nic_eee(eee: Eee) -> NicEeeSpec | None:
    if eee.mode == "off":
        return None
    trigger = eee.trigger
    return {
        "stall_ps": int(eee.stall),
        "hold_ps": int(eee.hold or 0),
        "trigger_packets": int(trigger.packets or 0) if trigger else 0,
        "trigger_bytes": int(trigger.bytes or 0) if trigger else 0,
    }


def _phys(topology: Topology, config: FabricConfig, nics: Mapping[str, Eee]) -> list[PhySpec]:
    """Returns one PHY for each link speed whose power is known, with the timings of the configuration."""
    timings: dict[DataRate, tuple[int, int]] = {}
    asked_by: dict[DataRate, str] = {}
    asked: list[tuple[Port, Eee]] = [(port, config.eee_of(port)) for port in topology.ports()]
    asked += [(host.port, nics[host.name]) for host in topology.hosts.values()]
    for port, eee in asked:
        if eee.mode == "off":
            continue
        sleep, wake = eee.timers(port.rate)
        timing = (int(sleep), int(wake))
        if timings.setdefault(port.rate, timing) != timing:
            raise UnavailableError(
                f"port {port.name} and port {asked_by[port.rate]} are both {port.rate} but have different "
                "EEE sleep or wake times; a twin has one kind of PHY for each speed"
            )
        asked_by.setdefault(port.rate, port.name)
    found: list[PhySpec] = []
    for rate in sorted({link.rate for link in topology.links}):
        known = phys.of_rate(rate)
        if known is None or known.watts is None:
            if rate in timings:
                raise UnavailableError(
                    f"port {asked_by[rate]}: the power of a {rate} PHY is not known, so its energy cannot be "
                    "computed; switch EEE off at this speed"
                )
            continue
        sleep_ps, wake_ps = timings.get(rate, (int(known.sleep), int(known.wake)))
        found.append(
            {
                "rate_bps": int(rate),
                "watts": known.watts,
                "lpi_fraction": known.lpi_fraction,
                "sleep_ps": sleep_ps,
                "wake_ps": wake_ps,
            }
        )
    return found
