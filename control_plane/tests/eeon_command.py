"""The command `eeon` in this process, and where its switches are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner, Result
from eeon_control.cli import main


def eeon(*arguments: str, code: int | None = None, columns: int = 200) -> Result:
    """What the command has printed on a terminal of this width; an error of the program itself is raised.
    `code` is the exit code that must come out, if it matters."""
    result = CliRunner().invoke(main, list(arguments), prog_name="eeon", env={"COLUMNS": str(columns)})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code is None or result.exit_code == code, result.output
    return result


def place(folder: Path, addresses: Mapping[str, object], **more: object) -> list[str]:
    """Options that name switches of leaf-spine-4, which a targets file has."""
    targets = folder / "targets.yaml"
    targets.write_text(json.dumps({"tick": "1ns", "switches": addresses, **more}))
    return ["-t", "leaf-spine-4", "-T", str(targets)]
