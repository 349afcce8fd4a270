"""A P4Runtime server for one switch: sockets and threads.

with serve(switch) as server:
    print(server.address)
"""

import contextlib
import logging
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc

from ..._engine import SwitchHandle
from ...exceptions import ConfigError, EngineError
from ...gnmi.calls import Calls as GnmiCalls
from ..clients.access import Access
from ..device import Device
from ..messages import p4i
from ..program.pipeline import Pipeline
from .calls import Calls
from .service import Service
from .tls import Tls

MAX_MESSAGE_BYTES = 8 << 20
"""Maximum length of a client's message: many times the size of E-EON's program. Every stream, and every call
that is being received, may have one message in memory."""
_MAX_METADATA_BYTES = 16 << 10
_MAX_CONNECTIONS = 1024
_PACKET_IN_POLL_MS = 50
_SWEEP_PERIOD_S = 0.1
# Maximum delay of digest lists and idle notifications; the specification's own example uses the same period.
_NOTICE_PERIOD_S = 0.01
# Maximum delay of a stop while no notifications are possible.
_NOTICE_IDLE_S = 0.25
_LOG = logging.getLogger(__name__)


class Server:
    """A running P4Runtime server, made by `serve`."""

    def __init__(
        self,
        control: SwitchHandle,
        device: Device,
        address: str,
        tls: Tls | None = None,
        access: Access | None = None,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
    ) -> None:
        self._control = control
        self._device = device
        self._stopping = threading.Event()
        self._grpc = grpc.server(
            # Only calls of `Calls` are served, which have separate threads.
            ThreadPoolExecutor(max_workers=1, thread_name_prefix="p4runtime"),
            options=_options(max_message_bytes),
        )
        service = Service(device, access)
        self._calls = Calls(service, max_message_bytes)
        self._gnmi_calls = GnmiCalls(control, service)
        self._grpc.add_generic_rpc_handlers((self._calls.handler(), self._gnmi_calls.handler()))
        self._rooms = [*self._calls.rooms, *self._gnmi_calls.rooms]
        self.address = _bind(self._grpc, address, tls)
        """The address for clients: host and bound port."""
        self._grpc.start()
        # Not daemons: a daemon in the engine's code at interpreter exit aborts the process.
        self._threads = [
            threading.Thread(target=work, name=f"p4runtime-{name}")
            for name, work in (
                ("packet-in", self._forward_packets),
                ("notices", self._notify),
                ("deadlines", self._sweep_rooms),
            )
        ]
        for thread in self._threads:
            thread.start()

    def stop(self, grace_seconds: float = 0.5) -> None:
        """Ends all calls, after at most `grace_seconds`. The switch keeps its state. May be called again."""
        self._stopping.set()
        self._device.noticing.set()
        # grpcio waits forever for a stream that received bytes that are not a message; the stream's threads
        # are idle.
        self._grpc.stop(grace_seconds).wait(grace_seconds + 1)
        self._calls.stop()
        self._gnmi_calls.stop()
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _forward_packets(self) -> None:
        while self._is_wanted():
            for packet in self._control.take_packets_in(_PACKET_IN_POLL_MS):
                self._device.packet_in(packet)

    def _notify(self) -> None:
        while self._is_wanted():
            if not self._device.noticing.wait(_NOTICE_IDLE_S) or self._stopping.wait(_NOTICE_PERIOD_S):
                continue
            try:
                self._device.notify(time.monotonic_ns(), time.time_ns())
            except EngineError:
                # The switch is replacing its program; due notifications stay due.
                _LOG.debug("digests and idle time-outs were not checked", exc_info=True)

    def _sweep_rooms(self) -> None:
        while self._is_wanted() and not self._stopping.wait(_SWEEP_PERIOD_S):
            for room in self._rooms:
                room.sweep()

    def _is_wanted(self) -> bool:
        return not self._stopping.is_set() and threading.main_thread().is_alive()


def _bind(server: grpc.Server, address: str, tls: Tls | None) -> str:
    """Opens the server's socket. Returns the address for clients, with the number of the port."""
    is_unix = address.startswith("unix:")
    # Only this user may open a Unix socket, from the moment it exists.
    umask = os.umask(0o177) if is_unix else None
    port = 0
    try:
        if not _is_usable(address):
            pass
        elif tls is None:
            port = server.add_insecure_port(address)
        else:
            port = server.add_secure_port(address, tls.credentials())
    except RuntimeError:
        pass  # gRPC's message has no reason, and earlier versions return 0
    finally:
        if umask is not None:
            os.umask(umask)
    if port == 0:
        files = "" if tls is None else ", and a certificate and a key that belong together"
        raise ConfigError(
            f"address '{address}': cannot listen there; give an address HOST:PORT or unix:PATH of this "
            f"computer that no other program uses{files}"
        )
    if is_unix:
        # The umask above set the mode; this also sets it for a socket that already existed.
        Path(address.removeprefix("unix:")).chmod(0o600)
        return address
    return f"{address.rpartition(':')[0]}:{port}"


def _is_usable(address: str) -> bool:
    """Returns whether an address has a valid port, or a path where no program listens. gRPC would listen on
    port 443 without a port, cut other numbers to 16 bits, and take a Unix socket from another program."""
    if address.startswith("unix:"):
        with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
            probe.connect(address.removeprefix("unix:"))
            return False
        return address != "unix:"
    number = address.rpartition(":")[2]
    return ":" in address and number.isdecimal() and len(number) <= 5 and int(number) <= 0xFFFF


def _options(max_message_bytes: int) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", max_message_bytes),
        # Accepted objects must be readable.
        ("grpc.max_send_message_length", 2 * max_message_bytes),
        ("grpc.max_metadata_size", _MAX_METADATA_BYTES),
        ("grpc.absolute_max_metadata_size", _MAX_METADATA_BYTES),
        ("grpc.so_reuseport", 0),
        ("grpc.max_concurrent_streams", 128),
        ("grpc.max_allowed_incoming_connections", _MAX_CONNECTIONS),
        # Connections without a handshake, or without calls.
        ("grpc.server_handshake_timeout_ms", 10_000),
        ("grpc.max_connection_idle_ms", 60_000),
        # Clients whose computer has disappeared.
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 20_000),
    ]


def serve(
    switch: SwitchHandle,
    p4info: p4i.P4Info | str | bytes | None = None,
    address: str = "127.0.0.1:0",
    tls: Tls | None = None,
    access: Access | None = None,
    max_message_bytes: int = MAX_MESSAGE_BYTES,
) -> Server:
    """Serves P4Runtime for one switch: a `Switch`, or `Twin.switch(name)`.

    Without `p4info` the switch waits for a client to push a pipeline, whatever program it runs until then.
    With `p4info` (a `P4Info` message, or its text format) the switch's own program is the pipeline from the
    start. Port 0 selects a free port; see `Server.address`. Clients also see changes made over Thrift or
    through the switch itself. Without `tls` the server has no authentication and no encryption: keep it on
    loopback, or on a Unix socket (`unix:PATH`), which only this user can open. With `access`, which needs the
    certificates of mutual TLS, each client has the rights defined there; otherwise it has all rights.

    Raises `ConfigError` if the address cannot be bound, if the P4Info does not match the program, or if gRPC
    cannot use the certificates.
    """
    pipeline = None
    if p4info is not None:
        if switch.program is None:
            raise ConfigError(
                "p4info was given, but the switch has no program; load one, or let a client push both"
            )
        pipeline = Pipeline.of_program(switch.program, p4info)
    if access is not None and (tls is None or tls.client_ca is None):
        raise ConfigError("client rights need mutual TLS: give tls with client_ca")
    return Server(switch, Device(switch, pipeline), address, tls, access, max_message_bytes)
