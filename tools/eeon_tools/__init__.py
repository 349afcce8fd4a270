"""Traces of what the hosts of a Hadoop cluster send, and their replay through a fabric of P4 switches.

`trace` makes, reads and describes traces; `replay` runs one through a twin of a fabric and measures; `demo`
compares twelve configurations on one trace; `cli` is the thin edge that `eeon` calls. Nothing here decides
how a switch behaves (that is the P4 program) or how it is configured (that is `eeon_control`).
"""
