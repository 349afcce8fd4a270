"""The commands simple_switch and simple_switch_grpc in a given folder, for scripts that call these names.

A real BMv2 is never hidden without a request: the user names the folder, and a file that this module did not
write is not replaced.
"""

import os
import shlex
import sys
from pathlib import Path

NAMES = ("simple_switch", "simple_switch_grpc")
_MARK = "# Made by eeon-switch --install-names; the engine under BMv2's name."


def install(folder: Path) -> list[Path]:
    """Writes the commands, and returns their paths.

    Raises `FileExistsError` if a foreign file has one of these names; then nothing is written. Raises other
    `OSError`s of the file system.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in NAMES]
    for path in paths:
        if path.exists() and _MARK not in path.read_bytes()[:400].decode("utf-8", "replace"):
            raise FileExistsError(f"'{path}' exists and was not made by eeon-switch; choose another folder")
    for path in paths:
        command = f"exec {shlex.quote(sys.executable)} -m eeon_engine.switch_command --as {path.name}"
        # Written to a temporary file and renamed, so that no one can run a partial file.
        scratch = path.with_name(f".{path.name}.{os.getpid()}")
        scratch.write_text(f'#!/bin/sh\n{_MARK}\n{command} "$@"\n', encoding="utf-8")
        scratch.chmod(0o755)
        scratch.replace(path)
    return paths
