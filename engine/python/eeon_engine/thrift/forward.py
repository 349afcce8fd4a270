"""Calls that the engine has under the same name: their arguments and results are converted by their types."""

from collections.abc import Callable, Iterable
from typing import Any

from thriftpy2.thrift import TType

from .._engine import SwitchHandle
from ..values import CrcParameters
from .interface import SERVICES, signed, standard, unsigned
from .tables import counter_cell, counter_value, match_key, meter_configs, priority

_ENGINES = {
    "bm_counter_read": "read_counters",
    "bm_counter_reset_all": "reset_counters",
    "bm_counter_write": "write_counters",
    "bm_mt_read_counter": "mt_read_counters",
    "bm_mt_write_counter": "mt_write_counters",
}
"""The engine's names where they are not BMv2's without `bm_`."""

_BITS = {TType.I16: 16, TType.I32: 32, TType.I64: 64}


def _crc(bits: int) -> Callable[[Any], tuple[CrcParameters]]:
    def parameters(given: standard.BmCrc16Config | standard.BmCrc32Config) -> tuple[CrcParameters]:
        # A field that was not sent is 0.
        numbers = (given.polynomial, given.initial_remainder, given.final_xor_value)
        polynomial, initial_remainder, final_xor = (unsigned(number or 0, bits) for number in numbers)
        reflected = bool(given.data_reflected), bool(given.remainder_reflected)
        return ((polynomial, initial_remainder, final_xor, *reflected),)

    return parameters


# Any: each function takes what the interface declares, and a field is thriftpy2's type, name and details.
_GIVEN: dict[object, Callable[[Any], Iterable[object]]] = {
    standard.BmAddEntryOptions: lambda options: (priority(options),),
    standard.BmCounterValue: counter_cell,
    standard.BmCrc16Config: _crc(16),
    standard.BmCrc32Config: _crc(32),
    (TType.STRUCT, standard.BmMatchParam): lambda key: (match_key(key),),
}
"""The engine's arguments for a struct, or for a list of structs."""

_TOLD: dict[object, Callable[[Any], object]] = {
    standard.BmCounterValue: lambda cell: counter_value(*cell),
    (TType.STRUCT, standard.BmMeterRateConfig): meter_configs,
}


def handler(control: SwitchHandle, service: str, name: str) -> Callable[..., object]:
    """Returns the handler of a method."""
    call = getattr(control, _ENGINES.get(name, name.removeprefix("bm_")))
    arguments = getattr(SERVICES[service], f"{name}_args").thrift_spec.values()
    result = getattr(SERVICES[service], f"{name}_result").thrift_spec.get(0)

    def forwarded(*values: object) -> object:
        given = zip(arguments, values, strict=True)
        found = call(*(one for field, value in given if field[1] != "cxt" for one in _given(field, value)))
        return None if result is None else _told(result, found)

    return forwarded


def _given(field: tuple[Any, ...], value: object) -> Iterable[object]:
    kind, details = field[0], field[2]
    if isinstance(value, int) and kind in _BITS:
        return (unsigned(value, _BITS[kind]),)
    return _GIVEN[details](value) if details in _GIVEN else (value,)


def _told(field: tuple[Any, ...], value: object) -> object:
    kind, details = field[0], field[2]
    if isinstance(value, int) and kind in _BITS:
        return signed(value, _BITS[kind])
    return _TOLD[details](value) if details in _TOLD else value
