"""The command `eeon` in this process, and options for its switches."""

from __future__ import annotations

import json
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


def place(folder: Path, addresses: Mapping[str, object], **more: object) -> list[str]:
    """Returns the options for switches of leaf-spine-4 in a targets file, which it writes."""
    targets = folder / "targets.yaml"
    targets.write_text(json.dumps({"tick": "1ns", "switches": addresses, **more}))
    return ["-t", "leaf-spine-4", "-T", str(targets)]
