"""BMv2's own queues (`target_settings.bmv2`): set over Thrift, and not to be read back by anybody.

They are set after the entries were read back and before the commit. Undoing sets them to what the revision
before says; where that says nothing, they stay, because nobody knows what they were.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from eeon_control.config import FabricConfig
from eeon_control.errors import FabricError
from eeon_control.fabric import thrift
from eeon_control.fabric.thrift import QueueSettings
from eeon_control.targets import Target
from eeon_control.topology import Switch, Topology

Queues = Mapping[str, Mapping[int, QueueSettings]]
"""Switch -> port -> what its queue is to be set to."""


def of_switch(config: FabricConfig, switch: Switch) -> dict[int, QueueSettings]:
    """Returns what a configuration says about the queues of one switch's linked ports; empty when it says
    nothing."""
    found = {port.number: config.bmv2_queue(port) for port in switch.ports}
    return {
        number: QueueSettings(values.depth_packets, values.packets_per_second)
        for number, values in found.items()
        if values is not None
    }


def of_fabric(topology: Topology, config: FabricConfig, targets: Mapping[str, Target]) -> Queues:
    """Returns the same for all switches whose Thrift server is known; the engine's switches have and need
    none."""
    return {
        name: of
        for name, switch in topology.switches.items()
        if name in targets and targets[name].thrift is not None and (of := of_switch(config, switch))
    }


async def set_all(queues: Queues, targets: Mapping[str, Target]) -> dict[str, str]:
    """Sets them. Returns switch -> why, for those that failed."""

    async def one(name: str) -> str:
        try:
            await thrift.set_queues(name, targets[name], queues[name])
        except FabricError as error:
            return str(error)
        return ""

    failures = await asyncio.gather(*(one(name) for name in queues))
    return {name: why for name, why in zip(queues, failures, strict=True) if why}
