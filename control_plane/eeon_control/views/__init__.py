"""The views of `eeon show`, one per file, as rows of plain values. Pure: readings in, rows out."""

from eeon_control.views import counters, ecn, eee, energy, fabric, pfc, ports, qcn, queues

KINDS = tuple(one.VIEW for one in (counters, ecn, eee, energy, fabric, pfc, ports, qcn, queues))
"""The views from which `eeon show` makes commands. `routes`, `path` and `top` have their own commands."""
