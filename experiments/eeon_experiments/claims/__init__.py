"""Claims of papers, each with a judge that compares it with an experiment's rows.

`model` defines claims, judgments and comparisons of rows; `bands` has the code that the claims about marking
and AQM share; `texts` reads what is written about claims. The `JUDGES` of an experiment are in the claims.py
of its folder, their claims in its claims.yaml. Each band is fixed before the results are known
(docs/experiments.md).
"""

from eeon_experiments.claims.model import Claim, Judgment, claim

__all__ = ["Claim", "Judgment", "claim"]
