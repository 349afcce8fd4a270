"""Ports of the switch under test, and the program's numbers. Also imported without ptf (run/)."""

import json

from ptf_tests.lib.compiled import COMPILED

NUMBERS: dict[str, dict[str, int]] = json.loads((COMPILED / "constants.json").read_text(encoding="utf-8"))
"""The program's numbers in constants.json, which its compilation writes."""

DATA_PORTS = tuple(range(1, 9))
"""The ports to which PTF is connected."""

PRIORITIES = NUMBERS["constants"]["QUEUE_CELLS"] // NUMBERS["constants"]["PORT_CELLS"]
"""Number of queues of a port. Every target is started with all of them."""

COPY_PORT = NUMBERS["constants"]["COPY_PORT"]
"""The switch's own port, for frames that it generates itself; not a data port."""

CPU_PORT = NUMBERS["constants"]["CPU_PORT"]
"""The controller's port."""
DROP_PORT = NUMBERS["constants"]["DROP_PORT"]
"""BMv2's default for --drop-port."""
WIRE_OVERHEAD_BYTES = 24
"""Preamble and SFD 8, FCS 4, inter-frame gap 12 (IEEE 802.3): bytes that a frame takes on the wire beyond its
own."""
BYTE_NS = 8
"""Transmit time of one byte at 1 Gbit/s."""
ROUND_NS = 1_000
"""Time from a recirculated packet's egress to its next ingress on the engine, nanoseconds (its default)."""
TICK_VALUES = 1 << NUMBERS["type_bits"]["tick_t"]
"""Timestamps count modulo this."""
