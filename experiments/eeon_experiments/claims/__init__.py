"""Claims of papers, each with a judge that compares it with an experiment's rows.

`model` defines claims, judgments and comparisons of rows; `bands` has bands and drops that several claims
share; `texts` reads what is written about claims, and `parts` judges the part of it that is data. The claims
of an experiment are in the claims.yaml of its folder, the `JUDGES` of all other parts in its claims.py. Each
band is fixed before the results are known (docs/experiments.md).
"""

from eeon_experiments.claims.model import Claim, Judgment

claim = Claim
"""Makes a claim of a claims.py that has whole claims."""

__all__ = ["Claim", "Judgment", "claim"]
