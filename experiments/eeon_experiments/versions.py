"""The program, engine and commit that produce a result. Rows of different versions are never mixed."""

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eeon_control import program as programs
from eeon_tools.errors import UnavailableError

_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Versions:
    """SHA-256 of the compiled P4 program and of the engine's sources. With the settings, the seed and the
    switches' table entries (`Run.entries`), they determine every number of a run."""

    program: str
    engine: str


@dataclass(frozen=True)
class Commit:
    """The repository's commit, empty outside a repository. `dirty`: tracked files have changed since."""

    id: str
    dirty: bool


@cache
def versions() -> Versions:
    """Returns the versions of this installation. Raises UnavailableError without an engine."""
    try:
        from eeon_engine import SOURCE_DIGEST
    except ImportError as error:
        raise UnavailableError(
            f"the engine is not installed, or is older than these tools ({error}); `make setup` builds it"
        ) from error
    return Versions(programs.load().digest, SOURCE_DIGEST)


@cache
def commit() -> Commit:
    """Returns the commit of this code's checkout."""
    head = _git("rev-parse", "HEAD")
    if head is None:
        return Commit("", False)
    return Commit(head, bool(_git("status", "--porcelain", "--untracked-files=no")))


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(_HERE), *words], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
