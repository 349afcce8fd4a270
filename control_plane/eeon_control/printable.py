"""Text from outside (switches, files, command lines) in a form that a terminal shows and does not obey.

Escaped are C0 and C1 controls and DEL (ECMA-48; ESC and CSI move the cursor and clear the screen), the
controls of Unicode's bidirectional algorithm (UAX #9), which show text in another order than it has, and what
else is invisible: line separators, zero-width and tag characters, surrogates. The escapes are JSON's,
`\\u001b`, so that a JSON document that holds such characters in its strings means the same afterwards.
"""

from __future__ import annotations

import re

_INVISIBLE = (
    r"\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f"
)
_UNPRINTABLE = re.compile(rf"[\x00-\x08\x0b-\x1f{_INVISIBLE}]")
_NOT_IN_A_LINE = re.compile(rf"[\x00-\x1f{_INVISIBLE}]")
_LINE_CHARACTERS = 2000
SAID_CHARACTERS = 500
"""How much of one answer of a switch is shown."""


def printable(text: str) -> str:
    """Returns the text with every character escaped that is not visible, a space, a tab or a line end."""
    return _UNPRINTABLE.sub(_escape, text)


def one_line(text: str, characters: int = _LINE_CHARACTERS) -> str:
    """Returns the same, ends of lines and tabs escaped too: what others say must not look like lines of ours.

    A longer text is cut at the limit.
    """
    cut = f"{text[:characters]}..." if len(text) > characters else text
    return _NOT_IN_A_LINE.sub(_escape, cut)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index : index + 2].hex()}" for index in range(0, len(units), 2))
