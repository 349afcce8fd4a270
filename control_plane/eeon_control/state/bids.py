"""The election ids with which running controllers hold switches, if these differ from their own.

A conforming server accepts no primary with an id below the highest it has seen, so that ids rise with every
command that takes over. Each controller records its ids beside its lock. So a returning controller can tell a
standby, which it may outbid, from a stranger, which it must not; and a command knows which id to outbid.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

_LIMIT_BYTES = 16 << 20


def path_of(controllers: Path, rank: int) -> Path:
    """Returns the file of the controller with configured election id `rank`, in the subfolder
    `controllers`."""
    return controllers / f"{rank}.bids"


def as_bytes(bids: Mapping[str, int]) -> bytes:
    """Encodes switch -> election id for the file."""
    return json.dumps(dict(sorted(bids.items()))).encode() + b"\n"


def read(path: Path) -> dict[str, int]:
    """Returns the content of a controller's file, maybe another controller's; invalid content counts as
    empty."""
    try:
        if path.stat().st_size > _LIMIT_BYTES:
            return {}
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: bid for name, bid in found.items() if isinstance(bid, int) and 0 < bid < 1 << 128}
