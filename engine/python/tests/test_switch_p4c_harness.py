"""p4c's own test harness for BMv2, unmodified, with our `simple_switch` on PATH.

P4C_TESTDATA names the folder testdata of a p4c source tree, as for `make stf`; p4c-bm2-ss must be on
PATH, or the tests are skipped. `make stf` runs all of them, without processes.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from eeon_engine.switch_command import names

pytestmark = pytest.mark.system

# Constant entries, a register, and multicast with clone sessions, resubmit and recirculate, on several ports.
PROGRAMS = ["table-entries-ternary-bmv2", "issue1097-2-bmv2", "v1model-special-ops-bmv2"]


@pytest.fixture(scope="module")
def testdata() -> Path:
    folder = os.environ.get("P4C_TESTDATA")
    if not folder:
        pytest.skip("P4C_TESTDATA names no testdata folder of p4c")
    if shutil.which("p4c-bm2-ss") is None:
        pytest.skip("p4c-bm2-ss is not on PATH")
    pytest.importorskip("ply", reason="p4c's harness needs ply")
    pytest.importorskip("ptf", reason="p4c's harness needs ptf")
    return Path(folder)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_p4c_passes_in_its_own_harness(program, testdata, tmp_path):
    names.install(tmp_path / "bin")
    compiler = shutil.which("p4c-bm2-ss")
    assert compiler is not None
    # The harness searches the compiler and its configuration in the current folder.
    (tmp_path / "p4c-bm2-ss").symlink_to(compiler)
    (tmp_path / "config.h").write_text("#define HAVE_SIMPLE_SWITCH 1\n")
    root = testdata.parent
    # Ours comes first; simple_switch_CLI is in this environment.
    path = f"{tmp_path / 'bin'}:{sysconfig.get_path('scripts')}:{os.environ['PATH']}"
    source = testdata / "p4_16_samples" / f"{program}.p4"
    harness = [sys.executable, str(root / "backends" / "bmv2" / "run-bmv2-test.py"), str(root)]
    run = subprocess.run(
        [*harness, "-td", ".", "-bd", ".", str(source)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Calling target program-options parser" in run.stdout, "ours has run"
