"""The list of mutants, and one of them with the test that fails for it. `make mutants` runs all.

Does not detect whether the list is complete.
"""

import re
from pathlib import Path

import mutants
import pytest

QUICK = [mutant for mutant in mutants.load() if mutant.quick]
# One shows that the harness detects a broken rule; `make nightly` runs all of them.
SHOWN = QUICK[:1]

needs_tools = pytest.mark.skipif(
    bool(mutants.missing_tools()), reason=f"not on PATH: {' and '.join(mutants.missing_tools())}"
)


@pytest.fixture(scope="module")
def programs() -> dict[str, Path]:
    return mutants.build_tests(mutant.test.split("::", 1)[0] for mutant in SHOWN)


def test_quick_mutants_break_each_property_once():
    assert [mutant.rule for mutant in QUICK] == [f"2.5 ({number})" for number in range(1, 7)]


def test_each_mutant_changes_the_source_as_it_is_now(tmp_path):
    for number, mutant in enumerate(mutants.load()):
        copy = tmp_path / str(number) / mutant.file
        copy.parent.mkdir(parents=True)
        copy.write_text((mutants.P4SRC / mutant.file).read_text(encoding="utf-8"), encoding="utf-8")
        mutant.apply(tmp_path / str(number))


def test_mutant_of_text_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "a.p4").write_text("b c c", encoding="utf-8")
    for old, times in [("a", 0), ("c", 2)]:
        mutant = mutants.Mutant("broken", "2.1", "a.p4", old, "d", "switch::test")
        with pytest.raises(mutants.MutantError, match=f"'broken': `old` is {times} times in a.p4"):
            mutant.apply(tmp_path)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["martains"], "no mutant has martains in its name or rule"),
        (["--quick", "link-local"], "no quick mutant has link-local in its name or rule"),
    ],
)
def test_text_that_no_mutant_has_is_told(monkeypatch, capsys, words, told):
    monkeypatch.setattr(mutants, "missing_tools", list)
    monkeypatch.setattr("sys.argv", ["mutants.py", *words])
    assert mutants.main() == 1
    assert told in capsys.readouterr().err


def test_each_test_that_catches_mutants_is_there():
    def source(package: str, name: str) -> str:
        tests = mutants.REPOSITORY / "engine" / package / "tests" / "it"
        return "".join(
            path.read_text(encoding="utf-8")
            for path in [*tests.glob(f"{name}.rs"), *tests.glob(f"{name}/*.rs")]
        )

    sources = {target: source(*cargo) for target, cargo in mutants.TARGETS.items()}
    for mutant in mutants.load():
        target, test = mutant.test.split("::", 1)
        if target == mutants.PTF:
            file, _, case = test.partition(".")
            cases = (mutants.REPOSITORY / "ptf_tests" / "tests" / f"{file}.py").read_text(encoding="utf-8")
            # A class, or a row of a table of cases.
            assert re.search(rf'^class {case}\(|^    "{case}": ', cases, re.MULTILINE), (
                f"{mutant.name}: no case {mutant.test}"
            )
            continue
        assert re.search(rf"\bfn {test}\(", sources[target]), f"{mutant.name}: no test {mutant.test}"


@pytest.mark.system
@needs_tools
@pytest.mark.parametrize("mutant", SHOWN, ids=lambda mutant: mutant.name)
def test_property_fails_where_its_rule_is_broken(mutant, programs):
    assert all(mutants.run_mutant(mutant, programs))
