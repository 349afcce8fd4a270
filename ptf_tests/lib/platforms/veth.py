"""PTF platform `veth`: ports are network interfaces, as in ptf's platform `eth`, but without losses in a
burst.

ptf's socket has the system's default receive buffer, which holds fewer than a hundred full frames. If the
switch forwards a burst faster than ptf's thread reads it, frames are lost, and the case blames it.
"""

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
    """The part of ptf's configuration that a platform uses."""

    interfaces: list[tuple[int, int, str]]
    dataplane: dict[str, type[BufferedPort]]
    port_map: dict[tuple[int, int], str]


def platform_config_update(config: _Config) -> None:
    """Sets the ports and their class in ptf's configuration."""
    config["dataplane"] = {"portclass": BufferedPort}
    config["port_map"] = {(device, port): interface for device, port, interface in config["interfaces"]}
