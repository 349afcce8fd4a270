"""Runs the test cases with `ptf` on one target and ends with one line of counts. Not a target itself.

ptf runs as a separate program, so that a test that blocks its threads cannot block the caller.
"""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ptf_tests.lib.compiled import COMPILED, OUTPUT

PTF_TESTS = Path(__file__).resolve().parent.parent
PROGRAM = COMPILED / "eeon.json"
P4INFO = COMPILED / "eeon.p4info.txtpb"

_RAN = re.compile(r"^Ran (\d+) tests? in ([\d.]+)s")
_SKIPPED = re.compile(r"^(?:OK|FAILED) \(.*?skipped=(\d+)")
_UNKNOWN = re.compile(r"test-spec element (\S+) did not match")
_BAD = re.compile(r"^(FAIL|ERROR): (\S+)")


@dataclass(frozen=True)
class Request:
    """The cases to run, and how."""

    cases: Sequence[str] = ()
    """Names of groups (files) or cases (`file.Class`), with `^` before those to leave out; empty: all."""
    program: Path = PROGRAM
    p4info: Path = P4INFO
    output: Path | None = None
    """Folder for ptf's logs, with one for each case; default out/ptf/<target>."""
    workers: int = 1
    """Number of concurrent ptf processes; more than one only if each has its own target."""


def run(target: str, request: Request, platform: Sequence[str], params: Mapping[str, object]) -> int:
    """Runs the cases; returns the exit status: 0 if there were any and all passed or were skipped."""
    ptf = shutil.which("ptf", path=str(Path(sys.executable).parent)) or shutil.which("ptf")
    if ptf is None:
        return refused("ptf is not installed in this environment; `make setup` installs it")
    for path in (request.program, request.p4info):
        if not path.is_file():
            return refused(f"{path}: no such file; `make p4` compiles the program")
    output = (request.output or OUTPUT / target).resolve()
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return refused(f"{output}: no folder for logs: {error.strerror}; --output names another")
    for old in output.glob("*.log"):
        old.unlink()
    given = {"target": target, "program": str(request.program), "p4info": str(request.p4info), **params}
    command = [
        *(sys.executable, ptf, "--allow-user"),
        *("--test-dir", str(PTF_TESTS / "tests"), "--pypath", str(PTF_TESTS.parent)),
        *("--debug", "info"),
        # Deep queues: PTF discards the oldest frame if more are waiting.
        *("--qlen", "100000"),
        *("--random-seed", "1"),
        *("--test-params", ";".join(f"{key}={value!r}" for key, value in given.items())),
        *platform,
    ]
    if unknown := _unknown_exceptions(command, request, output):
        return refused(f"{', '.join(unknown)}: no such case; a case is a file of tests/, or file.Class")
    started = time.monotonic()
    if request.workers > 1 and params:
        return refused(f"{target}: --workers {request.workers}: the cases share one switch; leave it out")
    shares = _shares(request)
    # ptf clears its folder of logs when it starts: each process has its own until all have ended.
    folders = [output / f"worker{number}" for number in range(len(shares))]
    commands = [
        [*command, "--log-dir", str(folder), *cases] for folder, cases in zip(folders, shares, strict=True)
    ]
    running: list[subprocess.Popen[str]] = []
    with ThreadPoolExecutor(len(shares)) as pool:
        try:
            outcomes = list(pool.map(lambda words: _run_ptf(words, output, running), commands))
        except BaseException:
            # On an interrupt, ptf, which may ignore the signal, must not continue.
            for process in running:
                process.kill()
            raise
    for folder in folders:
        for log in folder.glob("*"):
            log.replace(output / log.name)
        shutil.rmtree(folder, ignore_errors=True)
    ran, skipped = sum(one.ran for one in outcomes), sum(one.skipped for one in outcomes)
    bad = {name: kind for one in outcomes for name, kind in one.bad.items()}
    failed = sum(kind == "FAIL" for kind in bad.values())
    passed = max(0, ran - skipped - len(bad))
    print(
        f"ptf {target}: {ran} cases: {passed} passed, {failed} failed, {len(bad) - failed} errors,"
        f" {skipped} skipped in {time.monotonic() - started:.1f} s; logs in {output}"
    )
    status = max(one.status for one in outcomes)
    if ran == 0:
        print("no case was run", file=sys.stderr)
        return status or 1
    return status


def refused(why: str) -> int:
    """Says why nothing is run; returns the exit status."""
    print(why, file=sys.stderr)
    return 1


@dataclass
class _Outcome:
    """The results of one ptf process."""

    ran: int = 0
    skipped: int = 0
    bad: dict[str, str] = field(default_factory=dict)
    """FAIL or ERROR by name: a case may fail in several subtests, and again in the checks at its end."""
    status: int = 0


def _unknown_exceptions(command: Sequence[str], request: Request, output: Path) -> list[str]:
    """Returns an exception that names no case, if there is one: ptf refuses only unknown cases to run."""
    left_out = [case.removeprefix("^") for case in request.cases if case.startswith("^")]
    if not left_out:
        return []
    words = [*command, "--list-test-names", *left_out]
    listed = subprocess.run(words, cwd=output, capture_output=True, text=True)
    return [f"^{name}" for name in _UNKNOWN.findall(listed.stderr)]


def _shares(request: Request) -> list[list[str]]:
    """Divides the cases among the workers. Groups are assigned by file size, the largest first."""
    wanted = [case for case in request.cases if not case.startswith("^")]
    left_out = [case for case in request.cases if case.startswith("^")]
    if request.workers == 1:
        # ptf's name for all cases is "standard", which is needed if only exceptions are given.
        return [[*(wanted or ["standard"]), *left_out]]
    files = {path.stem: path.stat().st_size for path in sorted((PTF_TESTS / "tests").glob("*.py"))}
    if not wanted:
        wanted = [name for name in files if f"^{name}" not in left_out]
    shares: list[list[str]] = [[] for _ in range(request.workers)]
    sizes = [0] * request.workers
    for case in sorted(wanted, key=lambda case: files.get(case, 0), reverse=True):
        lightest = sizes.index(min(sizes))
        shares[lightest].append(case)
        sizes[lightest] += files.get(case, 1)
    return [[*share, *left_out] for share in shares if share]


def _run_ptf(command: Sequence[str], output: Path, running: list[subprocess.Popen[str]]) -> _Outcome:
    """Runs ptf, shows its output, and counts. Adds the process to `running`."""
    outcome = _Outcome()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=output, errors="replace"
    ) as process:
        running.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if match := _RAN.match(line):
                outcome.ran = int(match[1])
            elif match := _SKIPPED.match(line):
                outcome.skipped = int(match[1])
            elif match := _BAD.match(line):
                outcome.bad.setdefault(match[2], match[1])
    outcome.status = process.returncode
    return outcome
