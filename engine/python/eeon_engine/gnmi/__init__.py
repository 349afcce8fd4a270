"""gNMI 0.8 for the engine's switches, on P4Runtime's socket: ports and queues in OpenConfig's models,
read-only. docs/run/gnmi.md is its reference.

calls          gRPC: threads, limits on waiting calls and on subscriptions
service        Capabilities, Get, Set; checks of requests
subscribing    Subscribe: ONCE, POLL and STREAM
model          the supported leaves, and how they are read from a switch
paths          resolution of requested paths in the model
encoding       values and subtrees as PROTO, JSON and JSON_IETF

These modules store no state of the switch. Reads query the engine port by port and never pause it.
"""
