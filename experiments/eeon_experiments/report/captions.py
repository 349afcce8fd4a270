"""What is written about an experiment's figures: `figures.yaml` beside its figures.py.

A figure is a `Drawing` of both: its panels are computed, everything else is in the file.
"""

from collections.abc import Sequence
from pathlib import Path

from eeon_control.model_base import Strict
from eeon_tools.errors import InputError
from pydantic import TypeAdapter

from eeon_experiments import named_texts
from eeon_experiments.report.drawing import Drawing, Panel

FILE = "figures.yaml"


class Caption(Strict):
    """All of a figure but its name and its panels; `Drawing` explains each key."""

    title: str
    paper: str = ""
    caption: str = ""
    x_label: str = ""
    y_label: str = ""
    unit: str = "{:.2f}"
    share_y: bool = True
    scale: str = "linear"
    from_zero: bool = True
    cut: float | None = None
    panel_height: float = 2.9


class Figures:
    """The figures of the folder that a module is in: `figure = Figures(__file__)`. Raises InputError."""

    def __init__(self, module: str) -> None:
        self._path = Path(module).with_name(FILE)
        self._captions = named_texts.read(self._path, Caption, TypeAdapter(dict[str, Caption]))

    def names(self) -> set[str]:
        return set(self._captions)

    def __call__(self, name: str, panels: Sequence[Panel], **computed: str) -> Drawing:
        """Returns a figure; `computed` replaces texts of the file. Raises InputError for an unknown name."""
        if name not in self._captions:
            raise InputError(str(self._path), name, "is missing; it needs at least a title")
        return Drawing(name=name, panels=panels, **self._captions[name].model_dump() | computed)
