"""Experiment files for tests: a valid one, for changes in one place, and `TEXTS` of single tests."""

from pathlib import Path

from eeon_experiments import files
from eeon_experiments.expand import Point, expand
from eeon_experiments.versions import Versions
from made_work import VERSIONS

from control_plane.tests.expected_rows import bases, value

TEXTS: dict[str, str] = value(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
TINY = bases(Path(__file__).parent / "expected" / "experiment.yaml")["tiny"]


def write(folder: Path, text: str = TINY) -> Path:
    path = folder / "experiment.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def points(
    folder: Path, text: str = TINY, *, quick: bool = False, versions: Versions = VERSIONS
) -> list[Point]:
    return expand(files.load(write(folder, text)), versions, quick=quick)
