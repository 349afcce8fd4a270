"""Handlers of Thrift calls are typed by stubs, which are made of the .thrift files."""

import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PACKAGE))

import thrift_types  # noqa: E402 # it is a script beside the package


@pytest.mark.parametrize("name", thrift_types.NAMES)
def test_a_stub_in_the_repository_is_that_of_its_thrift_file(name: str) -> None:
    is_fresh = thrift_types.stub_path(name).read_text(encoding="utf-8") == thrift_types.stub(name)
    assert is_fresh, f"the stub is not of {name}.thrift: run `make reference` and commit both"


def test_every_thrift_file_has_a_stub() -> None:
    assert {path.stem for path in thrift_types.FOLDER.glob("*.thrift")} == set(thrift_types.NAMES)
