"""The entries for sampling queues and forwarding congestion notification messages. Pure.

A congestion point clones the sampled frame (`copies`) and makes the message (`cnm_source`). Every switch
accepts messages of other switches (`port_cnm`) into one queue (`cnm_queue`). Without QCN, none of these
exist.
"""

from eeon_control.config import FabricConfig
from eeon_control.config.classes import PRIORITIES, priority_of
from eeon_control.config.qcn import Qcn
from eeon_control.entries import Action, Entry, Exact
from eeon_control.port_settings.codec import size_text
from eeon_control.topology import PortRole, Switch, Topology, mac_number
from eeon_control.units import Bytes

POINTS = "port_qcn"
"""The table of congestion points: settings by queue."""
TABLES: tuple[str, ...] = ("cnm_source", "cnm_queue", "port_cnm", POINTS)

CNM_PRIORITY = PRIORITIES - 1
"""The priority of messages, the highest: late ones are useless."""

_SCALE_BITS = 56
_STRONGEST = 63
_PERCENT_Q16 = 65536


def is_used(topology: Topology, config: FabricConfig) -> bool:
    """Returns whether any port has a congestion point."""
    names = {config.attached(port, "queue") for port in topology.ports()}
    return any(name is not None and config.profiles.queue[name].qcn is not None for name in names)


def entries(switch: Switch, config: FabricConfig) -> list[Entry]:
    """Returns the QCN entries of one switch, in a fabric with QCN."""
    mac = mac_number(switch.mac)
    found = [
        Entry("cnm_source", (), (Action("make_cnm", (("mac", mac),)),), is_default=True),
        Entry("cnm_queue", (), (Action("set_cnm_priority", (("priority", CNM_PRIORITY),)),), is_default=True),
    ]
    for port in switch.ports:
        if port.role is not PortRole.HOST_FACING:
            found.append(Entry("port_cnm", (Exact("port", port.number),), (Action("trust_cnms"),)))
    for port in switch.ports:
        qcn = config.settings_of(port).queue.qcn
        if qcn is not None:
            for priority in dict.fromkeys(priority_of(config.classes, name) for name in qcn.classes):
                assert priority is not None, "`config.check` refuses unknown classes"
                match = (Exact("queue", port.number * PRIORITIES + priority),)
                found.append(Entry(POINTS, match, (action(qcn),)))
    return found


def action(qcn: Qcn) -> Action:
    """Returns the action for a congestion point. The scale is rounded up: see docs/models/qcn.md."""
    reach = int(qcn.set_point) * (2 * qcn.weight + 1)
    return Action(
        "qcn",
        (
            ("set_point_bytes", int(qcn.set_point)),
            ("weight_shift", qcn.weight.bit_length() - 1),
            ("range_bytes", reach),
            ("scale_q56", -(-(_STRONGEST << _SCALE_BITS) // reach)),
            ("sample_bytes", int(qcn.sample)),
            ("jitter_q16", qcn.jitter * _PERCENT_Q16 // 100),
        ),
    )


def settings(action: Action | None) -> dict[str, int] | None:
    """Returns the configuration's settings for an action of `POINTS`; None if it is off."""
    if action is None or action.name != "qcn":
        return None
    params = dict(action.params)
    return {
        "set_point_bytes": params["set_point_bytes"],
        "weight": 1 << params["weight_shift"],
        "sample_bytes": params["sample_bytes"],
        "jitter_percent": round(params["jitter_q16"] * 100 / _PERCENT_Q16),
    }


def summary(action: Action | None) -> str:
    """Returns `set point 26 KB, weight 2, sampled every 150 KB, jitter 15 %`, or `off`."""
    found = settings(action)
    if found is None:
        return "off"
    set_point, sample = (size_text(Bytes(found[key])) for key in ("set_point_bytes", "sample_bytes"))
    return (
        f"set point {set_point}, weight {found['weight']}, sampled every {sample}, "
        f"jitter {found['jitter_percent']} %"
    )
