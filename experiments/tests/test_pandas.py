"""The lines of docs/experiments.md that read rows with pandas, and the extra that installs it."""

import re
import tomllib
from pathlib import Path

import made_runs
from eeon_experiments import store
from eeon_experiments.results import Row

ROOT = Path(__file__).resolve().parents[2]
[LINES] = re.findall(
    r"```python\n(import pandas\n.*?)```", (ROOT / "docs" / "experiments.md").read_text(), re.DOTALL
)


def test_the_pages_lines_give_a_mean_for_each_point(tmp_path, monkeypatch, capsys):
    [named] = re.findall(r'"(\S+)/rows.csv.xz"', LINES)
    (tmp_path / named).mkdir(parents=True)
    axes = {"buffer": "shallow", "queue": "mark_20"}
    rows = [
        Row(made_runs.row("threshold", seed, axes, runtime_seconds=runtime))
        for seed, runtime in ((1, 10.0), (2, 14.0))
    ]
    store.write_rows(tmp_path / named / store.ROWS, rows, list(axes))
    monkeypatch.chdir(tmp_path)
    exec(LINES, {})
    assert capsys.readouterr().out.splitlines()[-1].split() == ["shallow", "mark_20", "12.0", "10.0", "14.0"]


def test_every_extra_of_the_package_of_all_is_on_the_page_with_its_weight():
    package = tomllib.loads((ROOT / "release" / "eeon" / "pyproject.toml").read_text())
    page = (ROOT / "docs" / "run" / "install.md").read_text()
    extras = package["project"]["optional-dependencies"]
    assert "pandas" in extras
    assert not [
        name for name in extras if not re.search(rf"^\| `eeon\[{name}\]` \| \d+ \|", page, re.MULTILINE)
    ]
