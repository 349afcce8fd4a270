"""The queue of a host's NIC, configured like the switch port at the other end of its link.

The engine's NIC has the P4 program's modes with the program's parameters (netsim's `NicAqm`), but counts time
in picoseconds. Thresholds by link speed come from the controller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from eeon_control.config import FabricConfig
from eeon_control.port_settings import Aqm, CodelSettings, MarkThresholdSettings, RedSettings
from eeon_control.topology import Port
from eeon_control.units import DataRate, Packets

if TYPE_CHECKING:
    from eeon_engine.json_types import NicAqm, NicSpec, Protect


def queue_like(config: FabricConfig, leaf: Port) -> NicSpec:
    """Returns the buffer and `aqm` of a NIC that behaves like a leaf's port. Raises PlanError for thresholds
    that the port cannot have either."""
    queue = config.settings_of(leaf).queue
    aqm = _aqm(queue.aqm, leaf.rate)
    if isinstance(queue.buffer, Packets):
        return {"buffer_packets": int(queue.buffer), "aqm": aqm}
    spec: NicSpec = {"buffer_bytes": int(queue.buffer), "aqm": aqm}
    if queue.held_packets == "outside":
        spec["held_outside"] = True
    return spec


def _aqm(aqm: Aqm, rate: DataRate) -> NicAqm | None:
    match aqm.settings_at(rate):
        case MarkThresholdSettings() as marking:
            return {
                "mode": "mark_threshold",
                "threshold_bytes": int(marking.threshold),
                "l4s_threshold_bytes": int(marking.l4s_threshold),
                "at_dequeue": marking.at_dequeue,
            }
        case RedSettings() as red:
            half_life = red.half_life_ps
            return {
                "mode": "red",
                "min_threshold": int(red.min),
                "max_threshold": int(red.max),
                "probability_slope": red.probability_slope,
                "in_packets": isinstance(red.min, Packets),
                "average_shift": red.average_shift,
                "ecn": red.ecn,
                "protect": cast("Protect", red.protect),
                "half_life_ps": None if half_life is None else max(1, round(half_life)),
                "by_size": red.mean_packet is not None,
            }
        case CodelSettings() as codel:
            return {
                "mode": "codel",
                "target_ps": int(codel.target),
                "interval_ps": int(codel.interval),
                "mtu_bytes": int(codel.mtu),
                "ecn": codel.ecn,
                "protect": cast("Protect", codel.protect),
            }
    return None
