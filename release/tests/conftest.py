"""Wheels, and an environment that has nothing but them and what registries have."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WHEELS = ROOT / "out" / "wheels"
FROM_WHEELS = ("--find-links", str(WHEELS), "--constraint", str(ROOT / "constraints.txt"), "eeon[ptf]")


@dataclass(frozen=True)
class Fresh:
    """An environment without this repository, and a folder to be in."""

    environment: Path
    folder: Path
    install_cpu_seconds: float

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of the environment, with neither a compiler nor the repository in reach."""
        return subprocess.run(
            [str(self.environment / "bin" / words[0]), *words[1:]],
            cwd=self.folder, env=_variables(), capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip


def cpu_seconds() -> float:
    """Processor time of all children that have ended, seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _variables() -> dict[str, str]:
    """What a stranger's shell has; how pip and uv reach their registry is this machine's business."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PIP_", "UV_", "SSL_", "http", "HTTP"))
    }
    return {
        **kept,
        "PATH": "/usr/bin:/bin",
        "HOME": os.environ.get("HOME", "/"),
        "LANG": "C.UTF-8",
        "COLUMNS": "140",
    }


@pytest.fixture(scope="session")
def wheels() -> list[Path]:
    """What `make wheels` has built."""
    found = sorted(WHEELS.glob("*.whl"))
    assert found, f"{WHEELS}: no wheels; run `make test-wheels`"
    return found


@pytest.fixture(scope="session")
def fresh(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    """`uv pip install eeon[ptf]` from the wheels, in an empty environment and with nothing in uv's cache."""
    del wheels
    folder = tmp_path_factory.mktemp("fresh")
    environment = folder / "venv"
    uv = [str(Path(sys.executable).with_name("uv")), "--quiet", "--cache-dir", str(folder / "cache")]
    started = cpu_seconds()
    for words in (
        ["venv", "--python", sys.executable, str(environment)],
        ["pip", "install", "--python", str(environment / "bin" / "python"), *FROM_WHEELS],
    ):
        done = subprocess.run(
            [*uv, *words], cwd=folder, env=_variables(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    return Fresh(environment, folder, cpu_seconds() - started)


@pytest.fixture
def fresh_by_pip(wheels: list[Path], tmp_path: Path) -> Fresh:
    """The same by pip."""
    del wheels
    started = cpu_seconds()
    venv.create(tmp_path / "venv", with_pip=True)
    one = Fresh(tmp_path / "venv", tmp_path, 0.0)
    done = one.run("pip", "install", "--quiet", "--disable-pip-version-check", *FROM_WHEELS)
    assert done.returncode == 0, done.stderr
    return Fresh(one.environment, tmp_path, cpu_seconds() - started)
