"""BMv2's own queues (`target_settings.bmv2`), which are set over Thrift and cannot be read back.

They are set after the entries are read back and before the commit. Undoing restores the settings of the
previous revision; without any there, they stay, because their earlier values are unknown.
"""

from collections.abc import Mapping

from eeon_control.config import Bmv2QueueValues, FabricConfig
from eeon_control.fabric import thrift
from eeon_control.fabric.concurrent import in_turn
from eeon_control.targets import Target
from eeon_control.topology import Switch, Topology

Queues = Mapping[str, Mapping[int, Bmv2QueueValues]]
"""Switch -> port -> settings of its queue."""


def of_switch(config: FabricConfig, switch: Switch) -> dict[int, Bmv2QueueValues]:
    """Returns the configured settings of the queues of one switch's linked ports; empty if there are none."""
    found = {port.number: config.bmv2_queue(port) for port in switch.ports}
    return {number: values for number, values in found.items() if values is not None}


def of_fabric(topology: Topology, config: FabricConfig, targets: Mapping[str, Target]) -> Queues:
    """Returns the same for all switches with a known Thrift server; the engine's switches need none."""
    return {
        name: of
        for name, switch in topology.switches.items()
        if name in targets and targets[name].thrift is not None and (of := of_switch(config, switch))
    }


async def set_all(queues: Queues, targets: Mapping[str, Target]) -> dict[str, str]:
    """Sets the queues. Returns switch -> reason, for those that failed."""
    results = await in_turn(thrift.set_queues(name, targets[name], of) for name, of in queues.items())
    return {name: str(error) for name, error in zip(queues, results, strict=True) if error is not None}
