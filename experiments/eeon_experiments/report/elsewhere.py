"""Other set-ups than the published one, in which claims are judged again: an experiment's `judged.yaml`.

An experiment such as `setup` runs points of others in another set-up. One such as `cee_commercial` runs its
own points with other values for settings that its paper leaves open. A view reads such rows as rows of the
published set-up: `where` selects them, and `names` renames their values. Another reading of the paper, such
as energy at 10GbE alone, gives the judge other `columns`. The judges and their bands are the claims' own.

Another set-up may have fewer points than the published one. A claim's result there is then compared with its
result in the published set-up at the same points, not at all points.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eeon_control.model_base import Strict
from eeon_control.sources import read_yaml
from eeon_control.validation import checked
from pydantic import Field

from eeon_experiments import columns, shipped, store
from eeon_experiments.claims.model import NOT_MEASURED, Claim, Judgment
from eeon_experiments.results import Results, Row, Value

FILE = "judged.yaml"


class View(Strict):
    """Rows of one experiment as those of another."""

    claims: str
    """The experiment whose claims are judged."""
    only: list[str] = Field(default_factory=list)
    """Ids of the claims that are judged in this set-up; by default all of them."""
    words: str
    """The name of the set-up, as it follows the word `with`."""
    where: dict[str, str | list[str] | None] = Field(default_factory=dict)
    """Values of axes that a row must have: one value, a list of alternatives, or null for an unused axis."""
    names: dict[str, dict[str, str | None]] = Field(default_factory=dict)
    """By axis, the judge's names of its values; null removes the axis from the row."""
    columns: dict[str, str] = Field(default_factory=dict)
    """By column that the judge reads, the column whose numbers it gets instead."""


class Views(Strict):
    """The content of a `judged.yaml`."""

    views: list[View]
    """In the order of the pages."""


@dataclass(frozen=True, kw_only=True)
class Elsewhere(Judgment):
    """A claim's result in another registered set-up. The rows are those of `experiment` (with `-quick` for
    its quick form). `same_points`: the published set-up's result at these points, if it has another one
    there than at all its points."""

    words: str
    experiment: str
    seeds: Sequence[int]
    same_points: Judgment | None = None

    @property
    def is_quick(self) -> bool:
        return self.experiment.endswith("-quick")


def load(folder: Path) -> list[View]:
    """Returns the views of an experiment's folder; none without a file. Raises InputError."""
    path = folder / FILE
    if not path.is_file():
        return []
    return checked(read_yaml(path), Views).views


@cache
def _shipped_views(folder: Path) -> dict[str, list[View]]:
    """Returns the views of every experiment in a folder, by name. Cached for the experiments of a report."""
    return {name: load(folder / name) for name in shipped.names()}


def seen(results: Results, view: View) -> Results:
    """Returns the rows that a view selects, with the view's names."""
    rows = results.select(**view.where).rows
    return Results([_renamed(row, view) for row in rows], results.refused)


def _renamed(row: Row, view: View) -> Row:
    values: dict[str, Value] = dict(row)
    for axis, names in view.names.items():
        column = f"{columns.AXIS}{axis}"
        value = values.get(column)
        if isinstance(value, str):
            values[column] = names.get(value, value)
    for read, given in view.columns.items():
        values[read] = row.get(given)
    return Row(values)


def judged_elsewhere(
    name: str, claims: Collection[Claim], results_folder: Path, forms: Sequence[str]
) -> dict[str, list[Elsewhere]]:
    """Returns the results of experiment `name`'s claims in every other set-up with rows for them, by claim,
    larger forms first. A claim that these rows cannot decide is left out."""
    rows_of = cache(_rows)
    published = {form: rows_of(results_folder / f"{name}{form}") for form in forms}
    on_all = {form: {claim.id: claim.judgment(rows) for claim in claims} for form, rows in published.items()}
    found: dict[str, list[Elsewhere]] = {}
    for other, views in _shipped_views(shipped.folder()).items():
        for view in views:
            if view.claims != name:
                continue
            for form in forms:
                place = results_folder / f"{other}{form}"
                rows = seen(rows_of(place), view)
                there = on_points_of(rows, published[form])
                for claim in claims:
                    if view.only and claim.id not in view.only:
                        continue
                    judgment = claim.judgment(rows)
                    if judgment.outcome != NOT_MEASURED:
                        same = claim.judgment(there)
                        one = Elsewhere(
                            **vars(judgment),
                            words=view.words,
                            experiment=place.name,
                            seeds=rows.seeds,
                            same_points=None if same.is_like(on_all[form][claim.id]) else same,
                        )
                        found.setdefault(claim.id, []).append(one)
    return found


def on_points_of(other: Results, published: Results) -> Results:
    """Returns the published rows at another set-up's points, regardless of its additional axes and seeds."""
    axes = published.rows[0].axes.keys() if published.rows else ()

    def point(row: Row) -> tuple[str | None, ...]:
        return tuple(row.axis(axis) for axis in axes)

    points = {point(row) for row in other.finished}
    return Results([row for row in published.rows if point(row) in points], published.refused)


def _rows(place: Path) -> Results:
    """Returns the rows in a file; no rows if the file does not exist."""
    return store.load(place) if (place / store.ROWS).is_file() else Results([])
