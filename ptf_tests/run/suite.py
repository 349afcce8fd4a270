"""Runs the test cases with `ptf` against one target and closes with one line of counts. Not a target itself.

ptf is run as a program of its own, so that a test that wedges its threads cannot wedge the caller.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptf_tests.lib.compiled import COMPILED, OUTPUT

PTF_TESTS = Path(__file__).resolve().parent.parent
PROGRAM = COMPILED / "eeon.json"
P4INFO = COMPILED / "eeon.p4info.txtpb"

_RAN = re.compile(r"^Ran (\d+) tests? in ([\d.]+)s")
_SKIPPED = re.compile(r"^(?:OK|FAILED) \(.*?skipped=(\d+)")
_BAD = re.compile(r"^(FAIL|ERROR): (\S+)")


@dataclass(frozen=True)
class Request:
    """What to run."""

    cases: Sequence[str] = ()
    """Names of groups (files) or cases (`file.Class`), `^` before those to leave out; empty: all."""
    program: Path = PROGRAM
    p4info: Path = P4INFO
    output: Path | None = None
    """Folder for ptf's logs, one per case; default out/ptf/<target>."""


def run(target: str, request: Request, platform: Sequence[str], params: Mapping[str, object]) -> int:
    """Run the cases; return the exit status: 0 when all passed or were skipped, and there were any."""
    ptf = shutil.which("ptf", path=str(Path(sys.executable).parent)) or shutil.which("ptf")
    if ptf is None:
        print("ptf is not installed in this environment; `make setup` installs it", file=sys.stderr)
        return 1
    for path in (request.program, request.p4info):
        if not path.is_file():
            print(f"{path}: no such file; `make p4` compiles the program", file=sys.stderr)
            return 1
    output = (request.output or OUTPUT / target).resolve()
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("*.log"):
        old.unlink()
    # ptf's name for all cases is "standard"; it must be said where only exceptions are.
    cases = list(request.cases)
    if all(case.startswith("^") for case in cases):
        cases.insert(0, "standard")
    given = {"target": target, "program": str(request.program), "p4info": str(request.p4info), **params}
    command = [
        *(sys.executable, ptf, "--allow-user"),
        *("--test-dir", str(PTF_TESTS / "tests"), "--pypath", str(PTF_TESTS.parent)),
        *("--log-dir", str(output), "--debug", "info"),
        # Deep queues: PTF throws the oldest frame away when more wait than this.
        *("--qlen", "100000"),
        *("--random-seed", "1"),
        *("--test-params", ";".join(f"{key}={value!r}" for key, value in given.items())),
        *platform,
        *cases,
    ]
    started = time.monotonic()
    ran = skipped = 0
    # By name: a case may fail in several subtests, and once more in the checks that end it.
    bad: dict[str, str] = {}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=output, errors="replace"
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                print(line, end="", flush=True)
                if match := _RAN.match(line):
                    ran = int(match[1])
                elif match := _SKIPPED.match(line):
                    skipped = int(match[1])
                elif match := _BAD.match(line):
                    bad.setdefault(match[2], match[1])
        except BaseException:
            # Interrupted: ptf, which may ignore what interrupted this process, must not run on.
            process.kill()
            raise
    failed = sum(kind == "FAIL" for kind in bad.values())
    passed = max(0, ran - skipped - len(bad))
    print(
        f"ptf {target}: {ran} cases: {passed} passed, {failed} failed, {len(bad) - failed} errors,"
        f" {skipped} skipped in {time.monotonic() - started:.1f} s; logs in {output}"
    )
    if ran == 0:
        print("no case was run", file=sys.stderr)
        return process.returncode or 1
    return process.returncode
