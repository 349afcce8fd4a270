"""The interface between Rust and Python: the stub matches the extension."""

import subprocess
import sys
from pathlib import Path

import eeon_engine
import pytest
from eeon_engine import _engine, exceptions

PACKAGE = Path(eeon_engine.__file__).parent


def test_every_export_is_part_of_the_package() -> None:
    for name, value in vars(_engine).items():
        if isinstance(value, type):
            assert getattr(eeon_engine, name) is value
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
