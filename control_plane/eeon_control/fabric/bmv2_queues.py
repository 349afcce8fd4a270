"""BMv2's own queues, as the configuration's `target_settings.bmv2` says: set over Thrift, never read back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from eeon_control.config import FabricConfig
from eeon_control.errors import FabricError
from eeon_control.fabric import thrift_door
from eeon_control.fabric.targets import Target, resolve
from eeon_control.fabric.thrift_client import QueueSettings
from eeon_control.topology import Switch, Topology


def of_switch(config: FabricConfig, switch: Switch) -> dict[int, QueueSettings]:
    """Port -> what is to be set; empty where the configuration says nothing."""
    found = {port.number: config.bmv2_queue(port) for port in switch.ports}
    return {
        number: QueueSettings(values.depth_packets, values.packets_per_second)
        for number, values in found.items()
        if values is not None
    }


async def set_all(
    topology: Topology, config: FabricConfig, targets: Mapping[str, str | Target]
) -> dict[str, str]:
    """Set the queues of every switch that the configuration names. Returns switch -> why not, of the rest."""
    resolved = resolve(topology, targets)

    async def one(name: str, settings: dict[int, QueueSettings]) -> str | None:
        try:
            await thrift_door.set_queues(name, resolved[name], settings)
        except FabricError as error:
            return str(error)
        return None

    wanted = {name: of_switch(config, switch) for name, switch in topology.switches.items()}
    asked = {name: settings for name, settings in wanted.items() if settings}
    results = await asyncio.gather(*(one(name, settings) for name, settings in asked.items()))
    return {name: why for name, why in zip(asked, results, strict=True) if why is not None}
