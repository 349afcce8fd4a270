"""Texts about claims, by claim, written by hand beside an experiment's file: `claims.yaml` has the claims,
`findings.yaml` the reasons why some differ. Plain text, code between backquotes."""

from pathlib import Path
from typing import TypeVar

from eeon_control.model_base import Strict
from eeon_control.sources import read_yaml
from eeon_control.validation import input_error
from pydantic import TypeAdapter, ValidationError

CLAIMS, FINDINGS = "claims.yaml", "findings.yaml"
_Text = TypeVar("_Text", "Statement", "Finding")


class Statement(Strict):
    """A paper's statement."""

    statement: str
    """What the paper says."""
    where: str
    """The place in the paper."""
    band: str
    """The numbers within which it counts as reproduced."""


class Finding(Strict):
    """The result of an examination of the runs."""

    reason: str
    """The reason for the claim's outcome."""
    evidence: str = ""
    """The evidence, with its numbers."""


def statements(folder: Path) -> dict[str, Statement]:
    """Returns the claims of the experiment in a folder; none without a file. Raises InputError."""
    return _read(folder / CLAIMS, Statement, TypeAdapter(dict[str, Statement]))


def findings(folder: Path) -> dict[str, Finding]:
    """Returns the findings of the experiment in a folder; none without a file. Raises InputError."""
    return _read(folder / FINDINGS, Finding, TypeAdapter(dict[str, Finding]))


def _read(path: Path, kind: type[_Text], by_claim: TypeAdapter[dict[str, _Text]]) -> dict[str, _Text]:
    if not path.is_file():
        return {}
    document = read_yaml(path)
    try:
        return by_claim.validate_python(document.value)
    except ValidationError as error:
        raise input_error(error, document, kind) from None
