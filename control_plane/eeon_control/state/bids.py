"""With which election ids the running controllers hold the switches, where that is not their own.

A server after the specification gives nobody an id below the highest it has seen, so that ids creep up with
every command that took over. Each controller writes down, beside its lock, what it has come to. A controller
that returns thereby tells a standby, whom it may outbid, from a stranger, whom it must not; a command knows
what to bid above.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

_LIMIT_BYTES = 16 << 20


def path_of(controllers: Path, rank: int) -> Path:
    """Returns the file of the controller with configured election id `rank`; `controllers` is the folder's
    part."""
    return controllers / f"{rank}.bids"


def as_bytes(bids: Mapping[str, int]) -> bytes:
    """Encodes switch -> election id as the file has it."""
    return json.dumps(dict(sorted(bids.items()))).encode() + b"\n"


def read(path: Path) -> dict[str, int]:
    """Returns the file of a controller, maybe another one's; what is not as it should be counts as nothing
    said."""
    try:
        if path.stat().st_size > _LIMIT_BYTES:
            return {}
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: bid for name, bid in found.items() if isinstance(bid, int) and 0 < bid < 1 << 128}
