"""The command `eeon` in this process, on a terminal of 200 columns."""

from __future__ import annotations

from click.testing import CliRunner, Result
from eeon_control.cli import main


def eeon(*arguments: str, code: int | None = None) -> Result:
    """What the command has printed; an error of the program itself is raised. `code` is the exit code that must
    come out, if it matters."""
    result = CliRunner().invoke(main, list(arguments), env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code is None or result.exit_code == code, result.output
    return result
