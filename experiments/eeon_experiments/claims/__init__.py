"""Claims of papers, each with a judge that compares it with an experiment's rows.

`model` defines claims, judgments and comparisons of rows; `bands` has the code that the claims about marking
and AQM share. An experiment's claims are `CLAIMS` in the claims.py of its folder. A band is written
down before the results are seen (docs/experiments.md).
"""

from __future__ import annotations

from eeon_experiments.claims.model import Claim, Judgment, claim

__all__ = ["Claim", "Judgment", "claim"]
