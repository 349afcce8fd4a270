#!/usr/bin/env python3
"""Breaks one rule of the P4 program at a time; the named test must fail. `make mutants` calls it.

    p4src/tests/mutants.py             every mutant of mutants.toml
    p4src/tests/mutants.py --quick     one for each property
    p4src/tests/mutants.py TEXT ...    those with TEXT in their name or rule
    p4src/tests/mutants.py --markdown  the result as a table

Each mutant is a copy of p4src/ with one text replaced, compiled with p4c-bm2-ss; the engine's tests run it
because EEON_PROGRAM names it, and cases of ptf_tests/ get it as an option. Every named test must pass on the
unchanged program, and fail on its mutant, with each of several fixed seeds if it is random. Needs p4c-bm2-ss
and cargo on PATH; without them it runs nothing, and says so. It does not detect whether a test fails for the
right reason.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

P4SRC = Path(__file__).resolve().parents[1]
REPOSITORY = P4SRC.parent
LIST = Path(__file__).with_name("mutants.toml")
COMMITTED = P4SRC / "compiled" / "eeon.json"
PTF_ENGINE = REPOSITORY / "ptf_tests" / "run" / "engine.py"
COMPILER = "p4c-bm2-ss"

# Targets in mutants.toml, and their tests: package, module of its test target `it`.
TARGETS = {
    "switch": ("simple_switch", "properties"),
    "hold": ("simple_switch", "hold_exhaustive"),
    "eeon": ("simple_switch", "eeon"),
    "fabric": ("netsim", "properties"),
}

# The other target: cases of ptf_tests/ on the engine, as file.Class. Needs eeon_engine and ptf.
PTF = "ptf"

# Targets with random cases; all runs of the others are equal. Each seed must detect the mutant.
RANDOM_TARGETS = ("switch", "fabric")
SEEDS = ("1", "2", "3")
CASES = 400
# `make test` also shows that tests pass on the unchanged program.
UNBROKEN_CASES = 24
TIMEOUT_SECONDS = 600


class MutantError(Exception):
    """The list is wrong, or the mutants cannot be run. The message says what to do."""


@dataclass(frozen=True)
class Mutant:
    """One broken rule; the fields are those of mutants.toml."""

    name: str
    rule: str
    file: str
    old: str
    new: str
    test: str
    quick: bool = False

    def apply(self, p4src: Path) -> None:
        """Breaks the rule in the copy at `p4src`."""
        path = p4src / self.file
        source = path.read_text(encoding="utf-8")
        found = source.count(self.old)
        if found != 1:
            raise MutantError(
                f"{LIST.name}: mutant {self.name!r}: `old` is {found} times in {self.file}, must be once"
            )
        path.write_text(source.replace(self.old, self.new), encoding="utf-8")


def load(path: Path = LIST) -> list[Mutant]:
    """Returns the list, checked as far as possible without a compiler."""
    mutants = [Mutant(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]]
    names = [mutant.name for mutant in mutants]
    for mutant in mutants:
        target, _, test = mutant.test.partition("::")
        if target not in (*TARGETS, PTF) or not test:
            raise MutantError(
                f"{path.name}: mutant {mutant.name!r}: test {mutant.test!r} is not target::test "
                f"with a target of {', '.join((*TARGETS, PTF))}"
            )
        if names.count(mutant.name) > 1:
            raise MutantError(f"{path.name}: two mutants are named {mutant.name!r}")
    return mutants


def missing_tools() -> list[str]:
    """Returns the required programs that are not on PATH."""
    return [tool for tool in (COMPILER, "cargo") if shutil.which(tool) is None]


def _run(
    command: Sequence[str], timeout: int | None = TIMEOUT_SECONDS, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=env, check=False)


def build_tests(targets: Iterable[str]) -> dict[str, Path]:
    """Returns the targets' test programs by package, built once, as in `make test-rust`."""
    wanted = {TARGETS[target][0] for target in targets if target != PTF}
    if not wanted:
        return {}
    command = ["cargo", "test", "--quiet", "--no-run", "--message-format", "json"]
    command += ["--manifest-path", str(REPOSITORY / "engine" / "Cargo.toml"), "--test", "it"]
    run = _run(command, timeout=None)
    if run.returncode != 0:
        raise MutantError(f"the engine's tests do not build:\n{run.stderr}")
    programs: dict[str, Path] = {}
    for line in run.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable"):
            programs[Path(message["manifest_path"]).parent.name] = Path(message["executable"])
    return programs


def compile_mutant(mutant: Mutant, scratch: Path) -> Path:
    """Returns the mutant's BMv2 JSON."""
    p4src = scratch / "p4src"
    shutil.copytree(P4SRC, p4src, ignore=shutil.ignore_patterns("compiled", "tests", "__pycache__"))
    mutant.apply(p4src)
    output = scratch / "mutant.json"
    run = _run([COMPILER, "-o", str(output), str(p4src / "eeon.p4")])
    if run.returncode != 0:
        raise MutantError(f"mutant {mutant.name!r} does not compile:\n{run.stdout}{run.stderr}")
    return output


def passes(executable: Path, test: str, program: Path, seed: str, cases: int) -> bool:
    """Returns whether the test passes on a program. Raises MutantError if it does not run."""
    environment = os.environ | {
        "EEON_PROGRAM": str(program),
        "PROPTEST_CASES": str(cases),
        "PROPTEST_RNG_SEED": seed,
        "RUST_BACKTRACE": "0",
    }
    run = _run([str(executable), "--exact", test], env=environment)
    said = run.stdout + run.stderr
    if "running 1 test" not in said:
        raise MutantError(f"unknown test {test}, which {LIST.name} names:\n{said}")
    if str(program) in said:
        raise MutantError(f"the engine does not load the mutant:\n{said}")
    return run.returncode == 0


def passes_ptf(case: str, program: Path) -> bool:
    """Returns whether a case of ptf_tests/ passes on a program. Raises MutantError if it does not run."""
    with tempfile.TemporaryDirectory(prefix="eeon-mutant-ptf-") as output:
        run = _run([sys.executable, str(PTF_ENGINE), "--program", str(program), "--output", output, case])
        log = "".join(path.read_text(errors="replace") for path in Path(output).rglob("*.log"))
    said = run.stdout + run.stderr
    if "ptf engine: 1 cases: " not in said:
        raise MutantError(f"{case} does not run:\n{said}")
    if "p4_device_config" in said + log:
        raise MutantError(f"the engine does not load the mutant:\n{log}")
    return run.returncode == 0


def run_test(
    name: str, programs: dict[str, Path], program: Path, seed: str = SEEDS[0], cases: int = CASES
) -> bool:
    """Returns whether target::test passes on a program."""
    target, test = name.split("::", 1)
    if target == PTF:
        return passes_ptf(test, program)
    package, module = TARGETS[target]
    return passes(programs[package], f"{module}::{test}", program, seed, cases)


def run_mutant(mutant: Mutant, programs: dict[str, Path]) -> list[bool]:
    """Compiles one mutant and runs its test, with every seed if the test is random. Returns which runs
    detected it."""
    target, _ = mutant.test.split("::", 1)
    seeds = SEEDS if target in RANDOM_TARGETS else SEEDS[:1]
    with tempfile.TemporaryDirectory(prefix="eeon-mutant-") as scratch:
        program = compile_mutant(mutant, Path(scratch))
        return [not run_test(mutant.test, programs, program, seed) for seed in seeds]


def chosen(mutants: list[Mutant], quick: bool, texts: Sequence[str]) -> list[Mutant]:
    """Returns the mutants that the command line selects. Raises MutantError for a text that none has."""
    if quick:
        mutants = [mutant for mutant in mutants if mutant.quick]
    for text in texts:
        if not any(text in one.name or text in one.rule for one in mutants):
            kind = "quick mutant" if quick else "mutant"
            raise MutantError(f"no {kind} has {text} in its name or rule; {LIST.name} lists them")
    return [m for m in mutants if not texts or any(text in m.name or text in m.rule for text in texts)]


def main() -> int:
    """Returns the exit status. 0: all caught, or skipped. 1: a mutant was not caught, or another failure."""
    parser = argparse.ArgumentParser(description="Break the P4 program, and see the named tests fail.")
    parser.add_argument("text", nargs="*", help="run mutants with this in their name or rule")
    parser.add_argument("--quick", action="store_true", help="one mutant for each property")
    parser.add_argument("--markdown", action="store_true", help="print the result as a Markdown table")
    arguments = parser.parse_args()
    if missing := missing_tools():
        print(f"mutants: skipped, because {' and '.join(missing)} is not on PATH")
        return 0
    try:
        mutants = chosen(load(), arguments.quick, arguments.text)
        programs = build_tests(mutant.test.split("::", 1)[0] for mutant in mutants)
        tests = sorted({mutant.test for mutant in mutants})
        if wrong := [one for one in tests if not run_test(one, programs, COMMITTED, cases=UNBROKEN_CASES)]:
            raise MutantError(f"fails on the program as it is: {', '.join(wrong)}")
        caught = 0
        table = ["| rule | broken so that | caught by |", "|---|---|---|"]
        for mutant in mutants:
            failed = run_mutant(mutant, programs)
            caught += all(failed)
            said = "caught" if all(failed) else f"NOT CAUGHT: failed {sum(failed)} of {len(failed)} times"
            line = f"{said:8}  {mutant.rule:28}  {mutant.name}  ->  {mutant.test}"
            print(line, file=sys.stderr if arguments.markdown else sys.stdout, flush=True)
            by = f"`{mutant.test}`" if all(failed) else "**nothing**"
            table.append(f"| {mutant.rule} | {mutant.name} | {by} |")
    except MutantError as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 1
    if arguments.markdown:
        print("\n".join(table))
    print(f"{caught} of {len(mutants)} mutants caught", file=sys.stderr)
    return 0 if caught == len(mutants) else 1


if __name__ == "__main__":
    raise SystemExit(main())
