"""A rich console for text that may come from outside."""

import os
import re
from collections.abc import Iterable
from typing import IO, Any, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from eeon_control.cli.streams import Around, unguarded
from eeon_control.printable import printable

_PIPE_WIDTH = 200  # a table for a file or a pipe must not be folded to 80 columns, unless COLUMNS is set
_SIZES = ("COLUMNS", "LINES")


class _Trimmed(Around):
    """A file or pipe without trailing blanks, with which rich pads lines."""

    def write(self, text: str) -> int:
        """Writes text without trailing blanks."""
        self._stream.write(re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE))
        return len(text)


class Terminal(Console):
    """A rich console that writes its own escape sequences, but none of the text's.

    It bypasses the guard of `streams`, which could not tell the two apart. Strings are shown literally:
    `[red]` and `:100:` are neither markup nor emoji, and colours are given as styles.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        file = unguarded(stderr=stderr)
        # Trimming needs text without escape sequences, which hide trailing blanks; only a terminal gets them.
        to = file if file.isatty() else cast(IO[str], _Trimmed(file))
        # A size of 0 is unknown; rich would print nothing.
        known = {name: value for name, value in os.environ.items() if name not in _SIZES or value.strip("0")}
        has_width = file.isatty() or known.get("COLUMNS", "").isdecimal()
        width = None if has_width else _PIPE_WIDTH
        super().__init__(file=to, width=width, markup=False, emoji=False, _environ=known)

    def on_broken_pipe(self) -> None:
        """Raises the BrokenPipeError, which leaves the decision to the caller; rich would end the process."""
        raise

    def render_str(self, text: str, **options: Any) -> Text:  # rich's own options # noqa: ANN401
        """Renders text as rich does, but makes it printable before it is measured, so that it fits."""
        return super().render_str(printable(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Renders as rich does, but makes the text of every segment printable."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)
