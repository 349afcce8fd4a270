"""The main findings as sentences with numbers from the rows, each with its spread over seeds: headlines.yaml.

A finding whose points were not run is left out.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from eeon_control.model_base import Strict
from pydantic import TypeAdapter

from eeon_experiments import named_texts
from eeon_experiments.claims.model import Missing, by_seed, of_common_seeds, percent, share
from eeon_experiments.claims.parts import Number
from eeon_experiments.report.family import Family
from eeon_experiments.results import Results, Spread

_FILE = Path(__file__).with_suffix(".yaml")


class _Number(Number):
    """A change, as the file explains."""

    of: str
    apart: bool = False

    def of_rows(self, known: Mapping[str, Results]) -> Spread:
        """Returns the number over its seeds. Raises Missing."""
        if self.of not in known:
            raise Missing(f"rows of {self.of}")
        rows = known[self.of]
        if not self.apart:
            return self.measured(rows, self.points())
        found = of_common_seeds([by_seed(rows, self.number, one) for one in self.points()])
        return Spread.of([max(one) / min(one) - 1 for one in found.values()])


class _Finding(Strict):
    says: str
    numbers: dict[str, _Number]

    def told(self, known: Mapping[str, Results]) -> str:
        words = {}
        for name, number in self.numbers.items():
            found = number.of_rows(known)
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
