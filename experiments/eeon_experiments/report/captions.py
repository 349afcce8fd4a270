"""An experiment's figures: `figures.yaml`, in the order of the page.

The panels of a figure are in the file, too (`plotted`), or figures.py computes them.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from eeon_tools.errors import InputError
from pydantic import Field, TypeAdapter

from eeon_experiments import named_texts
from eeon_experiments.report import plotted
from eeon_experiments.report.drawing import Drawing, Panel
from eeon_experiments.report.runs import Runs

FILE = "figures.yaml"
_ASKED = re.compile(r"\{(\w+)((?: \w+=[^ }]+)*)\}")


class Caption(plotted.Shared):
    """A figure; `Drawing` explains the keys that are not those of panels.

    A caption may be a list of sentences that ask for means, such as `{fct_p99_us queue=red}`, at the figure's
    point but for these values of axes; a sentence without its numbers is left out.
    """

    title: str
    paper: str = ""
    caption: str | list[str] = ""
    x_label: str = ""
    y_label: str = ""
    unit: str = Drawing.unit
    share_y: bool = Drawing.share_y
    scale: str = Drawing.scale
    from_zero: bool = Drawing.from_zero
    cut: float | None = Drawing.cut
    panel_height: float = Drawing.panel_height
    panels: list[plotted.PanelFile] = Field(default_factory=list)
    """By default one, if the figure has positions."""

    def panels_of_file(self) -> list[plotted.PanelFile]:
        """Returns the panels that the file has; none if figures.py computes them."""
        return self.panels or [plotted.PanelFile()] * bool(self.positions)

    def drawing(self, name: str, panels: Sequence[Panel], **computed: str) -> Drawing:
        """Returns the figure with its panels; `computed` replaces texts of the file."""
        said = {
            key: getattr(self, key) for key in Drawing.__dataclass_fields__ if key in type(self).model_fields
        }
        return Drawing(name=name, **said | {"panels": panels} | computed)

    def told(self, runs: Runs) -> str:
        """Returns the caption, with the numbers that it asks for."""
        if isinstance(self.caption, str):
            return self.caption
        told = [self._with_numbers(sentence, runs) for sentence in self.caption]
        return " ".join(one for one in told if one is not None)

    def _with_numbers(self, sentence: str, runs: Runs) -> str | None:
        parts = _ASKED.split(sentence)
        for at in range(1, len(parts), 3):
            axes = dict(axis.split("=") for axis in parts[at + 1].split())
            mean = plotted.Measure(number=parts[at]).at(runs, {**self.where, **axes}, {})
            if mean is None:
                return None
            spread = f" ({mean.low:.1f} to {mean.high:.1f})" if mean.seeds > 1 else ""
            parts[at : at + 2] = [f"{mean.mean:.1f}{spread}", ""]
        return "".join(parts)


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
        return self._captions[name].drawing(name, panels, **computed)

    @property
    def has_panels(self) -> bool:
        """Whether the file has panels of any figure."""
        return any(one.panels_of_file() for one in self._captions.values())

    def drawings(self, runs: Runs, numbers: plotted.Numbers, computed: Sequence[Drawing]) -> list[Drawing]:
        """Returns the figures whose panels are in the file, and the computed ones, in the file's order."""
        made = {one.name: one for one in computed}
        for name, one in self._captions.items():
            if given := one.panels_of_file():
                panels = plotted.panels(one, given, runs, numbers)
                made[name] = one.drawing(name, panels, caption=one.told(runs))
        listed = [made.pop(name) for name in self._captions if name in made]
        return [*listed, *made.values()]
