"""Fuzz targets for the two Python servers of a switch: P4Runtime and Thrift.

A target is a function of bytes that raises an exception if a condition is violated. `targets.TARGETS` lists
them, and `CONTRIBUTING.md` describes their conditions. Only `python -m server_fuzz fuzz` needs a fuzzer.
"""
