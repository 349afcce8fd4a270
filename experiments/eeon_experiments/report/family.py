"""One experiment of the report: its claims, its runs, and the versions that made them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from eeon_experiments.claims.model import NOT_MEASURED, Claim, Judgment
from eeon_experiments.claims.texts import Finding
from eeon_experiments.folder import Draw
from eeon_experiments.report.elsewhere import Elsewhere
from eeon_experiments.report.rendered import Rendered, rendered
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Results, Row
from eeon_experiments.setup import Setup

DATA = "data"
FULL, QUICK = "", "-quick"
"""Suffixes of the folders of results by form."""


@dataclass(frozen=True, kw_only=True)
class Judged(Judgment):
    """One claim and its result; `finding` has the reason why it differs. `scaled_down`: its result in the
    quick form, a smaller fabric and job than the paper's, if that was run as well. `elsewhere` has the same
    judge's results in other registered set-ups."""

    id: str
    statement: str
    where: str
    band: str
    finding: Finding | None = None
    scaled_down: Judgment | None = None
    elsewhere: Sequence[Elsewhere] = ()


@dataclass(frozen=True)
class Family:
    """All parts of one experiment that the page shows.

    `given`: its name in commands; its file or folder if it does not ship. `results`: the folder of its rows.
    `planned`: number of points in the experiment's file, None if unknown. `beyond`: number of rows at points
    that the file does not have; the judges may read them. `scaled_down`: the folder of the quick form's
    results, if the page has both forms. `not_run`: the points without a row, in words. `base`: the text of
    `base` in the file. `refused`: descriptions of omitted rows of other versions or settings. `origin`: the
    manifest of its rows.
    """

    name: str
    title: str
    description: str
    quick: bool
    claims: Sequence[Judged]
    runs: Runs
    given: str = ""
    results: Path = Path()
    scaled_down: Path | None = None
    rows: Sequence[Row] = ()
    base: str = ""
    setup: Setup = field(default_factory=Setup)
    draw: Draw | None = None
    planned: int | None = None
    beyond: int = 0
    not_run: Sequence[str] = ()
    refused: Sequence[str] = ()
    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> list[Row]:
        """Rows of runs without numbers."""
        return [row for row in self.rows if not row.finished]

    @property
    def data(self) -> str:
        """The folder of its rows beside the first page."""
        return f"{DATA}/{self.name}{QUICK if self.quick else FULL}"

    @cached_property
    def figures(self) -> list[Rendered]:
        """Its figures; each is drawn when its text is read."""
        return rendered(self.name, self.draw, self.runs) if self.draw is not None else []


def without_claims(families: Sequence[Family]) -> bool:
    """Returns whether no family has a claim; the page is then about the numbers alone."""
    return not any(family.claims for family in families)


def judged(
    claims: Sequence[Claim], results: Results, findings: Mapping[str, Finding], quick: Results | None = None
) -> list[Judged]:
    """Judges every claim by the results, and by those of the quick form if there are any. A claim whose judge
    fails is not measured, with the reason."""
    return [
        Judged(
            id=claim.id,
            statement=claim.statement,
            where=claim.where,
            band=claim.band,
            finding=findings.get(claim.id) if one.outcome != NOT_MEASURED else None,
            scaled_down=None if quick is None else claim.judgment(quick),
            **vars(one),
        )
        for claim, one in ((claim, claim.judgment(results)) for claim in claims)
    ]
