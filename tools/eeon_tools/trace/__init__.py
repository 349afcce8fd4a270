"""Traces: what the hosts of a fabric send, packet by packet, with the time at which each one starts to leave
its host.

    mapreduce, coflow    who fetches how much from whom, and when          (workloads)
    segments             what TCP makes of it: segments and their times    (docs/models/shuffle.md)
    frames               the bytes of a segment; packet classes
    capture              pcap and pcapng files, written and read with scapy
    manifest             the JSON beside a trace: hosts, settings, counts
    generate             the pipeline through all of these
    info                 what a capture holds, whichever tool made it

Read `segments` first.
"""
