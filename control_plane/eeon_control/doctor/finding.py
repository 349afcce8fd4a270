"""Findings, and the runner of checks: each check is a function, and none can stop the others."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """The severity of a finding: a fault stops something that was requested, and a warning may; something
    absent is optional."""

    OK = "ok"
    ABSENT = "absent"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True)
class Finding:
    """The result of one check: its name, what it found, and the fix (empty if it is ok)."""

    check: str
    level: Level
    found: str
    mend: str = ""


Check = Callable[[], Iterable[Finding]]


def ok(check: str, found: str) -> Finding:
    return Finding(check, Level.OK, found)


def absent(check: str, found: str) -> Finding:
    return Finding(check, Level.ABSENT, found)


def warning(check: str, found: str, mend: str) -> Finding:
    return Finding(check, Level.WARNING, found, mend)


def fault(check: str, found: str, mend: str) -> Finding:
    return Finding(check, Level.FAULT, found, mend)


def run(checks: Iterable[tuple[str, Check]]) -> Iterator[Finding]:
    """Yields the findings of all checks in order. An exception in a check becomes a finding too."""
    for name, check in checks:
        try:
            yield from check()
        except Exception as error:  # the failure of a check must not stop the others
            yield fault(
                name,
                f"the check failed: {type(error).__name__}: {error}",
                "report this as a bug of eeon doctor",
            )


def exit_code(findings: Iterable[Finding]) -> int:
    """Returns 0 if all is ok, 2 for warnings without a fault, 1 for at least one fault."""
    levels = {finding.level for finding in findings}
    return 1 if Level.FAULT in levels else 2 if Level.WARNING in levels else 0
