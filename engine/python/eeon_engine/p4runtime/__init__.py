"""P4Runtime 1.5 for the engine's switches. `serve` is the interface, `write` does without a server; the
modules beside them are its parts.

server/     gRPC: sockets, TLS, threads; who waits where, how long, and who makes way; one method a call
clients/    who may do what: rights by certificate, roles, arbitration; what is queued for a client
device      one switch: lock, clients, pipeline, state
batch, reading, reconcile    what several entities are done with: atomicity, answers in parts, another program
entities/   each kind of entity, and what they share: keys, actions, parts of an answer
packet_io   packets from and to clients
program/    what a program declares, by id; whether its P4Info and its BMv2 JSON belong together
messages, errors, bytestrings    P4Runtime's messages, statuses and numbers
offline     entries without a server

No module keeps what the switch has: it is read from the engine, which Thrift changes as well. Externs are not
supported, and refused by name. docs/develop/conformance.md goes through the specification.
"""

from .clients.access import Access
from .offline import Writer, write
from .server.server import MAX_MESSAGE_BYTES, Server, serve
from .server.tls import Tls

__all__ = ["MAX_MESSAGE_BYTES", "Access", "Server", "Tls", "Writer", "serve", "write"]
