"""Traces: the packets that the hosts of a fabric send, with the time at which each one starts to leave its
host.

    mapreduce, coflow    the transfers between hosts and their times: applications of the engine
    senders              hosts with the engine's TCP that run them         (docs/models/shuffle.md)
    layers               the headers of a frame, and its packet class
    frames               names, numbers and the checksum of frames
    capture              pcap and pcapng files (`savefiles` has the formats); `capture_writer` writes them
    manifest             the JSON beside a trace: hosts, settings, counts
    generate             the pipeline through all of these
    info                 the contents of a capture, whichever tool made it

Read `senders` first.
"""
