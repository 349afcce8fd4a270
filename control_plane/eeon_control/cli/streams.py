"""stdout and stderr of a command, behind a guard that lets no control character through.

What commands print holds text of switches, files and command lines. Escape sequences in it could clear the
screen, or show a success that was none. All that is written to `sys.stdout` and `sys.stderr` while a command
runs is made printable here, whichever module writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from eeon_control.printable import printable


class Guard:
    """A text stream before another one. It has no `buffer`: nobody writes bytes past it."""

    def __init__(self, stream: TextIO) -> None:
        # rich's name for the stream behind one: a console of rich escapes nothing that it writes itself.
        self.rich_proxied_file = stream

    def write(self, text: str | bytes) -> int:
        """Writes it, made printable, and `?` for what the stream's encoding does not have.

        click hands in completions as bytes, as a stream without a `buffer` has no other place for them.
        """
        shown = printable(text if isinstance(text, str) else text.decode("utf-8", "backslashreplace"))
        try:
            self.rich_proxied_file.write(shown)
        except UnicodeEncodeError as error:
            self.rich_proxied_file.write(shown.encode(error.encoding, "replace").decode(error.encoding))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Writes them one after the other."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # of any type, as the stream's own attributes are # noqa: ANN401
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.rich_proxied_file, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Guards stdout and stderr while the context lasts."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Guard(before[0]), Guard(before[1])
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def unguarded(*, stderr: bool = False) -> TextIO:
    """Returns stderr or stdout as it is behind the guard, for text that was made printable and for control
    sequences of our own."""
    stream = sys.stderr if stderr else sys.stdout
    while hasattr(stream, "rich_proxied_file"):
        stream = stream.rich_proxied_file
    return stream
