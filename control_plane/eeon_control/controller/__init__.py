"""`eeon controller run`: keeps every switch of a fabric as its state folder says.

`machine` decides what to do about one switch, as a pure state machine.
"""

from eeon_control.controller.machine import State, SwitchMachine, Timing

__all__ = ["State", "SwitchMachine", "Timing"]
