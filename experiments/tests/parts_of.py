"""The parts of the experiments that ship, by the experiment's name, and rows for their judges."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from eeon_experiments import folder, shipped
from eeon_experiments.claims import Claim
from eeon_experiments.claims.bands import CLASSES
from eeon_experiments.folder import Draw
from eeon_experiments.results import Row, Value


def claims_of(name: str) -> Sequence[Claim]:
    """Returns its claims."""
    return folder.claims(shipped.folder() / name)


def figures_of(name: str) -> Draw | None:
    """Returns the function that draws its figures."""
    return folder.figures(shipped.folder() / name)


def module_of(name: str, module: str) -> ModuleType:
    """Returns one of its modules."""
    found = folder.module(shipped.folder() / name, module)
    assert found is not None, f"experiments/{name}/{module}.py"
    return found


def finished_row(axes: Mapping[str, str | None], values: Mapping[str, Value], seed: int = 1) -> Row:
    """Returns a row of a finished run, for a claim's judge."""
    shown = {f"axis_{name}": value for name, value in axes.items()}
    return Row({"run_id": "made up", "seed": seed, "status": "finished", **shown, **values})


def refutations(experiments: str) -> list[tuple[str, str, str]]:
    """Returns claims, changes of rows, and words of the check that notices: lines of `refuted_claims.txt`."""
    text = Path(__file__).with_name("refuted_claims.txt").read_text(encoding="utf-8")
    lines = text.split(f"[{experiments}]\n")[1].partition("\n\n")[0].splitlines()
    found = []
    for line in lines:
        one = re.fullmatch(r"(\w+): (.*?)(?: -> (.*))?", line)
        assert one is not None, line
        found.append((one[1], one[2], one[3] or ""))
    return found


def change(row: dict[str, Any], told: str) -> None:
    """Makes a change of `refuted_claims.txt` in a row, if the row has its axes."""
    what, _, where = told.partition(" at ")
    axes = dict(axis.split("=") for axis in where.split())
    if any((row.get(f"axis_{name}") or "none") != value for name, value in axes.items()):
        return
    if what.startswith("every drop is "):
        for name in CLASSES:
            row[f"early_dropped_{name}"] = 1000 if what == f"every drop is {name}" else 0
            row[f"tail_dropped_{name}"] = 0
        return
    column, factor = what.split(" x ")
    if column in row:
        row[column] *= float(factor)
