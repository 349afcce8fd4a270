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
    unit: str = Drawing.unit
    share_y: bool = Drawing.share_y
    scale: str = Drawing.scale
    from_zero: bool = Drawing.from_zero
    cut: float | None = Drawing.cut
    panel_height: float = Drawing.panel_height


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
