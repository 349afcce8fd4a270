"""Files on which the switch's security depends: keys, and clients' rights."""

import os
import stat
from pathlib import Path

from .exceptions import ConfigError


def read_private(what: str, path: Path, limit: int, *, is_secret: bool) -> bytes:
    """Returns the content of a file that no other user can have written and, if it is secret, that no other
    user can read.

    Raises `ConfigError` if the file cannot be read, is longer than `limit` bytes, belongs to a user other
    than this process's or root, or is open to others; the message has the `chmod` that corrects this.
    """
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ConfigError(f"{what} '{path}': is not a file")
            _check_mode(what, path, status, is_secret=is_secret)
            content = file.read(limit + 1)
    except OSError as error:
        raise ConfigError(f"{what} '{path}': {error.strerror}") from error
    if len(content) > limit:
        raise ConfigError(f"{what} '{path}': is longer than {limit} bytes, the limit")
    return content


def _check_mode(what: str, path: Path, status: os.stat_result, *, is_secret: bool) -> None:
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid not in (0, os.geteuid()):
        raise ConfigError(f"{what} '{path}': belongs to user {status.st_uid}; chown it to the switch's user")
    if is_secret and mode & 0o077:
        raise ConfigError(
            f"{what} '{path}': others may read or change it (mode {mode:04o}): chmod 600 {path}"
        )
    if mode & 0o022:
        raise ConfigError(f"{what} '{path}': others may change it (mode {mode:04o}): chmod go-w {path}")
