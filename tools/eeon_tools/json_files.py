"""JSON written by users."""

from __future__ import annotations

import json
from pathlib import Path

from eeon_tools.errors import InputError


def parse_json(path: Path, text: str | bytes) -> object:
    """Returns the contents of a file, with or without a byte order mark.

    Raises InputError for a file that is not JSON, and for an object that has a key twice: of the two values,
    readers keep only the last."""
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        return json.loads(decoded, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise InputError(path, "", f"is not JSON: {error}") from error
    except _TwiceError as error:
        raise InputError(
            path, "", f"the key {error.key!r} is given twice in one object; remove one"
        ) from None


class _TwiceError(Exception):
    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(key)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _TwiceError(next(key for key in keys if keys.count(key) > 1))
    return found
