"""The program without its optional parts: `p4c-bm2-ss -DEEON_CORE`. Needs p4c-bm2-ss.

Beyond the named packet tests, it does not detect whether a remaining part needs a removed one at run time.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from finsy import P4Schema

pytestmark = pytest.mark.system

REPOSITORY = Path(__file__).resolve().parents[2]
PTF_ENGINE = REPOSITORY / "ptf_tests" / "run" / "engine.py"
WHOLE = REPOSITORY / "p4src" / "compiled" / "eeon.p4info.txtpb"
# The core functions: routes, buffers, marks, sleeping links, lossless classes.
CASES = (
    "forwarding",
    "buffer.BufferHoldsExactlyItsLimit",
    "mark_threshold",
    "eee",
    "pfc",
    "pfc_sent.GroupThatIsFullBelowXoffPausesItsNeighbour",
)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Returns the compiled program and its P4Info."""
    p4c = shutil.which("p4c-bm2-ss")
    if p4c is None:
        pytest.skip("p4c-bm2-ss is not on PATH")
    folder = tmp_path_factory.mktemp("core")
    program, p4info = folder / "core.json", folder / "core.p4info.txtpb"
    command = [p4c, "-DEEON_CORE", "-o", str(program), "--p4runtime-files", str(p4info), "p4src/eeon.p4"]
    said = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stderr
    warnings = [line for line in said.splitlines() if "warning:" in line]
    assert all("(due to action profiles)" in line for line in warnings), said
    return program, p4info


def test_what_it_leaves_out_is_congestion_notification_and_the_buffers_of_simulators(core):
    whole, left = (P4Schema(path).p4info for path in (WHOLE, core[1]))

    def names(kind: str) -> set[str]:
        return {one.preamble.alias for one in getattr(whole, kind)} - {
            one.preamble.alias for one in getattr(left, kind)
        }

    assert names("tables") == {"port_qcn", "port_cnm", "cnm_queue", "cnm_source"}
    assert names("registers") == {"qcn_sample_left", "qcn_old_bytes", "outside_bytes"}
    assert {"set_buffer_limit_in_packets", "set_buffer_limit_beside_held"} < names("actions")


@pytest.mark.nightly
def test_what_stays_routes_marks_pauses_and_holds_as_the_whole_program_does(core, tmp_path):
    program, p4info = (str(path) for path in core)
    options = ["--program", program, "--p4info", p4info, "--output", str(tmp_path)]
    run = subprocess.run(
        [sys.executable, str(PTF_ENGINE), *options, *CASES], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
