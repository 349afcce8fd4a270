"""The conformance page names only tests that exist."""

import ast
import re
from pathlib import Path

from scripts import ALL

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "develop" / "conformance.md"


def names_in(area: str) -> set[str]:
    """Returns the tests of an area, with those that are cases of one, and the scripts."""
    file = HERE / f"test_p4rt_{area}.py"
    tree = ast.parse(file.read_text() if file.exists() else "")
    tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    tests |= {f"test_{node.value}" for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return tests | {script.name.replace(f"{area}::", "test_") for script in ALL}


def test_every_test_that_the_page_names_exists():
    named = re.findall(r"`(\w+)::(\w+)`", PAGE.read_text())
    # The page explains the form of names with `pipeline::name`.
    named = [pair for pair in named if pair != ("pipeline", "name")]
    missing = [f"{area}::{name}" for area, name in named if f"test_{name}" not in names_in(area)]
    assert missing == []


def test_every_row_names_a_test_or_says_why_not():
    met = PAGE.read_text().split("## Security")[1]
    rows = [line for line in met.splitlines() if line.startswith("| ") and "requirement |" not in line]
    assert [row for row in rows if "::" not in row] == []
    assert len(rows) > 80
