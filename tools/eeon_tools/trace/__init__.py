"""Traces: what the hosts of a fabric send, packet by packet, with the time at which each one starts to leave
its host.

    mapreduce, coflow    who sends how much to whom, and when: applications of the engine
    senders              hosts with the engine's TCP that run them         (docs/models/shuffle.md)
    frames               the bytes of a segment; packet classes
    capture              pcap and pcapng files, written and read with scapy
    manifest             the JSON beside a trace: hosts, settings, counts
    generate             the pipeline through all of these
    info                 what a capture holds, whichever tool made it

Read `senders` first.
"""
