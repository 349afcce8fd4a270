"""Texts about claims, by claim, written by hand beside an experiment's file: `claims.yaml` has the claims,
`findings.yaml` the reasons why some differ. Plain text, code between backquotes."""

from pathlib import Path

from eeon_control.model_base import Strict
from pydantic import Field, TypeAdapter

from eeon_experiments import named_texts
from eeon_experiments.claims.parts import AnyPart

CLAIMS, FINDINGS = "claims.yaml", "findings.yaml"


class Statement(Strict):
    """A paper's statement."""

    statement: str
    """What the paper says."""
    where: str
    """The place in the paper."""
    band: str
    """The numbers within which it counts as reproduced."""
    parts: list[AnyPart] = Field(default_factory=list)
    """The conditions that are data, before those of the claim's judge."""


class Finding(Strict):
    """The result of an examination of the runs."""

    reason: str
    """The reason for the claim's outcome."""
    evidence: str = ""
    """The evidence, with its numbers."""


def statements(folder: Path) -> dict[str, Statement]:
    """Returns the claims of the experiment in a folder; none without a file. Raises InputError."""
    return named_texts.read(folder / CLAIMS, Statement, TypeAdapter(dict[str, Statement]))


def findings(folder: Path) -> dict[str, Finding]:
    """Returns the findings of the experiment in a folder; none without a file. Raises InputError."""
    return named_texts.read(folder / FINDINGS, Finding, TypeAdapter(dict[str, Finding]))
