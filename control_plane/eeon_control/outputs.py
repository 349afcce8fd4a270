"""Files that commands write: an existing one is replaced when the new one is complete."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields the name of a file to write beside `path`, which it replaces at the end of the context. After an
    error, such as a full disk, `path` is as before. What cannot or may not be replaced, such as /dev/stdout
    or a link, is written itself."""
    is_there = path.exists()
    is_plain = path.is_file() and not path.is_symlink() and os.access(path, os.W_OK)
    if (is_there and not is_plain) or not os.access(path.parent, os.W_OK):
        yield path
        return
    scratch = path.with_name(f".new-{path.name}")
    try:
        yield scratch
        if is_there:
            shutil.copymode(path, scratch)
        scratch.replace(path)
    except OSError as error:
        if error.filename == str(scratch):
            error.filename = str(path)
        raise
    finally:
        scratch.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a file in UTF-8, as `replacing` does."""
    with replacing(path) as scratch:
        scratch.write_text(text, encoding="utf-8")
