"""The E-EON program's numbers, from the file that its compilation writes for other languages."""

from __future__ import annotations

import json
from pathlib import Path

_PATH = Path(__file__).resolve().parents[1] / "p4src/compiled/constants.json"
_NUMBERS: dict[str, dict[str, int]] = json.loads(_PATH.read_text(encoding="utf-8"))

CPU_PORT = _NUMBERS["constants"]["CPU_PORT"]
DROP_PORT = _NUMBERS["constants"]["DROP_PORT"]
RED_DEPTH_BITS = _NUMBERS["constants"]["RED_DEPTH_BITS"]
"""Fractional bits of `red_average`."""
