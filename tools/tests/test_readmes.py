"""The examples in the READMEs of the Python packages run unchanged."""

import re
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples/own_program/router.json"
READMES = ("engine/python/README.md", "tools/README.md")


@pytest.mark.parametrize("readme", READMES)
def test_the_python_of_a_readme_runs(readme, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(PROGRAM, tmp_path)
    examples = re.findall(r"```python\n(.*?)```", (ROOT / readme).read_text(encoding="utf-8"), re.DOTALL)

    assert examples
    for example in examples:
        exec(compile(example, readme, "exec"), {})
