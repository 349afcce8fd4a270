"""The interface between Rust and Python: the stub matches the extension."""

import ast
import subprocess
import sys
from pathlib import Path

import eeon_engine
import pytest
from eeon_engine import _engine, exceptions

PACKAGE = Path(eeon_engine.__file__).parent


def stub() -> dict[str, set[str]]:
    """Returns the names in the stub: classes with their members."""
    tree = ast.parse((PACKAGE / "_engine.pyi").read_text())
    return {
        node.name: {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def members(cls: type) -> set[str]:
    return {name for name in vars(cls) if not name.startswith("__") or name == "__new__"} - {"__doc__"}


def test_every_export_has_a_stub_and_every_stub_an_export() -> None:
    exported = {name: value for name, value in vars(_engine).items() if isinstance(value, type)}
    expected = stub()
    assert set(exported) == set(expected)
    for name, cls in exported.items():
        assert members(cls) | {"__new__"} == expected[name] | {"__new__"}, name


def test_every_export_is_part_of_the_package() -> None:
    for name in stub():
        assert getattr(eeon_engine, name) is getattr(_engine, name)
        assert name in eeon_engine.__all__


def test_every_exception_is_exported() -> None:
    for name, value in vars(exceptions).items():
        if isinstance(value, type) and issubclass(value, Exception):
            assert name in eeon_engine.__all__


def test_the_extension_raises_every_exception_that_has_none_below_it() -> None:
    classes = [value for value in vars(exceptions).values() if isinstance(value, type)]
    leaves = {cls.__name__ for cls in classes if issubclass(cls, Exception) and not cls.__subclasses__()}
    assert set(_engine.EXCEPTIONS) == leaves


def test_a_refused_control_call_tells_its_reason_and_bmv2s_name_of_it() -> None:
    for name in _engine.EXCEPTIONS:
        cls = getattr(exceptions, name)
        if issubclass(cls, exceptions.ControlError):
            refusal = cls("table t: 16 entries", "TABLE_FULL")
            assert (str(refusal), refusal.code) == ("table t: 16 entries", "TABLE_FULL")


@pytest.mark.system
def test_signatures_agree_with_the_stub() -> None:
    pytest.importorskip("mypy", reason="mypy is not installed; signatures of the stub are not checked")
    run = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "eeon_engine._engine", "--ignore-disjoint-bases"],
        capture_output=True,
        text=True,
        cwd=PACKAGE.parent,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
