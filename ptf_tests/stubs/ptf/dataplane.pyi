import socket
from collections.abc import Mapping

class DataPlanePacketSourceIface:
    def fileno(self) -> int: ...
    # Device, port, frame, and seconds at which it came.
    def recv(self) -> tuple[int, int, bytes, float]: ...

class DataPlanePortIface:
    def get_packet_source(self) -> DataPlanePacketSourceIface: ...
    def send(self, packet: bytes) -> int: ...

class DataPlanePortLinux(DataPlanePortIface, DataPlanePacketSourceIface):
    socket: socket.socket
    def __init__(
        self, interface_name: str, device_number: int, port_number: int, config: Mapping[str, object]
    ) -> None: ...

class DataPlane:
    class PollResult: ...

    class PollSuccess(PollResult):
        port: int
        packet: bytes
        time: float

    class PollFailure(PollResult): ...

    def flush(self) -> None: ...
    def poll(
        self, device_number: int = 0, port_number: int | None = None, timeout: float = -1
    ) -> PollResult: ...
