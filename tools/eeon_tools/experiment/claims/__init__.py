"""The papers' claims, each with a judge that holds it against an experiment's rows.

`model` says what a claim and a verdict are and how rows are compared; one module an experiment has its
`CLAIMS`. A band is what was written down before the results were seen (docs/experiments.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from eeon_tools.experiment.claims.model import Claim, Verdict

EXPERIMENTS = ("marking", "aqm", "eee", "eee_ecn")
"""Experiments with claims; each has a module of its name."""


def of(experiment: str) -> Sequence[Claim]:
    """The claims held against an experiment; none for one that has none."""
    module = f"{__name__}.{experiment}"
    if experiment not in EXPERIMENTS or find_spec(module) is None:
        return ()
    claims: Sequence[Claim] = import_module(module).CLAIMS
    return claims


__all__ = ["Claim", "Verdict", "of"]
