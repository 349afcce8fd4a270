"""A guard for stdout and stderr of a command, which lets no control character through.

Commands print text from switches, files and command lines. Escape sequences in it could clear the screen or
fake a success. The guard makes everything printable that any module writes to `sys.stdout` and `sys.stderr`
while a command runs.
"""

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from eeon_control.printable import printable

_UNWRITABLE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Guard:
    """A text stream in front of another one. It has no `buffer`, so that no bytes bypass it."""

    def __init__(self, stream: TextIO) -> None:
        # rich's name for the wrapped stream: rich's consoles then write to it without escaping.
        self.rich_proxied_file = stream

    def write(self, text: str | bytes) -> int:
        """Writes printable text, with `?` for characters that the stream's encoding lacks.

        click passes completions as bytes, because the stream has no `buffer` to write them to.
        """
        shown = printable(text if isinstance(text, str) else text.decode("utf-8", "backslashreplace"))
        try:
            self.rich_proxied_file.write(shown)
        except UnicodeEncodeError as error:
            self.rich_proxied_file.write(shown.encode(error.encoding, "replace").decode(error.encoding))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # any type, like the stream's attributes # noqa: ANN401
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.rich_proxied_file, name)


class Around:
    """A stream with the attributes of another one."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:  # any type, like the stream's attributes # noqa: ANN401
        return getattr(self._stream, name)


class _Stderr(Around):
    """stderr, which discards everything once it cannot be written (a full disk, a closed pipe, a terminal
    that is gone): the command continues, because it may be in the middle of an apply."""

    def write(self, text: str) -> int:
        self._tried(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        self._tried(self._stream.flush)

    def _tried(self, call: Callable[[], object]) -> None:
        try:
            call()
        except OSError:
            to_nowhere(self._stream)


@contextmanager
def guarded() -> Iterator[None]:
    """Guards stdout and stderr in its context."""
    before = sys.stdout, sys.stderr
    with open(os.devnull, "w") as nowhere:  # instead of a stream that the shell has closed (`>&-`)
        sys.stdout = Guard(before[0] or nowhere)
        sys.stderr = Guard(cast(TextIO, _Stderr(before[1] or nowhere)))
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


def is_of_output(error: OSError) -> bool:
    """Returns whether an output could not be written: stdout, stderr or a file that was open."""
    return error.errno in _UNWRITABLE and error.filename is None


def to_nowhere(stream: TextIO) -> None:
    """Discards what is left in a stream that cannot be written, and everything later."""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def unguarded(*, stderr: bool = False) -> TextIO:
    """Returns stderr or stdout without the guard, for printable text and our own control sequences."""
    stream = sys.stderr if stderr else sys.stdout
    while hasattr(stream, "rich_proxied_file"):
        stream = stream.rich_proxied_file
    return stream
