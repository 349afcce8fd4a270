"""`Any` turns mypy off for what it touches, so it is rare, and each says why it must be. Likewise each
`type: ignore`, and each option by which a part's mypy would check less than strictly.

What counts: a line of a package that has the name `Any` in its syntax tree, once however often it has it;
imports do not count, and an alias counts where it is made. Tests, fuzz targets and benches do not belong to a
package. The reason is a comment on the line, or the comment that ends on the line above.
"""

from __future__ import annotations

import ast
import configparser
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = (
    "control_plane/eeon_control",
    "tools/eeon_tools",
    "experiments",
    "engine/python/eeon_engine",
    "differential",
    "ptf_tests",
)
NO_PACKAGE = {"experiments/tests", "differential/tests"}
LINES_AT_MOST = 59

_IGNORE = re.compile(r"type: ignore(\[[\w, -]+\])?")
# Of a comment, what tools read and people do not.
_FOR_TOOLS = re.compile(r"type: ignore(\[[\w, -]+\])?|noqa(: ?[\w, ]+)?|fmt: ?\w+|[#\s]")


def sources() -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            if not any(path.is_relative_to(REPOSITORY / folder) for folder in NO_PACKAGE):
                yield path


def lines_with_any(source: str) -> list[int]:
    """Lines that name `Any`: as it is, as `typing.Any`, or imported under another name."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id="Any") | ast.Attribute(value=ast.Name(id="typing"), attr="Any"):
                found.add(node.lineno)
            case ast.alias(name="Any", asname=str()):
                found.add(node.lineno)
    return sorted(found)


def comments(source: str) -> dict[int, str]:
    """By line, what comments say to people."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: _FOR_TOOLS.sub("", token.string) for token in tokens if token.type == tokenize.COMMENT
    }


def has_reason(line: int, said: dict[int, str], source: list[str]) -> bool:
    """Whether a comment on the line, or one that has the line above to itself, says something."""
    above = line - 1 if line > 1 and source[line - 2].lstrip().startswith("#") else 0
    return bool(said.get(line) or said.get(above))


def without_reason(source: str, lines: list[int]) -> list[int]:
    """Those of the lines that no comment explains."""
    said, text = comments(source), source.splitlines()
    return [line for line in lines if not has_reason(line, said, text)]


@pytest.mark.parametrize(
    ("source", "lines", "unexplained"),
    [
        ("from typing import Any\n", [], []),
        ("x: Any = 1\n", [1], [1]),
        ("def f(a: Any, b: list[Any]) -> int: ...\n", [1], [1]),
        ("x: typing.Any = 1  # the library has no types\n", [1], []),
        ("# the library has no types\nx: Any = 1\n", [2], []),
        ("y = 1  # of y\nx: Any = 1\n", [2], [2]),
        ("x: Any = f()  # type: ignore[misc]\n", [1], [1]),
        ("x: Any = f()  # type: ignore[misc] # f has no types\n", [1], []),
        ("from typing import Any as Whatever\n", [1], [1]),
        ('"""Any."""\n', [], []),
    ],
)
def test_a_line_counts_once_and_is_explained_by_a_comment(
    source: str, lines: list[int], unexplained: list[int]
) -> None:
    assert lines_with_any(source) == lines
    assert without_reason(source, lines) == unexplained


def test_packages_say_any_on_fewer_than_sixty_lines_and_each_says_why() -> None:
    counts: dict[str, int] = {}
    unexplained = []
    for path in sources():
        source, place = path.read_text(encoding="utf-8"), str(path.relative_to(REPOSITORY))
        found = lines_with_any(source)
        if found:
            counts[place] = len(found)
        unexplained += [f"{place}:{line}" for line in without_reason(source, found)]
    assert not unexplained, "Any without its reason, on the line or above it: " + ", ".join(unexplained)
    assert sum(counts.values()) <= LINES_AT_MOST, f"lines with Any by file: {counts}"


def test_each_ignored_error_is_named_and_explained() -> None:
    wrong = []
    for path in sources():
        source = path.read_text(encoding="utf-8")
        lines = [number for number, line in enumerate(source.splitlines(), 1) if _IGNORE.search(line)]
        unnamed = [n for n in lines if "type: ignore[" not in source.splitlines()[n - 1]]
        wrong += [f"{path}:{line}" for line in {*unnamed, *without_reason(source, lines)}]
    assert not wrong, "`type: ignore[code] # reason` is needed at " + ", ".join(sorted(wrong))


def mypy_settings() -> Iterator[tuple[str, str, dict[str, object]]]:
    """(file, section, settings) of every configuration of mypy."""
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


# What a part may say: where its sources are, and which libraries have no types, or some.
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
