"""P4Runtime 1.5 for the engine's switches. `serve` is the interface, `write` does without a server; the
modules beside them are its parts.

server, service, tls, outbox    sockets, RPCs
device              one switch: lock, clients, pipeline, state
calls, rooms        who waits where, how long, and who makes way
access              rights of clients by their certificates
arbitration, roles  who may write, and what
pipeline, compilation    P4Info and program belong together
batch               atomicity: what to do when an update of a batch is refused
chunks, reading     answers in parts, limits
forwarding          which part an entity belongs to
reconcile           state brought over from one program to another
tables, action_profiles, counters, meters, registers, value_sets, pre    entities
digests, packet_io  what the data plane sends
messages            P4Runtime's messages
p4info, schema      what a P4Info says, by id
translate, data_types, bytestrings      messages from and to the engine's values
errors              statuses, and how they reach a client
offline             entries without a server

No module keeps what the switch has: it is read from the engine, which Thrift changes as well. Externs are not
supported, and refused by name. docs/conformance-p4runtime.md goes through the specification.
"""

from .access import Access
from .offline import write
from .server import MAX_MESSAGE_BYTES, Server, serve
from .tls import Tls

__all__ = ["MAX_MESSAGE_BYTES", "Access", "Server", "Tls", "serve", "write"]
