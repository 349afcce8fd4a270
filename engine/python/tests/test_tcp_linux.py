"""The crate tcp compared with Linux' TCP over a TUN device: `engine/tcp/examples/linux.py`, run as by a user.

Only results that do not depend on the machine's load are checked: both resend lost data once. Windows are
compared on a quiet machine; docs/models/tcp.md has the table.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

ROOT = Path(__file__).resolve().parents[3]
CARGO = ("cargo", "build", "--quiet", "--manifest-path", str(ROOT / "engine" / "Cargo.toml"))
NAMESPACE = ("unshare", "--net")


@pytest.fixture(scope="module")
def rows() -> list[list[str]]:
    """Returns the table's cells."""
    if os.geteuid() != 0 or shutil.which("unshare") is None or not Path("/dev/net/tun").exists():
        pytest.skip("needs root, `unshare` and /dev/net/tun")
    if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no network namespaces here")
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not on PATH: it builds the example `edge`")
    subprocess.run([*CARGO, "--example", "edge"], check=True)
    edge = ROOT / "engine" / "target" / "debug" / "examples" / "edge"
    script = ROOT / "engine" / "tcp" / "examples" / "linux.py"
    done = subprocess.run(
        [*NAMESPACE, sys.executable, str(script), str(edge)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:]]


@pytest.mark.nightly
def test_each_side_sends_again_what_was_lost_and_nothing_for_a_mark(rows):
    lost = {"none": 0, "20": 1, "20, 22, 23": 3, "30 to 39": 10, "the last": 1}
    for algorithm, case, marked, sender, _ms, again, _flights in rows:
        assert int(again) == lost[case], (algorithm, case, marked, sender)


def test_both_stacks_send_every_case(rows):
    cases = {sender: [row[:3] for row in rows if row[3] == sender] for sender in ("ours", "Linux")}
    assert cases["ours"] == cases["Linux"]
    assert len(cases["ours"]) >= 8
