"""The E-EON switch engine: BMv2 programs in virtual time, with BMv2's semantics and exact clocks.

`Program` is a compiled P4 program, `Switch` one switch that runs it, `Twin` a fabric of switches, links and
hosts. `eeon_engine.p4runtime.serve` gives any of their switches a P4Runtime server. `Traffic` sends frames to
switches in real time.
"""

from ._engine import SOURCE_DIGEST, LiveSwitch, Port, Program, Switch, SwitchHandle, Traffic, Twin
from .exceptions import (
    ClockError,
    ConfigError,
    ControlError,
    DuplicateError,
    EngineError,
    FullError,
    ImmutableError,
    InUseError,
    InvalidValueError,
    NoSuchHandleError,
    NoSuchObjectError,
    OutOfRangeError,
    ProgramError,
)

__all__ = [
    "ClockError",
    "ConfigError",
    "ControlError",
    "DuplicateError",
    "EngineError",
    "FullError",
    "ImmutableError",
    "InUseError",
    "InvalidValueError",
    "LiveSwitch",
    "NoSuchHandleError",
    "NoSuchObjectError",
    "OutOfRangeError",
    "Port",
    "Program",
    "ProgramError",
    "SOURCE_DIGEST",
    "Switch",
    "SwitchHandle",
    "Traffic",
    "Twin",
]
