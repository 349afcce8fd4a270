"""Fuzz targets for the two servers of a switch that are Python over the engine: P4Runtime and Thrift.

A target is a function of bytes that raises when something does not hold; `targets.TARGETS` names them, and
`CONTRIBUTING.md` says what each one checks. Nothing here needs a fuzzer but `python -m server_fuzz fuzz`.
"""
