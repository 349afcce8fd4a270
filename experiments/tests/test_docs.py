"""docs/experiments.md and the experiments' README.md: generated parts are up to date, the example valid."""

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from eeon_control.reference import into
from eeon_experiments import columns, readme, shipped
from eeon_experiments.reference import reference
from made_experiments import points

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")


def test_the_reference_is_what_the_models_say():
    assert into(PAGE, reference()) == PAGE, "run `make reference`"


def test_the_readmes_are_what_the_experiments_data_say():
    pages = readme.pages()
    stale = [str(path) for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run `make reference`"


def test_a_wheel_carries_every_experiment_that_ships():
    project = tomllib.loads((shipped.folder() / "pyproject.toml").read_text(encoding="utf-8"))
    carried = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert carried == {name: f"eeon_experiments/_data/experiments/{name}" for name in shipped.names()}


def test_every_link_of_the_reference_has_its_table():
    made = reference()
    links = set(re.findall(r"\]\(#(\w+)\)", made))
    assert links <= {title.lower() for title in re.findall(r"^### (\w+)$", made, re.MULTILINE)}
    assert "| None |" not in made and not re.search(r"\bweight\b", made)


def test_the_example_is_legal_and_means_what_its_comments_say(tmp_path):
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert [(*point.axes.values(), point.run.seed) for point in points(tmp_path, example)] == [
        ("low", "dctcp", 1),
        ("high", "dctcp", 1),
        ("low", "ecn", 1),
        ("low", "ecn", 2),
        ("low", "ecn", 3),
    ]
    assert len(points(tmp_path, example, quick=True)) == 2


def test_columns_have_each_name_once_and_a_known_type_and_fit_the_axes_names():
    listed = (*columns.IDENTITY, *columns.MEASURED)
    names = [one.name for one in listed]
    assert len(names) == len(set(names))
    assert {one.type for one in listed} == set(get_args(columns.Type))
    assert not any(name.startswith(columns.AXIS) for name in names)
