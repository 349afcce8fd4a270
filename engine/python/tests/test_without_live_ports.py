"""The extension without live ports, as built on systems other than Linux.

This does not show whether it compiles there: `make lint` compiles it here without the feature `live-ports`.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

_LINUX_ALONE = {"port_io", "traffic"}


@pytest.mark.parametrize(
    ("target", "live"),
    [
        ("x86_64-unknown-linux-gnu", True),
        ("aarch64-unknown-linux-gnu", True),
        ("aarch64-apple-darwin", False),
        ("x86_64-apple-darwin", False),
    ],
)
def test_crates_of_live_ports_are_built_for_linux_alone(target, live):
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("cargo is not on PATH")
    manifest = Path(__file__).parents[1] / "Cargo.toml"
    tree = subprocess.run(
        [
            *(cargo, "tree", "--manifest-path", str(manifest), "--offline", "--edges", "normal"),
            *("--target", target, "--prefix", "none", "--format", "{p}"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    crates = {line.split()[0] for line in tree.stdout.splitlines() if line}
    assert "netsim" in crates
    assert crates & _LINUX_ALONE == (_LINUX_ALONE if live else set())
