"""The experiment file: settings, axes of overlays, sweeps over them, seeds, and the quick form."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from eeon_control.errors import DataNotFound
from eeon_control.model_base import Strict
from eeon_control.sources import Document, read_yaml
from eeon_control.validation import checked, did_you_mean
from pydantic import BeforeValidator, Field, WithJsonSchema

from eeon_experiments import shipped

SEED_LIMIT = 2**63 - 1
_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,62}$"
_AXIS = r"^[a-z][a-z0-9_]{0,30}$"


def _text(value: object) -> object:
    """Returns a value as text, because names of values may look like numbers: `load: {5: ..., 10: ...}`."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else value


def _texts(value: object) -> object:
    return [_text(one) for one in value] if isinstance(value, list) else value


def _overlays(value: object) -> object:
    """Replaces an empty overlay with a mapping without keys."""
    if not isinstance(value, dict):
        return value
    return {name: {} if one is None else one for name, one in value.items()}


Name = Annotated[str, Field(pattern=_NAME)]
AxisName = Annotated[str, Field(pattern=_AXIS)]
Overlay = dict[str, object]
Overlays = Annotated[dict[Name, Overlay], Field(min_length=1), BeforeValidator(_overlays)]
Values = Literal["all"] | list[Name]
Seeds = Annotated[
    list[Annotated[int, Field(strict=True, ge=0, le=SEED_LIMIT)]], Field(min_length=1, max_length=1000)
]


def _sweep(value: object) -> object:
    if not isinstance(value, dict):
        raise ValueError("must be a mapping: axis: all, or axis: [values]")
    return {key: _texts(one) for key, one in value.items()}


Sweep = Annotated[dict[str, object], BeforeValidator(_sweep)]


def _quick_axes(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {
        axis: _overlays(values) if isinstance(values, dict) else _texts(values)
        for axis, values in value.items()
    }


QuickValues = Annotated[
    object, WithJsonSchema({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "object"}]})
]


class Quick(Strict):
    """The scaled-down form: its differences from the full form."""

    base: Overlay = Field(default_factory=dict)
    """Overlay on `base`, below the overlays of the axes."""
    axes: Annotated[dict[AxisName, QuickValues], BeforeValidator(_quick_axes)] = Field(default_factory=dict)
    """Axes with fewer values: a list of names, or a mapping with overlays on those of the axis."""
    sweeps: list[Sweep] = Field(default_factory=list)
    """Sweeps instead of the full form's. The default is the full form's sweeps, restricted to the values that
    are left."""
    seeds: Seeds | None = None
    """Seeds instead of the full form's."""


class ExperimentFile(Strict):
    """An experiment: runs that differ in the values of its axes."""

    name: Name
    """Name of the experiment, and of its folder of results."""
    title: str
    """Title of the experiment, in one line."""
    description: str = ""
    """Purpose of the experiment."""
    claims: list[str] = Field(default_factory=list)
    """Ids of the papers' claims that the experiment tests."""
    base: Overlay
    """Settings of every run; its keys are those of a run."""
    axes: dict[AxisName, Overlays] = Field(default_factory=dict)
    """The values of each axis by name, each an overlay on `base`. Later axes override earlier ones. Mappings
    are merged, lists are replaced, and `config` is appended."""
    sweeps: list[Sweep] = Field(default_factory=list)
    """Products to run, each with the axes and values that it uses: `axis: all` or `axis: [values]`, and
    optionally `seeds`. For an axis that a sweep does not name, `base` applies. The default is the product of
    all axes."""
    seeds: Seeds = [1]  # noqa: RUF012
    """Seeds of the switches' draws and of the workload. Each point runs with every seed. Applications draw in
    the file's order, and so do coflows: another order is another run."""
    quick: Quick | None = None
    """The scaled-down form."""


@dataclass(frozen=True)
class Experiment:
    """A file that has been read and whose own keys are checked; `expand` checks its runs."""

    file: ExperimentFile
    document: Document
    path: Path

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def folder(self) -> Path | None:
        """The experiment's folder, with its other files; None for a single file under another name."""
        return self.path.parent if self.path.name == shipped.FILE else None


MAX_FILE_BYTES = 16 << 20
MAX_FILE_VALUES = 1_000_000
"""Limit for lists of transfers in workloads: 100,000 transfers need half of it."""


def load(name_or_path: str | Path) -> Experiment:
    """Reads a file, an experiment's folder, or an experiment that ships. Raises DataNotFound or
    InputError."""
    path = _find(name_or_path)
    document = read_yaml(path, MAX_FILE_BYTES, MAX_FILE_VALUES)
    file = checked(document, ExperimentFile)
    return Experiment(file, document, path)


def _find(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if path.is_dir() and (path / shipped.FILE).is_file():
        return path / shipped.FILE
    if path.is_file():
        return path
    known = shipped.names()
    if str(name_or_path) in known:
        return shipped.folder() / str(name_or_path) / shipped.FILE
    if path.is_dir():
        raise DataNotFound(
            f"{path}: this folder has no {shipped.FILE}; give a file, a folder with one, or the name of an "
            f"experiment that ships: {', '.join(known) or 'none'}"
        )
    raise DataNotFound(
        f"{name_or_path}: no such file, and not one of the experiments that ship"
        f"{did_you_mean(str(name_or_path), known)}: {', '.join(known) or 'none'}"
    )
