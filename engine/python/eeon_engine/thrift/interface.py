"""The interface: services, methods and types, loaded from the .thrift files in this folder at import.

The modules of calls implement the methods.
"""

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, Protocol

import thriftpy2
from thriftpy2.thrift import TType

__all__ = ["SERVICES", "Service", "signed", "simple_pre_lag", "simple_switch", "standard", "unsigned", "zero"]

_FOLDER = Path(__file__).parent


def _load(name: str) -> ModuleType:
    # The module's name must end in _thrift; pickle and repr find the types there.
    return thriftpy2.load(str(_FOLDER / f"{name}.thrift"), module_name=f"eeon_{name}_thrift")


if TYPE_CHECKING:
    # Generated from the same files by `make setup`.
    from . import simple_pre_lag_types as simple_pre_lag
    from . import simple_switch_types as simple_switch
    from . import standard_types as standard
else:
    standard = _load("standard")
    simple_pre_lag = _load("simple_pre_lag")
    simple_switch = _load("simple_switch")


class Service(Protocol):
    """A service. It also has the structs `NAME_args` and `NAME_result` of each method."""

    thrift_services: ClassVar[list[str]]
    """Names of its methods."""


SERVICES: dict[str, type[Service]] = {
    "standard": standard.Standard,
    "simple_pre_lag": simple_pre_lag.SimplePreLAG,
    "simple_switch": simple_switch.SimpleSwitch,
}
"""Services by their name in a multiplexed call."""

_EMPTY: dict[int, object] = {TType.BOOL: False, TType.DOUBLE: 0.0, TType.STRING: "", TType.BINARY: b""}
"""Values that were not sent, except of integers."""


def zero(field: tuple[int, str, object, *tuple[object, ...]]) -> object:
    """Returns the value that Thrift's C++ servers use for a field that was not sent."""
    kind = field[0]
    if kind == TType.STRUCT and isinstance(field[2], type):
        return field[2]()
    return [] if kind == TType.LIST else _EMPTY.get(kind, 0)


def signed(value: int, bits: int) -> int:
    """Converts an unsigned number to Thrift's signed type of this size."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def unsigned(value: int, bits: int) -> int:
    """Converts a signed number of Thrift to the unsigned one."""
    return value & ((1 << bits) - 1)
