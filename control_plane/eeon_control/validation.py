"""Conversion of pydantic's errors to this project's form: place in the file, key, value, rule."""

import types
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from eeon_control.errors import InputError
from eeon_control.model_base import unquoted
from eeon_control.sources import Document, KeyPath, dotted

_KEYS_SHOWN = 12

_Model = TypeVar("_Model", bound=BaseModel)


def checked(document: Document, model: type[_Model]) -> _Model:
    """Returns `document` as a model. Raises InputError with every error at its place."""
    try:
        return model.model_validate(document.value)
    except ValidationError as error:
        raise input_error(error, document, model) from None


def input_error(
    error: ValidationError,
    document: Document,
    model: type[BaseModel],
    other_names: Mapping[str, tuple[str, ...]] | None = None,
) -> InputError:
    """Returns every error at its place in `document`, which was checked against `model`.

    `other_names`: other names of a key in the file (short forms), so that errors refer to these.
    """
    found = []
    for item in error.errors():
        loc = tuple(item["loc"])
        steps = _without_tags(model, loc)
        path = _path_in_file(steps, document, other_names or {}, is_missing=item["type"] == "missing")
        if len(steps) < len(loc) and document.has((*path, loc[-1])):
            path = (*path, loc[-1])  # the tag of a short form, which is a key in the file
        rule, value = _explain(item)
        if item["type"] == "extra_forbidden":
            rule += _hint(model, loc)
        found.append(document.problem(path, rule, value))
    return InputError(found)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns ` (did you mean roles?)`, or an empty text if no known word is similar."""
    by_lower = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.7)
    return f" (did you mean {by_lower[close[0]]}?)" if close else ""


def _hint(model: type[BaseModel], loc: KeyPath) -> str:
    """Returns a suggestion for a key unknown at its place: a similar key, the same key at a place above
    or below, or the known keys."""
    key, known = str(loc[-1]), _keys_at(model, loc[:-1])
    if near := did_you_mean(key, known):
        return near
    here = _without_tags(model, loc[:-1])
    for length in range(len(loc) - 2, -1, -1):
        # A union of several kinds is the same place: one of them may have the key, this one has not.
        if key in _keys_at(model, loc[:length]) and here != _without_tags(model, loc[:length]):
            above = dotted(_without_tags(model, loc[:length]))
            return f"; it belongs {f'below {above}' if above else 'at the top'}"
    below_this = [name for name in sorted(known) if key in _keys_at(model, (*loc[:-1], name))]
    if below_this:
        return f"; it belongs below {dotted((*here, below_this[0]))}"
    listed = ", ".join(sorted(known)[:_KEYS_SHOWN])
    return f"; there are {listed}{', ...' if len(known) > _KEYS_SHOWN else ''}" if known else ""


def _path_in_file(
    loc: KeyPath, document: Document, other_names: Mapping[str, tuple[str, ...]], *, is_missing: bool
) -> KeyPath:
    """Returns the steps of a location that are in the file (pydantic adds type names), and a missing key."""
    path: KeyPath = ()
    for step in loc:
        names = (step, *other_names.get(str(step), ()))
        path = next(((*path, name) for name in names if document.has((*path, name))), path)
    return (*path, loc[-1]) if is_missing else path


def _without_tags(annotation: object, loc: KeyPath) -> KeyPath:
    """Returns pydantic's location without the tags of unions. A tag may have the same name as a key."""
    return min((steps for steps, _ in _at(annotation, loc)), key=len)


def _keys_at(annotation: object, loc: KeyPath) -> set[str]:
    """Returns the keys of the models at one of pydantic's locations."""
    return {key for _, model in _at(annotation, loc) for key in _fields(model)}


def _at(annotation: object, loc: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    """Yields the types that a value at one of pydantic's locations may have, each with the location without
    the tags of unions. Where the location leaves the models, the rest of it is kept, and the type is None."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _at(arguments[0], loc)
    elif origin in (Union, types.UnionType):
        tagged = [one for one in arguments if loc and _tag(one) == loc[0]]
        for one in tagged or arguments:
            yield from _at(one, loc[1:] if tagged else loc)
    elif not loc:
        yield loc, annotation
    else:
        below = arguments[-1] if origin in (dict, list) else _fields(annotation).get(str(loc[0]))
        for steps, found in _at(below, loc[1:]) if below is not None else [(loc[1:], None)]:
            yield (loc[0], *steps), found


def _fields(model: object) -> dict[str, object]:
    """Returns the types of a model's keys; none for another type."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return {}
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _tag(model: object) -> str | None:
    """Returns the value of `mode` or `kind` that selects a model in a union."""
    fields = getattr(model, "model_fields", {})
    field = fields.get("mode", fields.get("kind"))
    if field is None or get_origin(field.annotation) is not Literal:
        return None
    return str(get_args(field.annotation)[0])


def _explain(item: ErrorDetails) -> tuple[str, object]:
    """Converts an error of pydantic to (rule in this project's words, value shown)."""
    context = item.get("ctx", {})
    match item["type"]:
        case "extra_forbidden":
            return "unknown key", item["input"]
        case "missing":
            return "this key is required", None
        case "value_error":
            return str(context["error"]), item["input"]
        case "literal_error" | "enum":
            known = context["expected"].replace("'", "").replace(" or ", ", ").split(", ")
            text = f"must be one of {context['expected']}"
            return f"{text}{did_you_mean(str(item['input']), known)}", item["input"]
        case "union_tag_not_found":
            return f"the key {str(context['discriminator']).strip(chr(39))} is required", None
        case "union_tag_invalid":
            known = context["expected_tags"].replace("'", "").split(", ")
            text = f"must be one of {context['expected_tags']}"
            return f"{text}{did_you_mean(str(context['tag']), known)}", context["tag"]
        case "dict_type" | "model_type" | "model_attributes_type" | "dataclass_type":
            return "must be a mapping (key: value lines)", item["input"]
        case "int_type":
            return f"must be a whole number{unquoted(item['input'])}", item["input"]
        case "float_type" | "float_parsing":
            return "must be a number", item["input"]
        case "list_type":
            return "must be a list, such as [a, b]", item["input"]
        case "bool_type":
            return f"must be true or false{unquoted(item['input'])}", item["input"]
        case "string_type":
            is_scalar = isinstance(item["input"], bool | int | float)
            return f"must be text{'; put it in quotes' if is_scalar else ''}", item["input"]
        case _:
            return str(item["msg"])[:1].lower() + str(item["msg"])[1:], item["input"]
