"""The reasons why claims differ: `findings.yaml` beside an experiment's file, written by hand."""

from pathlib import Path

from eeon_control.model_base import Strict
from eeon_control.sources import read_yaml
from eeon_control.validation import input_error
from pydantic import RootModel, ValidationError

FILE = "findings.yaml"


class Finding(Strict):
    """The result of an examination of the runs. Plain text, code between backquotes."""

    reason: str
    """The reason for the claim's outcome."""
    evidence: str = ""
    """The evidence, with its numbers."""


class Findings(RootModel[dict[str, Finding]]):
    """Findings by claim."""


def load(folder: Path) -> dict[str, Finding]:
    """Returns the findings of the experiment in a folder; none without a file. Raises InputError."""
    path = folder / FILE
    if not path.is_file():
        return {}
    document = read_yaml(path)
    try:
        return Findings.model_validate(document.value or {}).root
    except ValidationError as error:
        raise input_error(error, document, Finding) from None
