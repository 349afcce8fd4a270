"""The command `eeon` in this process or at a terminal, and options for its switches."""

import contextlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner, Result
from eeon_control.cli import main


def eeon(*arguments: str, code: int | None = None, columns: int = 200) -> Result:
    """Returns the output of the command on a terminal of this width. Raises internal errors. `code` is the
    expected exit code, if it matters."""
    result = CliRunner().invoke(main, list(arguments), prog_name="eeon", env={"COLUMNS": str(columns)})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code is None or result.exit_code == code, result.output
    return result


def at_terminal(
    *arguments: str, columns: int = 200, errors: bool = False, **variables: str
) -> tuple[str, int]:
    """Returns what a process of the command shows on a terminal of this width, and its exit code. `errors`:
    whether these are shown there too."""
    command = [sys.executable, "-m", "eeon_control", *arguments]
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment = kept | {"TERM": "xterm", "COLUMNS": str(columns), "LINES": "40", **variables}
    primary, secondary = pty.openpty()
    shown = b""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=secondary,
        stderr=secondary if errors else None,
        env=environment,
    ) as process:
        os.close(secondary)
        with contextlib.suppress(OSError):  # Linux's report that the other end is closed
            while part := os.read(primary, 1 << 16):
                shown += part
    os.close(primary)
    return shown.decode(), process.returncode


def place(folder: Path, addresses: Mapping[str, object], **more: object) -> list[str]:
    """Returns the options for switches of leaf-spine-4 in a targets file, which it writes."""
    targets = folder / "targets.yaml"
    targets.write_text(json.dumps({"tick": "1ns", "switches": addresses, **more}))
    return ["-t", "leaf-spine-4", "-T", str(targets)]


class Command:
    """Runs the command on fake switches of leaf-spine-4, with a state folder; `code` as `eeon` has it."""

    def __init__(self, folder: Path, fakes) -> None:
        self.folder, self.fakes, self.state_folder = folder, fakes, folder / "state"
        self.options = place(folder, fakes.targets)

    def config(self, *words: str, code: int | None = None) -> Result:
        return eeon("config", *words, "--state", str(self.state_folder), code=code)

    def apply(self, *words: str, code: int | None = 0) -> Result:
        return self.config("apply", *words, *self.options, code=code)

    def show(self, *words: str, code: int | None = None) -> Result:
        return eeon("show", *words, *self.options, code=code)

    def document(self, *words: str) -> dict:
        return json.loads(self.show(*words, "-o", "json").stdout)
