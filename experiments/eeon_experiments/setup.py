"""`setup.yaml` in an experiment's folder: the set-up taken from a paper, and the assumptions beyond it.

The experiment's README.md (`readme`) and its part of the report (`report.document`) are made from it. A value
in the experiment's file is referenced by its key (`settings`), so that it is written only once.
"""

from collections.abc import Sequence
from pathlib import Path

from eeon_control.errors import InputError, Problem
from eeon_control.model_base import Strict
from eeon_control.sources import Document, KeyPath, read_yaml
from eeon_control.validation import checked
from pydantic import Field

from eeon_experiments import shipped

FILE = "setup.yaml"
_KEYS_SHOWN = 2


class Entry(Strict):
    """One setting of the set-up, or one assumption. Texts are plain, code between backquotes."""

    what: str
    """The setting or the assumption, in a few words."""
    value: str = ""
    """Its value."""
    settings: list[str] = Field(default_factory=list)
    """Instead of `value`: keys below `base` of the experiment's file, such as `tcp.min_rto`, with their
    values there."""
    source: str = ""
    """The source of the value."""
    text: str = ""
    """The reason, and further remarks."""

    def sentence(self) -> str:
        """Returns the whole entry as running text."""
        source = f" ({self.source})" if self.source else ""
        parts = [f"{self.what[:1].upper()}{self.what[1:]}: {self.value}{source}.", self.text]
        return " ".join(part for part in parts if part)


class Setup(Strict):
    """The content of `setup.yaml`."""

    summary: str = ""
    """The experiment in one line, for the list of experiments."""
    about: list[str] = Field(default_factory=list)
    """Paragraphs about its purpose."""
    questions: list[str] = Field(default_factory=list)
    """Its questions, if no paper's claims state them."""
    full: str = ""
    """The size of the full form, in a few words."""
    quick: str = ""
    """The size of the quick form."""
    setup: list[Entry] = Field(default_factory=list)
    """The set-up from the paper."""
    notes: list[str] = Field(default_factory=list)
    """Paragraphs that belong to the set-up: its terms, points that were not run."""
    short: str = ""
    """The runs that are not longer than ten of their longest timer, and the consequences for the numbers. A
    test requires it if there are such runs, with each of their timers in it."""
    assumed: str = ""
    """A paragraph before the assumptions."""
    assumptions: list[Entry] = Field(default_factory=list)
    """The assumptions beyond the paper."""

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Returns the set-up as a head and rows: name, value, source."""
        return ("what", "value", "source"), [(one.what, one.value, one.source) for one in self.setup]


def load(folder: Path, experiment: Document | None = None) -> Setup:
    """Returns the set-up of the experiment in a folder, with values filled in; empty without a file.
    `experiment`: its file, if it has been read.

    Raises InputError for unknown keys, and for settings that the experiment's file does not have.
    """
    path = folder / FILE
    if not path.is_file():
        return Setup()
    document = read_yaml(path)
    found = checked(document, Setup)
    base = experiment or read_yaml(folder / shipped.FILE)
    problems: list[Problem] = []
    filled = {
        part: [_filled(one, base, document, (part, index), problems) for index, one in enumerate(entries)]
        for part, entries in (("setup", found.setup), ("assumptions", found.assumptions))
    }
    if problems:
        raise InputError(problems)
    return found.model_copy(update=filled)


def _filled(
    entry: Entry, base: Document, document: Document, place: KeyPath, problems: list[Problem]
) -> Entry:
    """Returns the entry with the values of its settings as its value."""
    if bool(entry.value) == bool(entry.settings):
        problems.append(document.problem(place, "needs either `value` or `settings`", entry.what))
        return entry
    values = []
    for index, key in enumerate(entry.settings):
        path: KeyPath = ("base", *key.split("."))
        if not base.has(path):
            rule = f"{shipped.FILE} has no such key below `base`"
            problems.append(document.problem((*place, "settings", index), rule, key))
        values.append(f"`{'.'.join(key.split('.')[-_KEYS_SHOWN:])}: {_shown(base.get(path))}`")
    return entry.model_copy(update={"value": ", ".join(values)}) if values else entry


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
