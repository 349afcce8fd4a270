"""Text from outside (switches, files, command lines) in a form that a terminal shows but does not execute.

Escapes C0 and C1 controls and DEL (ECMA-48; ESC and CSI move the cursor and clear the screen), the controls
of Unicode's bidirectional algorithm (UAX #9), which change the order in which text is shown, and other
invisible characters: line separators, zero-width and tag characters, surrogates. The escapes are JSON's,
`\\u001b`, so that a JSON document with such characters in its strings keeps its meaning.
"""

import re
from collections.abc import Iterable

_INVISIBLE = (
    r"\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f"
)
_UNPRINTABLE = re.compile(rf"[\x00-\x08\x0b-\x1f{_INVISIBLE}]")
_NOT_IN_A_LINE = re.compile(rf"[\x00-\x1f{_INVISIBLE}]")
_DIGITS = re.compile(r"([0-9]+)")
_LINE_CHARACTERS = 2000
SAID_CHARACTERS = 500
"""Maximum number of characters shown of one answer of a switch."""


def printable(text: str) -> str:
    """Returns the text with all characters escaped except visible ones, spaces, tabs and line ends."""
    return _UNPRINTABLE.sub(_escape, text)


def one_line(text: str, characters: int = _LINE_CHARACTERS) -> str:
    """Returns the same with line ends and tabs escaped, so that foreign text cannot look like our own lines.

    A longer text is cut at the limit.
    """
    cut = f"{text[:characters]}..." if len(text) > characters else text
    return _NOT_IN_A_LINE.sub(_escape, cut)


def some(words: Iterable[str], most: int = 20) -> str:
    """Returns at most `most` words, and the number of the others: `leaf1, leaf2 and 3 more`."""
    listed = list(words)
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")


def natural(name: str) -> list[tuple[int, str]]:
    """Returns a key that sorts `Ethernet2` before `Ethernet10`. More than nine digits are text."""
    parts = _DIGITS.split(name)
    return [(int(part), "") if part.isdecimal() and len(part) < 10 else (-1, part) for part in parts]


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index : index + 2].hex()}" for index in range(0, len(units), 2))
