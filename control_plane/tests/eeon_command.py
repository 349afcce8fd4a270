"""The command `eeon` in this process, also at a terminal, and options for its switches."""

import contextlib
import json
import os
import pty
import threading
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import pytest
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
    """Returns what the command shows on a terminal of this width, and its exit code. `errors`: whether these
    are shown there too."""
    primary, secondary = pty.openpty()
    shown = []

    def read() -> None:
        with contextlib.suppress(OSError):  # Linux's report that the other end is closed
            while part := os.read(primary, 1 << 16):
                shown.append(part)

    reader = threading.Thread(target=read)
    reader.start()
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment = kept | {"TERM": "xterm", "COLUMNS": str(columns), "LINES": "40", **variables}
    with contextlib.ExitStack() as stack:
        terminal = stack.enter_context(os.fdopen(secondary, "w"))
        stack.enter_context(mock.patch.dict(os.environ, environment, clear=True))
        stack.enter_context(contextlib.redirect_stdout(terminal))
        if errors:
            stack.enter_context(contextlib.redirect_stderr(terminal))
        ended = stack.enter_context(pytest.raises(SystemExit))
        main(list(arguments), prog_name="eeon")
    reader.join()
    os.close(primary)
    return b"".join(shown).decode(), int(ended.value.code or 0)


def place(folder: Path, addresses: Mapping[str, object], **more: object) -> list[str]:
    """Returns the options for switches of leaf-spine-4 in a targets file, which it writes."""
    targets = folder / "targets.yaml"
    targets.write_text(json.dumps({"tick": "1ns", "switches": addresses, **more}))
    return ["-t", "leaf-spine-4", "-T", str(targets)]
