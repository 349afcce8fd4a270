"""Suggestions for unknown names."""

import difflib
from collections.abc import Collection, Iterable

from eeon_control.printable import some

_SUGGESTED = 3
_LISTED = 6


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Returns at most three known names that resemble a mistyped one, the nearest first."""
    return difflib.get_close_matches(name, list(known), n=_SUGGESTED)


def hint(name: str, known: Collection[str]) -> str:
    """Returns `did you mean leaf1 or leaf2?`, or `there are leaf1, ...` if no known name is similar."""
    close = nearest(name, known)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"there are {some(known, _LISTED)}"
