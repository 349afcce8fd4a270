"""`eeon show fabric`: every switch, and whether it is reachable and runs the program."""

from collections.abc import Mapping

from eeon_control.fabric.read import FabricObservation, Wanted
from eeon_control.targets import Target
from eeon_control.topology import Topology
from eeon_control.views.filters import other_than
from eeon_control.views.kind import Kind
from eeon_control.views.scale import time_measured
from eeon_control.views.table import Column, Row, View, good_if

VIEW = Kind(
    "fabric",
    """Show whether the switches can be reached and run the program.""",
    Wanted(clock=True),
    lambda data: fabric(data.topology, data.targets.switches, data.observed),
    ("",),
    filters={"faults": other_than("status", "ready")},
)

_US_TO_PS = 1_000_000


def fabric(topology: Topology, targets: Mapping[str, Target], observed: FabricObservation) -> View:
    """Shows one row per switch, with the reason if the switch does not answer."""
    rows: list[Row] = []
    for switch in topology.switches.values():
        target = targets[switch.name]
        found = observed.switches.get(switch.name)
        elapsed_us = None if found is None else found.elapsed_us
        reason = observed.failures.get(switch.name, "").partition(": ")[2]
        rows.append(
            {
                "switch": switch.name,
                "role": switch.role.value,
                "device_id": switch.device_id if target.device_id is None else target.device_id,
                "ports": len(switch.ports),
                "address": target.address,
                "tls": "off" if target.tls is None else "mutual" if target.tls.certificate else "server",
                "thrift": target.thrift,
                "up_ps": None if elapsed_us is None else elapsed_us * _US_TO_PS,
                "status": "ready" if found is not None else reason,
            }
        )
    columns = [
        Column("switch", "switch", right=False),
        Column("role", "role", right=False, worth=3),
        Column("device_id", "device id", worth=2),
        Column("ports", "ports", worth=1),
        Column("address", "P4Runtime", right=False),
        Column("tls", "TLS", right=False, worth=2),
        Column("thrift", "Thrift", right=False, worth=1),
        Column("up_ps", "up", time_measured),
        Column("status", "status", right=False, worth=9, style=good_if("ready")),
    ]
    title = ": ".join(filter(None, (topology.name, topology.description)))
    return View("fabric", title, columns, rows, key=("switch",))
