"""Packages, crates and the citation have one version, and dependencies on own parts pin it."""

import tomllib
from pathlib import Path
from typing import Any

import eeon_control

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = ("control_plane", "tools", "experiments", "ptf_tests", "release/eeon")


def project(folder: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]


def test_everything_has_the_version_of_the_engine():
    version = tomllib.loads((ROOT / "engine/Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert {folder: project(folder)["version"] for folder in PROJECTS} == dict.fromkeys(PROJECTS, version)
    assert eeon_control.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_changelog_has_a_section_of_at_most_80_lines_of_this_version():
    version = project("release/eeon")["version"]
    sections = (ROOT / "CHANGELOG.md").read_text().split("\n## ")
    [section] = [one for one in sections if one.partition("\n")[0].partition(",")[0] == version]
    assert len(section.splitlines()) <= 80


def test_a_part_is_pinned_to_the_version_of_all():
    version = project("release/eeon")["version"]
    needed = [
        one
        for read in map(project, PROJECTS)
        for group in (read["dependencies"], *read.get("optional-dependencies", {}).values())
        for one in group
        if one.startswith("eeon")
    ]
    assert len(needed) >= 12
    assert {one.partition("==")[2] for one in needed} == {version}
