"""Files written by users: their content, and their JSON."""

import json
from pathlib import Path

from eeon_tools.errors import InputError


def content_of(path: Path, limit_bytes: int, hint: str = "") -> bytes:
    """Returns the content of a file. Raises InputError if it cannot be read, with the hint, or is larger."""
    try:
        with path.open("rb") as file:
            content = file.read(limit_bytes + 1)
    except OSError as error:
        raise InputError(path, "", f"cannot be read: {error.strerror}{hint}") from error
    if len(content) > limit_bytes:
        raise InputError(path, "", f"is larger than {limit_bytes >> 20} MiB")
    return content


def parse_json(path: Path, text: str | bytes) -> object:
    """Returns the contents of a file, with or without a byte order mark.

    Raises InputError for a file that is not JSON, and for an object that has a key twice: of the two values,
    readers keep only the last."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InputError(path, "", f"the key {twice!r} is given twice in one object; remove one")
        return found

    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        return json.loads(decoded, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise InputError(path, "", f"is not JSON: {error}") from error
