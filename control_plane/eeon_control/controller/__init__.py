"""`eeon controller run`: keeps every switch of a fabric at the state folder's revision, and exports metrics.

`machine` decides about one switch, as a pure state machine; `link` carries out its actions on a P4Runtime
session; `supervisor` has one link per switch, watches the state folder, finishes the work of killed commands,
and shares the switches with a standby; `metrics` answers Prometheus. docs/run/controller.md has diagrams.
"""

from eeon_control.controller.machine import State, Timing
from eeon_control.controller.supervisor import Options, Supervisor

__all__ = ["Options", "State", "Supervisor", "Timing"]
