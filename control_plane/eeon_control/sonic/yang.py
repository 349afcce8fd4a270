"""Validates patches against SONiC's YANG models with `yanglint` (Debian: yanglint, or libyang2-tools).

The models are those of the patch's SONiC version, in sonic-buildimage's folder
src/sonic-yang-models/yang-models. This project does not include them.
"""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from eeon_control.errors import EeonError
from eeon_control.sonic.database import Database
from eeon_control.sonic.exporting import Patch

_SECONDS = 120
_TABLES = {
    "WRED_PROFILE": ("sonic-wred-profile", ("name",)),
    "BUFFER_PROFILE": ("sonic-buffer-profile", ("name",)),
    "QUEUE": ("sonic-queue", ("ifname", "qindex")),
    "BUFFER_QUEUE": ("sonic-buffer-queue", ("port", "qindex")),
    "PORT": ("sonic-port", ("name",)),
    "BUFFER_POOL": ("sonic-buffer-pool", ("name",)),
}
_NUMBERS = {"speed"}
"""The exported fields that are integers of at most 32 bits, which JSON has without quotes (RFC 7951)."""


def is_installed() -> bool:
    """Returns whether `yanglint` is on PATH."""
    return shutil.which("yanglint") is not None


def check(patch: Patch, database: Database, models: Path) -> None:
    """Validates a patch together with the ports and pools that it names. Raises EeonError.

    The pools are assumed to exist; the switch checks that when it loads the patch.
    """
    named = {key.partition("|")[0] for table in ("QUEUE", "BUFFER_QUEUE") for key in patch.get(table, {})}
    pools = {row["pool"] for row in patch.get("BUFFER_PROFILE", {}).values()}
    context: Mapping[str, Mapping[str, Mapping[str, object]]] = {
        **patch,
        "PORT": {
            name: {"lanes": str(row.get("lanes", "")), "speed": str(row.get("speed", ""))}
            for name, row in database.rows("PORT").items()
            if name in named
        },
        "BUFFER_POOL": {name: {"type": "egress", "mode": "static"} for name in pools},
    }
    wanted = [_TABLES[table][0] for table in context if context[table]]
    # Conditions in the models of ports and queues refer to it.
    wanted.append("sonic-device_metadata")
    files = [models / f"{module}.yang" for module in wanted]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise EeonError(
            f"{models}: {missing[0]} is missing; give sonic-buildimage's src/sonic-yang-models/yang-models"
        )
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as data:
        json.dump(_tree(context), data)
        data.flush()
        command = ["yanglint", "-p", str(models), "-t", "config", *map(str, files), data.name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EeonError(f"yanglint: {error}") from error
    if done.returncode:
        errors = [
            line for line in done.stderr.splitlines() if line.startswith("libyang err") or "err :" in line
        ]
        raise EeonError("libyang refuses the patch: " + " | ".join((errors or [done.stderr.strip()])[:5]))


def _tree(tables: Mapping[str, Mapping[str, Mapping[str, object]]]) -> dict[str, object]:
    """Returns rows in the form of the YANG models: lists whose keys are leaves."""
    tree: dict[str, object] = {}
    for table, rows in tables.items():
        if not rows:
            continue
        module, keys = _TABLES[table]
        tree[f"{module}:{module}"] = {
            table: {
                f"{table}_LIST": [
                    {
                        **dict(zip(keys, key.split("|"), strict=True)),
                        **{name: _value(name, value) for name, value in row.items()},
                    }
                    for key, row in rows.items()
                ]
            }
        }
    return tree


def _value(name: str, value: object) -> object:
    if value in ("true", "false"):
        return value == "true"
    return int(str(value)) if name in _NUMBERS and str(value).isdecimal() else value
