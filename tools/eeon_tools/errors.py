"""What can go wrong, as a tree:

    ToolsError
    ├── InputError           a file or an argument that somebody gave us is not what it must be
    │   ├── TraceError       a pcap or pcapng file, or its manifest
    │   └── CoflowError      a file in the Facebook 2010 coflow format
    ├── UnavailableError     a part that is not installed or does not exist on this target
    └── ReplayError          a replay that ran, but whose numbers must not be trusted

Every message names the object, the place in it, the value found, and what would be right.
"""

from __future__ import annotations

from pathlib import Path


class ToolsError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(ToolsError):
    """Something given from outside is wrong: which object, where in it, what is wrong and what would be
    right."""

    def __init__(self, name: str | Path, place: str, problem: str) -> None:
        self.name = str(name)
        self.place = place
        self.problem = problem
        super().__init__(f"{name}: {place}: {problem}" if place else f"{name}: {problem}")


class TraceError(InputError):
    """A trace or its manifest cannot be used."""


class BrokenOffError(TraceError):
    """A capture ends in the middle of something: of what was before that, all is whole."""


class CoflowError(InputError):
    """A coflow file breaks its format. `place` is `line N` or `line N, reducer M`."""


class UnavailableError(ToolsError):
    """Something asked for is not there; the message says what to install or to use instead."""


class ReplayError(ToolsError):
    """A replay broke one of its own invariants (conservation, order, an unfinished run)."""
