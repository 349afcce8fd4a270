"""The parts of the experiments that ship, by the experiment's name, and rows for their judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

from eeon_experiments import folder, shipped
from eeon_experiments.claims import Claim
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
