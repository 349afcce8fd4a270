"""mypy is strict in every package, and no option weakens it. ruff detects the rest: arguments and results
that are `Any` (ANN401), and ignored errors without a name (PGH003).
"""

from __future__ import annotations

import configparser
import tomllib
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = (
    "control_plane/eeon_control",
    "tools/eeon_tools",
    "experiments",
    "engine/python/eeon_engine",
    "differential",
    "ptf_tests",
)


def mypy_settings() -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yields (file, section, settings) of every configuration of mypy."""
    for path in [*sorted(REPOSITORY.glob("*/pyproject.toml")), REPOSITORY / "engine/python/pyproject.toml"]:
        tools = tomllib.loads(path.read_text(encoding="utf-8"))["tool"]
        if "mypy" not in tools:
            assert (path.parent / "mypy.ini").exists(), f"{path}: no settings of mypy, no mypy.ini"
            continue
        whole = dict(tools["mypy"])
        overrides = whole.pop("overrides", [])
        yield str(path), "mypy", whole
        for override in overrides:
            yield str(path), str(override["module"]), override
    for path in sorted(REPOSITORY.glob("*/mypy.ini")):
        parser = configparser.ConfigParser()
        parser.read(path, encoding="utf-8")
        for section in parser.sections():
            yield str(path), section, dict(parser[section])


# Permitted settings of a part: where its sources are, and which libraries have no types, or incomplete ones.
PERMITTED = {
    "strict", "files", "packages", "python_version", "mypy_path", "explicit_package_bases", "module",
    "untyped_calls_exclude", "ignore_missing_imports", "follow_imports", "cache_dir",
}  # fmt: skip


def test_mypy_is_strict_for_every_package_and_nothing_of_it_is_switched_off() -> None:
    strict = []
    for file, section, settings in mypy_settings():
        assert not settings.keys() - PERMITTED, f"{file}, {section}: mypy's strict has settings beside it"
        if section == "mypy":
            assert settings.get("strict") in (True, "true"), f"{file}: mypy is not strict"
            strict.append(Path(file).parent)
    for package in PACKAGES:
        assert any((REPOSITORY / package).is_relative_to(part) for part in strict), f"{package}: no mypy"
