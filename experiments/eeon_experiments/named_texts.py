"""YAML files of an experiment's folder that have a text, or several, by name."""

from pathlib import Path
from typing import TypeVar

from eeon_control.sources import read_yaml
from eeon_control.validation import input_error
from pydantic import BaseModel, TypeAdapter, ValidationError

_Text = TypeVar("_Text", bound=BaseModel)


def read(path: Path, kind: type[_Text], by_name: TypeAdapter[dict[str, _Text]]) -> dict[str, _Text]:
    """Returns the content of a file; nothing without a file. Raises InputError with every mistake."""
    if not path.is_file():
        return {}
    document = read_yaml(path)
    try:
        return by_name.validate_python(document.value)
    except ValidationError as error:
        raise input_error(error, document, kind) from None
