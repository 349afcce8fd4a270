"""Fixtures: the built wheels, and environments with them."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest
from fresh_environment import FROM_WHEELS, WHEELS, Fresh, cpu_seconds, variables


@pytest.fixture(scope="session")
def wheels() -> list[Path]:
    """Returns the wheels built by `make wheels`."""
    found = sorted(WHEELS.glob("*.whl"))
    assert found, f"{WHEELS}: no wheels; run `make test-wheels`"
    return found


@pytest.fixture(scope="session")
def fresh(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    """Returns an empty environment after `uv pip install eeon[ptf]` from the wheels, without a cache."""
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
            [*uv, *words], cwd=folder, env=variables(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    return Fresh(environment, folder, cpu_seconds() - started)


@pytest.fixture
def fresh_by_pip(wheels: list[Path], tmp_path: Path) -> Fresh:
    """Returns the same environment, made with pip."""
    del wheels
    started = cpu_seconds()
    venv.create(tmp_path / "venv", with_pip=True)
    one = Fresh(tmp_path / "venv", tmp_path, 0.0)
    done = one.run("pip", "install", "--quiet", "--disable-pip-version-check", *FROM_WHEELS)
    assert done.returncode == 0, done.stderr
    return Fresh(one.environment, tmp_path, cpu_seconds() - started)
