"""rich's console for text that may come from outside."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import IO, Any, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from eeon_control.cli.streams import unguarded
from eeon_control.printable import printable


class _Trimmed:
    """A file or a pipe. It gets no blanks at the end of a line, to which rich fills lines up."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Writes it without them."""
        self._stream.write(re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE))
        return len(text)

    def __getattr__(self, name: str) -> Any:  # of any type, as the stream's own attributes are # noqa: ANN401
        return getattr(self._stream, name)


class Terminal(Console):
    """A rich console that writes its own escape sequences and none of the text's.

    It writes past the guard of `streams`, which would not tell the two apart. A string is shown as it is:
    `[red]` and `:100:` in it are neither markup nor emoji, and a colour is given as a style.
    """

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        file: IO[str] = unguarded(stderr=stderr)
        # Only a terminal gets escape sequences, behind which blanks at the end of a line would hide.
        to = file if file.isatty() else cast(IO[str], _Trimmed(file))
        super().__init__(file=to, width=width, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:  # rich's own options # noqa: ANN401
        """Renders text as rich does, made printable before it is measured, so that it fits its column."""
        return super().render_str(printable(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Renders as rich does, with the text of every segment made printable."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)
