"""Settings in the engine's form: quantities as numbers, with their unit at the end of the key."""

from collections.abc import Collection
from typing import Any

from eeon_control.units import Bytes, DataRate, Duration, Quantity
from pydantic import BaseModel

from eeon_experiments.quantities import ByteRate, Frequency

_UNITS: dict[type[Quantity], str] = {
    Bytes: "bytes",
    ByteRate: "bytes_per_second",
    DataRate: "bps",
    Duration: "ps",
    Frequency: "hz",
}

# Keys and types are those of a specification in the engine, which refuses others.
Form = dict[str, Any]


def engine_form(settings: BaseModel, keys: Collection[str] | None = None) -> Form:
    """Returns settings, or those named in `keys`, in the engine's form: `timer: 1us` is `timer_ps: 1000000`.

    `Field(serialization_alias=...)` gives a setting another key. Settings by name become a list, in which
    each has a `name`. A setting that is None is left out, unless it was given (`off`, `all`).
    """
    found: Form = {}
    for key, field in type(settings).model_fields.items():
        value = getattr(settings, key)
        if (keys is None or key in keys) and (value is not None or key in settings.model_fields_set):
            unit = _UNITS.get(type(value))
            found[field.serialization_alias or (f"{key}_{unit}" if unit else key)] = _form(value)
    return found


def _form(value: object) -> object:
    match value:
        case Quantity():
            return int(value)
        case BaseModel():
            return engine_form(value)
        case list():
            return [_form(one) for one in value]
        case dict():
            return [{"name": name, **engine_form(one)} for name, one in value.items()]
    return value
