"""Ports of the switch under test. Imported also where ptf is not (run/), so it imports nothing."""

DATA_PORTS = tuple(range(1, 9))
"""Ports that PTF is wired to."""

CPU_PORT = 510
"""The controller's port (p4src/include/types.p4; checked against the program by tests/interface.py)."""
