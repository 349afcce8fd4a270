"""The server: a listening socket, one thread per client, and the handlers of one switch.

with serve(switch) as server:
    print(server.address)
"""

import contextlib
import itertools
import logging
import socket
import threading
from collections.abc import Collection

from .._engine import SwitchHandle
from ..exceptions import ConfigError
from .cells import CellCalls
from .connection import Connection
from .dispatch import Dispatcher
from .names import Context
from .pre import PreCalls
from .simple_switch import SimpleSwitchCalls
from .tables import TableCalls
from .whole import WholeCalls

_LOG = logging.getLogger(__name__)

DEFAULT_ADDRESS = "127.0.0.1:9090"
"""BMv2's port, but only on loopback."""

MAX_CONNECTIONS = 64
_POLL_SECONDS = 0.5


def dispatcher(control: SwitchHandle, port: int, interfaces: Collection[str] = ()) -> Dispatcher:
    """Returns the dispatcher of a server on `port`; clients may add these interfaces as ports."""
    context = Context(control)
    own: dict[str, list[object]] = {
        "standard": [TableCalls(context), CellCalls(context), WholeCalls(context, port, interfaces)],
        "simple_pre_lag": [PreCalls(context)],
        "simple_switch": [SimpleSwitchCalls(context)],
    }
    return Dispatcher(control, own)


class Server:
    """A running Thrift server, made by `serve`."""

    def __init__(self, control: SwitchHandle, address: str, interfaces: Collection[str] = ()) -> None:
        self._listener = _listen(address)
        host, port = self._listener.getsockname()[:2]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        """The address for clients: host and bound port."""
        self._dispatcher = dispatcher(control, port, interfaces)
        self._stopping = threading.Event()
        self._long_calls = threading.Lock()
        self._guard = threading.Lock()
        self._connections: dict[Connection, threading.Thread] = {}
        self._ending: dict[Connection, threading.Thread] = {}
        # Not daemons: a daemon in the engine's code at interpreter exit aborts the process.
        self._acceptor = threading.Thread(target=self._accept, name="thrift-accept")
        self._acceptor.start()

    def stop(self) -> None:
        """Closes all connections. The switch keeps its state. May be called again."""
        self._stopping.set()
        # Wakes the acceptor if the system allows it; otherwise the acceptor soon checks by itself.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join()
        self._listener.close()
        with self._guard:
            connections = self._connections | self._ending
        for connection in connections:
            connection.close()
        for thread in connections.values():
            thread.join()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _is_stopping(self) -> bool:
        return self._stopping.is_set() or not threading.main_thread().is_alive()

    def _accept(self) -> None:
        numbers = itertools.count(1)
        while not self._is_stopping():
            try:
                peer, address = self._listener.accept()
            except TimeoutError:
                continue
            except OSError as error:
                if not self._is_stopping():
                    _LOG.warning("cannot accept a connection: %s", error)
                    self._stopping.wait(_POLL_SECONDS)
                continue
            self._make_room()
            with self._guard:
                self._begin(peer, f"Thrift client {next(numbers)} ({address[0]}:{address[1]})")

    def _make_room(self) -> None:
        """Disconnects the client that has been idle for the longest time, if all places are taken."""
        with self._guard:
            if len(self._connections) < MAX_CONNECTIONS:
                return
            quietest = min(self._connections, key=lambda connection: connection.quiet_since)
            # Its thread ends by itself; it no longer counts as a client.
            self._ending[quietest] = self._connections.pop(quietest)
        _LOG.warning("%d Thrift clients are connected, the limit; closing the quietest", MAX_CONNECTIONS)
        quietest.close()

    def _begin(self, peer: socket.socket, name: str) -> None:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection = Connection(peer, name, self._dispatcher, self._long_calls, self._is_stopping)
        thread = threading.Thread(target=self._run, args=(connection,), name=name)
        self._connections[connection] = thread
        try:
            thread.start()
        except RuntimeError as error:
            _LOG.warning("%s: %s; refused", name, error)
            del self._connections[connection]
            connection.close()

    def _run(self, connection: Connection) -> None:
        try:
            connection.run()
        finally:
            with self._guard:
                self._connections.pop(connection, None)
                self._ending.pop(connection, None)


def serve(switch: SwitchHandle, address: str = DEFAULT_ADDRESS, interfaces: Collection[str] = ()) -> Server:
    """Serves BMv2's Thrift interface for one switch: a `Switch`, or `Twin.switch(name)`.

    Port 0 selects a free port; see `Server.address`. The server has neither authentication nor encryption:
    keep it on loopback. Clients may add only the network interfaces in `interfaces` as ports of the switch,
    because they get them with the rights of the switch's user.

    Raises `ConfigError` if the address cannot be bound.
    """
    return Server(switch, address, interfaces)


def _listen(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    # Without a host, Python would listen on every address of the computer.
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or len(port) > 5 or int(port) > 0xFFFF:
        raise ConfigError(f"address '{address}' is not host:port, such as {DEFAULT_ADDRESS}")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, int(port)), family=family, backlog=16)
    except OSError as error:
        raise ConfigError(
            f"address '{address}': cannot listen there ({error}); is another switch using it?"
        ) from error
    listener.settimeout(_POLL_SECONDS)
    return listener
