"""The queue of a host's NIC, set like the switch port at the other end of its link.

The engine's NIC has the P4 program's modes with the program's parameters (netsim's `NicAqm`), but counts time
in picoseconds. Thresholds by link speed are the controller's.
"""

from __future__ import annotations

from typing import Any

from eeon_control.config import FabricConfig
from eeon_control.config.queues import Aqm, Codel, MarkThreshold, Red
from eeon_control.config.thresholds import mark_thresholds, red_thresholds
from eeon_control.config.timers import red_slope
from eeon_control.topology import Port
from eeon_control.units import DataRate, Packets


def queue_like(config: FabricConfig, leaf: Port) -> dict[str, Any]:
    """`buffer_bytes` and `aqm` of a NIC that behaves as a leaf's port does. Raises PlanError for thresholds
    that the port cannot have either."""
    queue = config.settings_of(leaf).queue
    return {"buffer_bytes": int(queue.buffer), "aqm": _aqm(queue.aqm, leaf.rate)}


def _aqm(aqm: Aqm, rate: DataRate) -> dict[str, Any] | None:
    match aqm:
        case MarkThreshold():
            threshold, l4s_threshold = mark_thresholds(aqm, rate)
            return {
                "mode": "mark_threshold",
                "threshold_bytes": int(threshold),
                "l4s_threshold_bytes": int(l4s_threshold),
                "at_dequeue": aqm.at == "dequeue",
            }
        case Red():
            low, high = red_thresholds(aqm, rate)
            return {
                "mode": "red",
                "min_threshold": int(low),
                "max_threshold": int(high),
                "probability_slope": red_slope(low, high, aqm.max_probability),
                "in_packets": isinstance(low, Packets),
                "average_shift": aqm.average_shift,
                "ecn": aqm.ecn,
                "protect": aqm.protect,
            }
        case Codel():
            return {
                "mode": "codel",
                "target_ps": int(aqm.target),
                "interval_ps": int(aqm.interval),
                "mtu_bytes": int(aqm.mtu),
                "ecn": aqm.ecn,
                "protect": aqm.protect,
            }
    return None
