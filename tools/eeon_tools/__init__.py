"""Traces of the frames of a Hadoop cluster's hosts, and their replay through a fabric of P4 switches.

`trace` makes, reads and describes traces; `replay` runs one through a fabric and measures; `demo` compares
twelve configurations on one trace; `cli` is the thin layer of `eeon` commands. No code here decides how a
switch behaves (the P4 program does) or how it is configured (`eeon_control` does).
"""
