"""`make lint`'s check for known vulnerabilities: some, none, or not checked, which is not called none."""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.system

audit = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / ".ci" / "audit.py")))


def printing(text: str) -> list[str]:
    return [sys.executable, "-c", f"print({text!r})"]


def test_vulnerable_crate_is_named_with_its_advisory():
    report = (
        '{"vulnerabilities": {"list": [{"package": {"name": "a", "version": "1.0"}, '
        '"advisory": {"id": "RUSTSEC-2020-0001", "title": "bad"}}]}}'
    )
    assert audit.check(printing(report), audit.of_cargo) == ["a 1.0: RUSTSEC-2020-0001 bad"]


def test_vulnerable_package_is_named_also_when_others_were_skipped():
    report = (
        '{"dependencies": [{"name": "b", "skip_reason": "not found"}, '
        '{"name": "c", "version": "2", "vulns": [{"id": "PYSEC-1"}]}]}'
    )
    assert audit.check(printing(report), audit.of_pip) == ["c 2: PYSEC-1"]


def test_database_that_answers_about_nothing_is_not_a_clean_bill():
    with pytest.raises(audit.NotChecked, match="answered about no package"):
        audit.check(printing('{"dependencies": [{"name": "b", "skip_reason": "not found"}]}'), audit.of_pip)


def test_tool_that_cannot_reach_its_database_is_quoted():
    fails = [sys.executable, "-c", "import sys; sys.exit('error: could not resolve host')"]
    with pytest.raises(audit.NotChecked, match="no report: error: could not resolve host"):
        audit.check(fails, audit.of_cargo)
