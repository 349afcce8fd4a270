"""What several verbs of `eeon config` do alike."""

from __future__ import annotations

from eeon_control import config as configs
from eeon_control.cli import output as printing
from eeon_control.config import FabricConfig
from eeon_control.errors import InputError, Severity
from eeon_control.topology import Topology
from eeon_control.units import Duration


def warn(loaded: FabricConfig, topology: Topology, tick: Duration) -> None:
    """Show warnings; raise InputError with the errors."""
    problems = configs.check(loaded, topology, tick)
    printing.print_problems(problem for problem in problems if problem.severity is Severity.WARNING)
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise InputError(errors)
