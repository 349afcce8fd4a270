"""Claims of papers, each with a judge that holds it against an experiment's rows.

`model` says what a claim and a judgment are and how rows are compared, `bands` what the claims about marking
and AQM share. An experiment's claims are `CLAIMS` in the claims.py of its folder. A band is what was written
down before the results were seen (docs/experiments.md).
"""

from __future__ import annotations

from eeon_experiments.claims.model import Claim, Judgment, claim

__all__ = ["Claim", "Judgment", "claim"]
