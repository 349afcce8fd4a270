"""Replays: a trace goes through the twin of a configured fabric, and what happened is read back.

    spec       topology + configuration -> the fabric that the engine builds
    twin       a running twin with every switch served over P4Runtime, configured by the controller
    feed       a trace, frame by frame, as the fabric's hosts send it
    session    one replay from beginning to end
    result     what a replay says; `accounts` checks that no packet is missing from it
    table      results as tables in a terminal
    html       results as a page; `plots` draws them

Read `session` first.
"""
