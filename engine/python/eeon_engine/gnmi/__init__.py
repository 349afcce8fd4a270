"""gNMI 0.8 for the engine's switches, beside P4Runtime on the same socket: ports and queues as OpenConfig has
them, read-only. docs/run/gnmi.md is its reference.

calls          gRPC: threads, who waits where and how long, how many subscriptions there are
service        Capabilities, Get, Set; what a request may ask for
subscribing    Subscribe: ONCE, POLL and STREAM
model          the leaves that there are, and how they are read from a switch
paths          paths of requests against the model
encoding       values and subtrees as PROTO, JSON and JSON_IETF

Nothing here keeps what the switch has. Reads ask the engine port by port and never pause it.
"""
