"""The interface: services, methods and types, read from the .thrift files beside this one at import.

Not the meaning of any method: that is in the modules of calls.
"""

from pathlib import Path
from typing import Any

import thriftpy2

_FOLDER = Path(__file__).parent


def _load(name: str) -> Any:
    # The module's name must end in _thrift; it is where pickle and repr find the types.
    return thriftpy2.load(str(_FOLDER / f"{name}.thrift"), module_name=f"eeon_{name}_thrift")


standard = _load("standard")
simple_pre_lag = _load("simple_pre_lag")
simple_switch = _load("simple_switch")

SERVICES: dict[str, Any] = {
    "standard": standard.Standard,
    "simple_pre_lag": simple_pre_lag.SimplePreLAG,
    "simple_switch": simple_switch.SimpleSwitch,
}
"""Services by the name that a multiplexed call carries."""


def signed(value: int, bits: int) -> int:
    """The number that Thrift's signed type of this size carries for an unsigned one."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def unsigned(value: int, bits: int) -> int:
    """The unsigned number that a signed one of Thrift carries."""
    return value & ((1 << bits) - 1)
