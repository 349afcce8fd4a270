"""Replays: a trace is sent through a configured fabric, and the measured results are read back. The fabric is
a twin in virtual time or a live one in real time.

    spec       topology + configuration -> the fabric that the engine builds
    twin       a running twin with every switch served over P4Runtime, configured by the controller
    faults     links and switches that fail in a twin
    pauses     transmitters that were paused by their neighbours
    flows      the bytes of a trace's connections, as the list of an experiment
    feed       a trace, frame by frame, as the fabric's hosts send it
    twin_run   one replay on a twin, from beginning to end
    live       one replay on a live fabric; `live_result`: its result
    result     the result of a replay; `packet_counts` checks that no packet is missing from it
    table      results as tables, in a terminal and on a page
    page       results as a page; `plots` draws them

Read `twin_run` first.
"""
