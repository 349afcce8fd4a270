"""Why a claim differs: `findings.yaml` beside an experiment's file, written by hand."""

from __future__ import annotations

from pathlib import Path

from eeon_control.model_base import Strict
from eeon_control.sources import read_yaml
from eeon_control.validation import input_error
from pydantic import RootModel, ValidationError

FILE = "findings.yaml"


class Finding(Strict):
    """What was found by looking. Plain text, code between backquotes."""

    reason: str
    """Why the claim came out as it did."""
    evidence: str = ""
    """What was looked at, with its numbers."""


class Findings(RootModel[dict[str, Finding]]):
    """By claim."""


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
