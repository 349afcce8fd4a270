"""The main findings as sentences with numbers from the rows, each with its spread over seeds: headlines.yaml.

A finding whose points were not run is left out.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from eeon_control.model_base import Strict
from pydantic import Field, TypeAdapter

from eeon_experiments import named_texts
from eeon_experiments.claims.bands import mean_change
from eeon_experiments.claims.model import Missing, by_seed, compare, of_common_seeds, percent, share
from eeon_experiments.report.family import Family
from eeon_experiments.report.plotted import Axes
from eeon_experiments.results import Results, Spread

_FILE = Path(__file__).with_suffix(".yaml")


class _Number(Strict):
    """A change, as the file explains."""

    of: str
    number: str
    where: list[Axes]
    against: Axes = Field(default_factory=dict)
    over: str | None = None
    apart: bool = False

    def measured(self, known: Mapping[str, Results]) -> Spread:
        """Returns the number over its seeds. Raises Missing."""
        if self.of not in known:
            raise Missing(f"rows of {self.of}")
        rows, point = known[self.of], self.where[0]
        if self.apart:
            found = of_common_seeds([by_seed(rows, self.number, one) for one in self.where])
            return Spread.of([max(one) / min(one) - 1 for one in found])
        if self.over is not None:
            return compare(rows, (self.number, self.over), (point, point), lambda a, b: a / b - 1)
        return mean_change(rows, self.number, self.where, {**point, **self.against})


class _Finding(Strict):
    says: str
    numbers: dict[str, _Number]

    def told(self, known: Mapping[str, Results]) -> str:
        words = {}
        for name, number in self.numbers.items():
            found = number.measured(known)
            words[name] = found.text(share if number.apart else percent)
            words[f"{name}_seeds"] = "" if found.seeds > 1 else " (one seed)"
        return self.says.format(**words)


def headlines(families: Sequence[Family]) -> list[str]:
    """Returns a sentence or two for each finding, ordered by relevance to a switch vendor."""
    known = {family.name: Results(list(family.rows)) for family in families}
    found = []
    for finding in named_texts.read(_FILE, _Finding, TypeAdapter(dict[str, _Finding])).values():
        with suppress(Missing):
            found.append(finding.told(known))
    return found
