"""The commands simple_switch and simple_switch_grpc in a folder that the user names, for scripts that call
them so.

Nothing is ever put in front of a real BMv2 without being asked for: the folder is explicit, and a file that
is not ours is not replaced.
"""

import os
import shlex
import sys
from pathlib import Path

NAMES = ("simple_switch", "simple_switch_grpc")
_MARK = "# Made by eeon-switch --install-names; the engine under BMv2's name."


def install(folder: Path) -> list[Path]:
    """Writes the commands; returns their paths.

    Raises `FileExistsError` when one is there that is not ours, in which case nothing is written, and other
    `OSError`s of the file system.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in NAMES]
    for path in paths:
        if path.exists() and _MARK not in path.read_bytes()[:400].decode("utf-8", "replace"):
            raise FileExistsError(f"'{path}' exists and was not made by eeon-switch; choose another folder")
    for path in paths:
        command = f"exec {shlex.quote(sys.executable)} -m eeon_engine.switch_command --as {path.name}"
        # Written beside and moved: a name that is in use never points at half a file.
        scratch = path.with_name(f".{path.name}.{os.getpid()}")
        scratch.write_text(f'#!/bin/sh\n{_MARK}\n{command} "$@"\n', encoding="utf-8")
        scratch.chmod(0o755)
        scratch.replace(path)
    return paths
