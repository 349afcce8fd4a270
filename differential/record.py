"""The record of a campaign: the versions compared, and a line for each configuration that has ended.

JSON lines: the first one describes the campaign, each other one the result of a configuration. A line is
written when its configuration ends, so a campaign that is killed loses only those that were running. A
partial line at the end, left by a kill, is cut off.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Self

from eeon_engine import SOURCE_DIGEST
from pydantic import TypeAdapter

from . import bmv2
from .compare import Counts
from .subjects import SUBJECTS


class RecordError(Exception):
    """The record cannot be continued."""


@dataclass
class Done:
    """The result of a configuration."""

    program: str
    configuration: int
    counts: Counts
    files: list[Path] = field(default_factory=list)
    """The files of its difference, if there is one."""
    interrupted: int = 0
    """Number of repetitions after differences that the same steps did not reproduce."""
    lines: list[str] = field(default_factory=list)
    """Progress messages; not recorded."""


_DONE = TypeAdapter(Done)


@dataclass(frozen=True)
class Campaign:
    """The identity of a campaign: configurations belong to the same campaign if it is equal."""

    seed: int
    bmv2: str
    """The output of `simple_switch --version`."""
    engine: str
    """Digest of the engine's sources."""
    tester: str
    """Digest of the generators' sources and of the compiled programs."""

    @staticmethod
    def here(seed: int) -> Campaign:
        """Returns a campaign of the installed versions."""
        return Campaign(seed, bmv2.version(), SOURCE_DIGEST, _tester())


def _tester() -> str:
    digest = hashlib.sha256()
    folder = Path(__file__).parent
    for path in (*sorted(folder.glob("*.py")), *(subject.path for subject in SUBJECTS)):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


class Record:
    """A record to which a campaign adds. Only one campaign at a time: the file is locked."""

    def __init__(self, path: Path, campaign: Campaign) -> None:
        """Opens or creates one. Raises `RecordError` for one of another campaign, in use, or damaged."""
        self.done: list[Done] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+", encoding="utf-8")
        try:
            self._open(path, campaign)
        except BaseException:
            self._file.close()
            raise

    def _open(self, path: Path, campaign: Campaign) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise RecordError(f"{path}: another campaign adds to it") from error
        self._file.seek(0)
        text = self._file.read()
        whole = text[: text.rfind("\n") + 1]
        self._file.truncate(len(whole.encode()))
        lines = whole.splitlines()
        if not lines:
            self._write(asdict(campaign))
            return
        try:
            found = Campaign(**json.loads(lines[0]))
            self.done = [_DONE.validate_json(line) for line in lines[1:]]
        except (TypeError, ValueError) as error:
            raise RecordError(f"{path}: no record of a campaign ({error}); name another file") from error
        for name, value in asdict(campaign).items():
            if getattr(found, name) != value:
                raise RecordError(
                    f"{path}: is of {name} {getattr(found, name)}, here it is {value}; "
                    "go on with that one, or name another file"
                )

    def add(self, done: Done) -> None:
        """Writes a configuration that has ended."""
        self._write(asdict(replace(done, lines=[])))

    def _write(self, line: dict[str, object]) -> None:
        self._file.write(json.dumps(line, default=str) + "\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
