"""Short forms of `aqm`: the mode and its main value in one key, for example `{autored: 500us}`.

    drop_tail                      {mode: drop_tail}
    mark_threshold                 {mode: mark_threshold, threshold: auto}
    {mark_threshold: 97.5KB}       {mode: mark_threshold, threshold: 97.5KB}
    {autored: 500us}               {mode: red, target_delay: 500us, max_probability: 100%}
    {red: 70pkt}                   {mode: red, min: 70pkt, max: 70pkt, max_probability: 100%}
    {red: [50pkt, 150pkt]}         {mode: red, min: 50pkt, max: 150pkt, max_probability: 100%}

Further keys of the mode may follow: `{autored: 500us, protect: ack_syn}`. In the papers, the probability
reaches 100% at the upper threshold (E-EON thesis section 6.3), which is therefore the short forms' default.
"""

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from eeon_control.model_base import text_schema
from eeon_control.units import Bytes, Duration, Packets
from eeon_control.validation import did_you_mean

_MODES = ("drop_tail", "mark_threshold", "red", "codel")
_BARE = ("drop_tail", "mark_threshold")
_RED_SIZE = text_schema(Bytes, Packets)
# Short key -> (mode, JSON Schema of its value, description).
_KEYS: dict[str, tuple[str, JsonSchemaValue, str]] = {
    "mark_threshold": (
        "mark_threshold",
        {"anyOf": [{"const": "auto"}, text_schema(Bytes), {"type": "null"}]},
        "Short for mode `mark_threshold` with this threshold.",
    ),
    "autored": (
        "red",
        text_schema(Duration),
        "Short for mode `red` with this `target_delay` and `max_probability: 100%`.",
    ),
    "red": (
        "red",
        {"anyOf": [_RED_SIZE, {"type": "array", "items": _RED_SIZE, "minItems": 2, "maxItems": 2}]},
        "Short for mode `red` with these `min` and `max` and `max_probability: 100%`.",
    ),
}
_EXAMPLES = "drop_tail, {mark_threshold: 97.5KB}, {autored: 500us} or {red: [50pkt, 150pkt]}"

# The names of long-form keys in the short forms, so that errors refer to the file's keys.
SHORT_KEYS: dict[str, tuple[str, ...]] = {
    "threshold": ("mark_threshold",),
    "target_delay": ("autored",),
    "min": ("red",),
    "max": ("red",),
}


def written_out(value: object) -> object:
    """Returns the long form of `aqm`; other values are returned unchanged."""
    if isinstance(value, str):
        if value not in _BARE:
            near = did_you_mean(value, _BARE)
            raise ValueError(f"unknown AQM{near}; write for example {_EXAMPLES}")
        return {"mode": value}
    if not isinstance(value, dict):
        return value
    given = [key for key in _KEYS if key in value]
    if not given:
        if "mode" not in value:
            _refuse_without_mode(value)
        return value
    if len(given) > 1:
        raise ValueError(f"give either {given[0]} or {given[1]}, not both")
    [key] = given
    mode = _KEYS[key][0]
    if value.get("mode", mode) != mode:
        raise ValueError(f"{key} is short for mode {mode}, not {value['mode']}: give one of the two")
    rest = {name: one for name, one in value.items() if name != key}
    taken = [name for name, short in SHORT_KEYS.items() if key in short and name in rest]
    if taken:
        raise ValueError(f"{key} is short for mode {mode} with {taken[0]}: give one of the two")
    return {"mode": mode, **_long(key, value[key]), **rest}


def _refuse_without_mode(value: dict[object, object]) -> None:
    for key in map(str, value):
        if key in _MODES:
            raise ValueError(f"{key} is a mode and has no short form; write {{mode: {key}, ...}}")
        if key not in SHORT_KEYS and (near := did_you_mean(key, [*_KEYS, "mode"])):
            raise ValueError(f"{key}: unknown key{near}; write for example {_EXAMPLES}")
    raise ValueError(f"the key mode is required: {', '.join(_MODES)}; or write for example {_EXAMPLES}")


def _long(key: str, value: object) -> dict[str, object]:
    if isinstance(value, dict):
        raise ValueError(
            f"{key} is a short form with one value; for more settings, write {{mode: {_KEYS[key][0]}, ...}}"
        )
    match key:
        case "mark_threshold":
            return {"threshold": value}
        case "autored":
            return {"target_delay": value, "max_probability": "100%"}
        case _:
            pair = value if isinstance(value, list) else [value, value]
            if len(pair) != 2 or None in pair:
                raise ValueError("red takes one size or [min, max], for example red: [50pkt, 150pkt]")
            return {"min": pair[0], "max": pair[1], "max_probability": "100%"}


class ShortForms:
    """An annotation that adds the short forms to the JSON Schema of the long ones."""

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        long = handler(core_schema)
        modes = {
            str(model["properties"]["mode"]["const"]): model
            for model in (handler.resolve_ref_schema(dict(one)) for one in long["oneOf"])
        }
        return {"anyOf": [{"enum": list(_BARE)}, *long["oneOf"], *(_short(key, modes) for key in _KEYS)]}


def _short(key: str, modes: dict[str, JsonSchemaValue]) -> JsonSchemaValue:
    """Returns the schema of one short form: its key, and the keys of its mode that it does not replace."""
    mode, schema, description = _KEYS[key]
    stands_for = {name for name, short in SHORT_KEYS.items() if key in short}
    if mode == "red":
        stands_for |= {"min", "max", "target_delay"}
    others = {name: one for name, one in modes[mode]["properties"].items() if name not in stands_for}
    return {
        "type": "object",
        "title": f"{key} (short form)",
        "properties": {key: {**schema, "description": description}, **others},
        "required": [key],
        "additionalProperties": False,
    }
