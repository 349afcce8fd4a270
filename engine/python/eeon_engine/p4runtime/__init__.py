"""P4Runtime 1.5 for the engine's switches. `serve` starts a server, `write` works without one; the other
modules are their parts.

server/     gRPC: sockets, TLS, threads, limits on waiting calls; one method per call
clients/    access: rights by certificate, roles, arbitration; queues of messages to clients
device      one switch: lock, clients, pipeline, state
batch, reading, reconcile    operations on several entities: atomicity, partial responses, a new program
entities/   each kind of entity, and shared parts: keys, actions, chunks of a response
packet_io   packets from and to clients
program/    a program's declarations, by id; checks whether P4Info and BMv2 JSON match
messages, errors, bytestrings    P4Runtime's messages, statuses and numbers
offline     writes entries without a server

No module stores the switch's state: it is read from the engine, which Thrift also changes. Externs are not
supported, and are refused by name. docs/develop/conformance.md covers the specification.
"""

from .clients.access import Access
from .offline import Writer, write
from .server.server import MAX_MESSAGE_BYTES, Server, serve
from .server.tls import Tls

__all__ = ["MAX_MESSAGE_BYTES", "Access", "Server", "Tls", "Writer", "serve", "write"]
