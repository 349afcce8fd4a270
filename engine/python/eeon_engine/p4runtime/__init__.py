"""P4Runtime 1.5 for the engine's switches. `serve` is the whole interface; the modules beside it are its
parts.

server, service     sockets, threads, RPCs
device              one switch: lock, clients, pipeline, state
arbitration         who may write
pipeline            P4Info and program belong together
batch, journal      atomicity: what to do when an update of a batch is refused
forwarding          which part an entity belongs to
tables, action_profiles, counters, registers, pre, packet_io
schema, translate, bytestrings      P4Info ids and messages from and to the engine's names and values
errors              statuses, and how they reach a client

Not supported, and refused by name: meters, digests, value sets, externs, idle time-outs, role configurations.
"""

from .server import Server, serve

__all__ = ["Server", "serve"]
