"""The exceptions that callers of this package are expected to catch.

    EeonError
    +-- UnitError        the text of a quantity is invalid (also a ValueError)
    +-- InputError       an input file breaks rules; carries a list of Problem
    +-- DataNotFound     a named topology, example or program file does not exist
    +-- PlanError        topology and configuration cannot be turned into table entries
    +-- StateError       the fabric's state folder: missing, damaged, open to others, locked, no such revision
        +-- ProgramPinned  a revision or a journal belongs to another P4 program than this version's
    +-- FabricError      the switches: connection, arbitration, pipeline, read, write
        +-- NothingWritten   an apply failed before its first write
        +-- NoRegisters  a target does not offer registers over P4Runtime
        +-- ApplyError   an apply failed; reports what was undone and what was not

Any other exception is a bug in this package, or Ctrl-C: `fabric.transaction.ApplyCancelled` in coroutines,
otherwise Stopped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from eeon_control.printable import one_line

if TYPE_CHECKING:
    from finsy import GRPCStatusCode


class EeonError(Exception):
    """Base class of this package's exceptions."""


class UnitError(EeonError, ValueError):
    """The text of a quantity is invalid; the message gives a valid example."""


class DataNotFound(EeonError):
    """A named topology, example or program file is in none of the places searched."""


class PlanError(EeonError):
    """Topology and configuration are each valid but together exceed the limits of the data plane."""


class StateError(EeonError):
    """A fabric's state folder is missing, damaged, open to others or locked, or lacks a requested item."""


class ProgramPinned(StateError):
    """A revision or a journal was made for another P4 program than this version of the controller has."""


class FabricError(EeonError):
    """A switch could not be reached, refused a request, or returned unexpected content.

    `code`: gRPC's status code, if a call to one switch failed.
    """

    def __init__(self, message: str, code: GRPCStatusCode | None = None) -> None:
        super().__init__(message)
        self.code = code


class NothingWritten(FabricError):
    """An apply failed before its first write: a switch could not be reached or read."""


class NoRegisters(FabricError):
    """A target does not offer registers over P4Runtime. BMv2 does not; the engine does."""


class Severity(StrEnum):
    """The severity of a Problem: an error stops the command; a warning is only shown."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Place:
    """A place in a file. `line` counts from 1; 0 means the whole file."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Problem:
    """One broken rule in an input file: place, key, value and rule."""

    place: Place
    key: str
    value: str
    rule: str
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        subject = ": ".join(one_line(part) for part in (self.key, self.value) if part)
        head = f"{self.place}: {self.severity}: "
        return f"{head}{subject}: {self.rule}" if subject else f"{head}{self.rule}"


class InputError(EeonError):
    """An input file breaks one or more rules. `problems` is in file order and never empty. A rule that is
    broken twice at one key is one problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        found = {(one.place, one.key, one.rule): one for one in problems}.values()
        self.problems: tuple[Problem, ...] = tuple(
            sorted(found, key=lambda p: (p.place.file, p.place.line, p.key))
        )
        assert self.problems, "an InputError needs at least one problem"
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @classmethod
    def of(cls, file: object, rule: str, *, line: int = 0, key: str = "", value: str = "") -> Self:
        """Returns the error of a file that breaks one rule."""
        return cls([Problem(Place(str(file), line), key, value, rule)])


class ApplyError(FabricError):
    """An apply failed on at least one switch.

    `failures`: switch -> reason, in a text that names the switch. `undone`: switches in the apply whose state
    is as before. `not_undone`: switch -> why it could not be restored; empty if all switches are as before.
    `notes`: switch -> how its restored state differs from the earlier one. `advice`: what to do if not all
    switches could be restored.
    """

    def __init__(
        self,
        failures: dict[str, str],
        undone: Iterable[str] = (),
        not_undone: dict[str, str] | None = None,
        notes: dict[str, str] | None = None,
        advice: str = "run `eeon config plan` to see what they hold, then apply again",
    ) -> None:
        self.advice = advice
        self.failures = dict(failures)
        self.undone = tuple(undone)
        self.not_undone = dict(not_undone or {})
        self.notes = dict(notes or {})
        super().__init__(self._describe())

    def _describe(self) -> str:
        lines = list(self.failures.values())
        if self.not_undone:
            lines.append("the fabric is NOT as before; the change could not be undone on:")
            lines += [f"  {why}" for why in self.not_undone.values()]
            if self.undone:
                lines.append(f"as before, read back: {', '.join(self.undone)}")
            lines.append(self.advice)
        elif self.undone:
            lines.append(f"undone on {', '.join(self.undone)}: every switch is as it was before")
        else:
            lines.append("nothing was written to any switch")
        lines += self.notes.values()
        return "\n".join(lines)


class Stopped(KeyboardInterrupt):
    """Ctrl-C, raised after the running operation has ended. Its text describes the resulting state."""
