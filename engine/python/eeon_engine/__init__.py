"""The E-EON switch engine: BMv2 programs in virtual time, with BMv2's semantics and exact clocks.

`Program` is a compiled P4 program, `Switch` one switch that runs it, `Twin` a fabric of switches, links and
hosts. `eeon_engine.p4runtime.serve` gives any of their switches a P4Runtime server. `Traffic` sends frames to
switches in real time.

`LiveSwitch` and `Traffic` work with the ports of Linux. On another system the package is without them.
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
