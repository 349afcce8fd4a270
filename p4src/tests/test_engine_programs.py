"""The engine's test programs belong to their sources, and the check detects any that do not."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ENGINE = Path(__file__).resolve().parents[2] / "engine"


@pytest.fixture(scope="module")
def programs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("engine_test_programs", ENGINE / "test_programs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copy(programs: ModuleType, tmp_path: Path) -> Any:
    """Returns a copy of the constructs' folder, for a test to damage."""
    folder = next(folder for folder in programs.FOLDERS if folder.with_scripts)
    shutil.copytree(folder.path, tmp_path / "constructs")
    return replace(folder, path=tmp_path / "constructs")


def test_every_folder_with_a_program_is_compiled_and_fresh(programs: ModuleType) -> None:
    sources = [*ENGINE.glob("*/tests/**/*.p4"), *ENGINE.parent.glob("examples/*/*.p4")]
    with_programs = {path.parent for path in sources}
    assert {folder.path for folder in programs.FOLDERS} == with_programs
    for folder in programs.FOLDERS:
        assert programs.check(folder) == []


def test_what_is_changed_new_or_gone_is_named(programs: ModuleType, copy: Any) -> None:
    assert programs.check(copy) == []
    (copy.path / "frame.h").write_text("// changed\n")
    (copy.path / "clone.json").write_text("{}\n")
    (copy.path / "random.json").unlink()
    (copy.path / "unheard_of.p4").write_text("")
    named = [sentence.split(" ")[0].rsplit("/", 1)[1] for sentence in programs.check(copy)]
    assert named == ["clone.json", "frame.h", "random.json", "unheard_of.p4", "unheard_of.p4"]


def test_other_options_are_named(programs: ModuleType, copy: Any) -> None:
    (sentence,) = programs.check(replace(copy, options=("--emit-externs",)))
    assert "other options" in sentence
