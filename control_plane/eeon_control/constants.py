"""Numbers that the P4 program fixes, read from the file that compiling it writes; none is typed twice."""

from __future__ import annotations

import json
from typing import Any

from eeon_control import data

_PATH = data.folder("p4src") / "constants.json"


def _read() -> dict[str, dict[str, int]]:
    try:
        read: dict[str, Any] = json.loads(_PATH.read_text(encoding="utf-8"))
    except OSError as error:
        raise data.DataNotFound(
            f"{_PATH}: {error.strerror}; run `make p4`, or reinstall eeon-control"
        ) from None
    return read


def _names(of: dict[str, int]) -> tuple[str, ...]:
    """Lower-case names in the order of their numbers, which are 0, 1, 2, ..."""
    ordered = sorted(of, key=of.__getitem__)
    assert [of[name] for name in ordered] == list(range(len(ordered))), f"{_PATH}: an enum has gaps"
    return tuple(name.lower() for name in ordered)


_ALL = _read()
_CONSTANTS = _ALL["constants"]

CLASSES: tuple[str, ...] = _names(_ALL["packet_class_t"])
VERDICTS: tuple[str, ...] = _names(_ALL["verdict_t"])
EEE_STATES: tuple[str, ...] = _names(_ALL["eee_state_t"])
PROTECT: dict[str, int] = {name.lower(): number for name, number in _ALL["protect_t"].items()}

CPU_PORT: int = _CONSTANTS["CPU_PORT"]
DROP_PORT: int = _CONSTANTS["DROP_PORT"]
DATA_PORT_MAX: int = min(CPU_PORT, DROP_PORT) - 1
ROUTE_TABLE_SIZE: int = _CONSTANTS["ROUTE_TABLE_SIZE"]
ECMP_SELECTOR_SIZE: int = _CONSTANTS["ECMP_SELECTOR_SIZE"]
RECEIVED_CELLS: int = _CONSTANTS["RECEIVED_CELLS"]
VERDICT_CELLS: int = _CONSTANTS["VERDICT_CELLS"]
PORT_CELLS: int = _CONSTANTS["PORT_CELLS"]
TICKS_AHEAD_LIMIT: int = _CONSTANTS["TICKS_AHEAD_LIMIT"]
