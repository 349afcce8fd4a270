"""mypy is strict for all Python here, and no option weakens it. ruff detects the rest: arguments and results
that are `Any` (ANN401), and ignored errors without a name (PGH003).
"""

import configparser
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = {
    "control_plane/eeon_control", "tools/eeon_tools", "experiments", "engine/python/eeon_engine",
    "differential", "ptf_tests",
}  # fmt: skip
# Where sources are, and which libraries have no types, or incomplete ones.
PERMITTED = {
    "strict", "files", "exclude", "python_version", "mypy_path", "explicit_package_bases",
    "untyped_calls_exclude", "ignore_missing_imports",
}  # fmt: skip


def test_mypy_is_strict_for_every_package_and_nothing_of_it_is_switched_off():
    parser = configparser.ConfigParser()
    parser.read(REPOSITORY / "mypy.ini", encoding="utf-8")
    settings = {key for section in parser.sections() for key in parser[section]}
    assert settings <= PERMITTED, "mypy's strict has settings beside it"
    assert parser["mypy"]["strict"] == "true"
    assert parser["mypy"]["exclude"] == "^(experiments|differential)/tests/"
    assert set(parser["mypy"]["files"].split(", ")) >= PACKAGES


def test_no_package_has_settings_of_mypy_of_its_own():
    projects = [*REPOSITORY.glob("*/pyproject.toml"), REPOSITORY / "engine/python/pyproject.toml"]
    assert [path for path in projects if "tool.mypy" in path.read_text(encoding="utf-8")] == []
    assert list(REPOSITORY.glob("*/mypy.ini")) == []
