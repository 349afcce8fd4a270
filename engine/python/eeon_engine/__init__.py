"""The E-EON switch engine: runs BMv2 programs in virtual time, with BMv2's semantics and exact clocks.

`Program` is a compiled P4 program, `Switch` a switch that runs it, and `Twin` a fabric of switches, links and
hosts. `eeon_engine.p4runtime.serve` starts a P4Runtime server for any of their switches. `Traffic` sends
frames to switches in real time.

`LiveSwitch` and `Traffic` use the network interfaces of Linux. The package for other systems lacks them.
"""

import sys

from ._engine import SOURCE_DIGEST, TCP_NAMES, Port, Program, Switch, SwitchHandle, Twin, run_fluid
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
    "NoSuchHandleError",
    "NoSuchObjectError",
    "OutOfRangeError",
    "Port",
    "Program",
    "ProgramError",
    "SOURCE_DIGEST",
    "Switch",
    "SwitchHandle",
    "TCP_NAMES",
    "Twin",
    "run_fluid",
]

if sys.platform == "linux":
    from ._engine import LiveSwitch, Traffic

    __all__ += ["LiveSwitch", "Traffic"]
