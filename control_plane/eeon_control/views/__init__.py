"""What `eeon show` shows, one view a file, as rows of plain values. Pure: readings in, rows out."""

from eeon_control.views import counters, ecn, eee, energy, fabric, pfc, ports, qcn, queues

KINDS = tuple(one.VIEW for one in (counters, ecn, eee, energy, fabric, pfc, ports, qcn, queues))
"""The views that `eeon show` makes its commands of. `routes`, `path` and `top` have commands of their own."""
