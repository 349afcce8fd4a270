"""Progress of an apply, by switch, on stderr."""

from __future__ import annotations

from eeon_control.cli import output as printing
from eeon_control.fabric import Step

_WORDS = {
    Step.WAVE: "begins",
    Step.PASSED: "its gate is open",
    Step.LOADED: "program loaded",
    Step.WRITTEN: "written",
    Step.UNDOING: "undoing",
    Step.UNDONE: "as before, read back",
}


class Progress:
    """Prints a line for every switch that was written or undone. Switches that stay as they are have none."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._written: set[str] = set()

    def __call__(self, step: Step, switch: str) -> None:
        """An Observer (fabric.progress)."""
        if self._quiet:
            return
        words = _WORDS.get(step)
        if step is Step.WRITTEN:
            self._written.add(switch)
        elif step is Step.VERIFIED and switch in self._written:
            words = "read back as intended"
        if words is not None:
            printing.errors.print(f"{switch}: {words}", highlight=False, style="dim")
