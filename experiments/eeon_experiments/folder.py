"""An experiment's folder, and its Python modules.

    experiment.yaml   the runs (`files`)
    setup.yaml        the set-up taken from a paper, and the assumptions beyond it (`setup`)
    claims.yaml       a paper's claims (`claims.texts`), with parts that are data (`claims.parts`)
    claims.py         `JUDGES`: judges of claims for all other parts (`claims.model`)
    figures.yaml      the figures of its report (`report.captions`)
    figures.py        `NUMBERS`: computed numbers of a run for these; `drawings(runs)`: further figures
    findings.yaml     the reasons why claims differ (`claims.texts`)
    judged.yaml       other experiments whose claims are judged by its rows, too (`report.elsewhere`)

Only the first file is required. A command that names a folder runs its Python. A folder's modules import one
another as `from .points import point`; the folder needs no `__init__.py`, and need not be on `sys.path`.
"""

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

from eeon_tools.errors import InputError

from eeon_experiments.claims import texts
from eeon_experiments.claims.model import Checks, Claim, Judge
from eeon_experiments.claims.parts import Order, Part, checks
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Results

Draw = Callable[[Runs], list[Drawing]]


def claims(folder: Path) -> Sequence[Claim]:
    """Returns the experiment's claims; none without a claims.py and a claims.yaml. Raises InputError.

    A claims.py without `JUDGES` has whole claims, a tuple `CLAIMS`.
    """
    found, told = module(folder, "claims"), texts.statements(folder)
    if found is None and not told:
        return ()
    if found is None or hasattr(found, "JUDGES"):
        return _judged(folder, told, getattr(found, "JUDGES", {}))
    listed = getattr(found, "CLAIMS", None)
    if not isinstance(listed, (list, tuple)) or not all(isinstance(one, Claim) for one in listed):
        raise InputError(
            str(folder / "claims.py"), "CLAIMS", "must be a tuple of claims (eeon_experiments.claims.Claim)"
        )
    if any(one.parts for one in told.values()):
        rule = f"leaves the parts in {texts.CLAIMS} without effect; give judges in JUDGES instead"
        raise InputError(str(folder / "claims.py"), "CLAIMS", rule)
    return tuple(listed)


def _judged(folder: Path, told: Mapping[str, texts.Statement], judges: object) -> Sequence[Claim]:
    """Returns the claims of claims.yaml, with their parts and judges."""
    needed = {id for id, one in told.items() if not one.parts}
    if not isinstance(judges, Mapping) or not needed <= judges.keys() <= told.keys():
        raise InputError(
            str(folder / "claims.py"),
            "JUDGES",
            f"must have a judge for each claim in {texts.CLAIMS} that has no parts, and for no other claims",
        )
    return tuple(
        Claim(id, one.statement, one.where, one.band, partial(_examined, one.parts, judges.get(id)))
        for id, one in told.items()
    )


def _examined(parts: Sequence[Part | Order], judge: Judge | None, results: Results) -> Checks:
    """Returns the checks of a claim's parts, then those of its judge."""
    found = checks(parts, results)
    if judge is None:
        return Checks(found)
    more = judge(results)
    return Checks([*found, *more.checks], more.numbers)


def figures(folder: Path) -> Draw | None:
    """Returns what draws the experiment's figures; None without any in its files. Raises InputError."""
    path = folder / "figures.py"
    found, file = module(folder, "figures"), Figures(str(path))
    if found is None and not file.has_panels:
        return None
    numbers = getattr(found, "NUMBERS", {})
    draw: Draw | None = getattr(found, "drawings", None)
    if found is not None and not numbers and not callable(draw):
        raise InputError(str(path), "drawings", "must be a function that takes runs and gives drawings")
    return lambda runs: file.drawings(runs, numbers, draw(runs) if draw else ())


def module(folder: Path, name: str) -> ModuleType | None:
    """Returns a module of the folder by the name of its file; None if the file does not exist.

    Raises InputError with the cause if it cannot be loaded.
    """
    path = folder / f"{name}.py"
    if not path.is_file():
        return None
    try:
        return import_module(f"{_package(folder.resolve())}.{name}")
    except Exception as error:  # of any type: the message must name the file
        raise InputError(str(path), "", f"cannot be loaded: {type(error).__name__}: {error}") from error


def _package(folder: Path) -> str:
    """Makes a package whose modules are the folder's files, and returns its name. Each folder in a process
    has its own package, so that two experiments can both have a `claims`."""
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    name = f"_eeon_experiment_{digest}"
    if name not in sys.modules:
        package = ModuleType(name, f"The modules in {folder}.")
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return name
