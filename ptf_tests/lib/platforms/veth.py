"""PTF platform `veth`: ports are network interfaces, as in ptf's platform `eth`, and lose nothing in a burst.

ptf's socket keeps the system's default receive buffer, which holds fewer than a hundred full frames. A burst
that the switch hands on faster than ptf's thread reads it would lose some, and the case would blame the
switch.
"""

from __future__ import annotations

import socket
from typing import TypedDict

from ptf.dataplane import DataPlanePortLinux

_BUFFER_BYTES = 64 << 20
_SO_RCVBUFFORCE = 33
"""From Linux' asm-generic/socket.h: SO_RCVBUF beyond net.core.rmem_max, for root."""


class BufferedPort(DataPlanePortLinux):
    """An interface with a receive buffer for the longest burst of any case."""

    def __init__(self, interface: str, device: int, port: int, config: dict[str, object]) -> None:
        super().__init__(interface, device, port, config)
        self.socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)


class _Config(TypedDict):
    """ptf's configuration, as far as a platform has to do with it."""

    interfaces: list[tuple[int, int, str]]
    dataplane: dict[str, type[BufferedPort]]
    port_map: dict[tuple[int, int], str]


def platform_config_update(config: _Config) -> None:
    """Tells ptf which ports there are and of what class."""
    config["dataplane"] = {"portclass": BufferedPort}
    config["port_map"] = {(device, port): interface for device, port, interface in config["interfaces"]}
