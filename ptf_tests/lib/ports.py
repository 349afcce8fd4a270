"""Ports of the switch under test, and the program's numbers. Imported also where ptf is not (run/)."""

import json

from ptf_tests.lib.compiled import COMPILED

NUMBERS: dict[str, dict[str, int]] = json.loads((COMPILED / "constants.json").read_text(encoding="utf-8"))
"""What compiling the program wrote down for other languages."""

DATA_PORTS = tuple(range(1, 9))
"""Ports that PTF is wired to."""

PRIORITIES = NUMBERS["constants"]["QUEUE_CELLS"] // NUMBERS["constants"]["PORT_CELLS"]
"""Queues of a port. Every target is started with all of them."""

COPY_PORT = NUMBERS["constants"]["COPY_PORT"]
"""The switch's own port, for frames that it makes itself: no data port."""

CPU_PORT = NUMBERS["constants"]["CPU_PORT"]
"""The controller's port."""
DROP_PORT = NUMBERS["constants"]["DROP_PORT"]
"""BMv2's default for --drop-port."""
TICK_VALUES = 1 << NUMBERS["type_bits"]["tick_t"]
"""Timestamps count modulo this."""
