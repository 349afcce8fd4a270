"""The parts of the experiments that ship, by the experiment's name."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from eeon_experiments import folder, shipped
from eeon_experiments.claims import Claim
from eeon_experiments.folder import Draw


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
