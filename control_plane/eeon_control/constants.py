"""Numbers that the P4 program fixes: packet classes, verdicts, ports."""

from __future__ import annotations

CLASSES: tuple[str, ...] = ("data", "ack", "ack_ece", "syn", "syn_ack", "fin_rst", "other")
VERDICTS: tuple[str, ...] = ("forwarded", "marked", "early_dropped", "tail_dropped", "no_route",
                             "ttl_expired", "to_cpu", "malformed")
DATA_PORT_MAX = 509
