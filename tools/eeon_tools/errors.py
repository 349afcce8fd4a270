"""The errors of this package, as a tree:

    ToolsError
    ├── InputError           a wrong file or argument from outside
    │   ├── TraceError       a pcap or pcapng file, or its manifest
    │   └── CoflowError      a file in the Facebook 2010 coflow format
    ├── UnavailableError     a part that is not installed or does not exist on this target
    └── ReplayError          a replay that ran, but whose numbers must not be trusted

Every message names the object, the place in it, the value found, and what would be right.
"""

from pathlib import Path


class ToolsError(Exception):
    """Base of all errors that this package raises itself."""


class InputError(ToolsError):
    """An input from outside is wrong: the object, the place in it, the error and what would be right."""

    def __init__(self, name: str | Path, place: str, problem: str) -> None:
        self.name = str(name)
        self.place = place
        self.problem = problem
        super().__init__(f"{name}: {place}: {problem}" if place else f"{name}: {problem}")


class TraceError(InputError):
    """A trace or its manifest cannot be used."""


class BrokenOffError(TraceError):
    """A truncated capture: it ends within a packet, and all before that is intact."""


class CoflowError(InputError):
    """A coflow file violates its format. `place` is `line N` or `line N, reducer M`."""


class UnavailableError(ToolsError):
    """A requested part is missing; the message says what to install or to use instead."""


class ReplayError(ToolsError):
    """A replay violated one of its own invariants (conservation, order, an unfinished run)."""
