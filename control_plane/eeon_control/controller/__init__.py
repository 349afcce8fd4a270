"""`eeon controller run`: keeps every switch of a fabric as its state folder says, and exports metrics.

`machine` decides what to do about one switch, as a pure state machine; `link` carries it out on a P4Runtime
session; `supervisor` has one link a switch, watches the state folder, finishes what a killed command left,
and shares the switches with a standby; `metrics` answers Prometheus. docs/run/controller.md has the pictures.
"""

from eeon_control.controller.machine import State, SwitchMachine, Timing
from eeon_control.controller.supervisor import Options, Supervisor

__all__ = ["Options", "State", "Supervisor", "SwitchMachine", "Timing"]
