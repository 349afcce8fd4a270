"""Functions shared by several verbs of `eeon config`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from eeon_control import config as configs
from eeon_control import fabric, state
from eeon_control import topology as topologies
from eeon_control.cli import completions, options
from eeon_control.cli.output import print_problems, say
from eeon_control.config import FabricConfig
from eeon_control.errors import EeonError, InputError, Place, Problem, Severity
from eeon_control.fabric import FabricPlan, Step
from eeon_control.fabric.sync import run
from eeon_control.operations import Work, owned, settle
from eeon_control.state import Intended, StateStore
from eeon_control.targets import Targets
from eeon_control.topology import Topology

revision_argument = click.argument(
    "number",
    required=False,
    type=click.IntRange(min=1),
    metavar="[N]",
    shell_complete=completions.revision_numbers,
)


def meant_by(config_names: tuple[str, ...], fabric: options.Fabric) -> Intended:
    """Returns the configuration, topology and targets of a command line. An omitted topology is taken from
    the targets file or the current revision, omitted targets from that revision. Raises EeonError if
    unknown."""
    loaded = configs.load(*config_names)
    if fabric.has_targets:
        named = fabric.targets.topology
        fabric = replace(fabric, name=fabric.name or named)
    return Intended(fabric.topology, loaded, fabric.targets)


def warn(loaded: FabricConfig, topology: Topology, targets: Targets) -> None:
    """Prints the warnings. Raises InputError with the errors."""
    problems = [
        *configs.check(loaded, topology, targets.tick),
        *_other_rates(topology, targets),
        *_unset(loaded),
    ]
    print_problems(problem for problem in problems if problem.severity is Severity.WARNING)
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise InputError(errors)


def _unset(loaded: FabricConfig) -> Iterator[Problem]:
    """Yields a warning about settings that P4Runtime cannot write."""
    if not loaded.quanta:
        return
    owner = next(name for name, one in loaded.classes.items() if one.quantum is not None)
    flags = " ".join(f"--queue-quantum {priority}={quantum}" for priority, quantum in loaded.quanta.items())
    yield loaded.document.problem(
        ("classes", owner, "quantum"),
        f"P4Runtime cannot set how a port serves its queues: start eeon-switch with {flags}; BMv2 serves "
        "them by strict priority",
        severity=Severity.WARNING,
    )


def _other_rates(topology: Topology, targets: Targets) -> Iterator[Problem]:
    """Yields a warning about the first link whose rate in the switches' own topology differs from
    `topology`."""
    if targets.topology is None:
        return
    try:
        own = topologies.load(targets.topology)
    except EeonError:
        return  # the fabric is gone, or the targets file comes from another machine
    meant = {port.name: port for port in topology.ports()}
    for port in own.ports():
        if port.name in meant and port.rate != meant[port.name].rate:
            rule = (
                f"the link of {port.name} has {port.rate} in {targets.topology}, the topology of these "
                f"switches, but {meant[port.name].rate} in {topology.name}: thresholds and EEE times that "
                f"depend on the rate will be wrong; give -t {targets.topology}"
            )
            yield Problem(Place("targets"), "", "", rule, Severity.WARNING)
            return


def plan(meant: Intended, folder: Path | None) -> FabricPlan:
    """Returns the changes that an apply of `meant` would make, given the revision in force, if there is one.

    `folder`: the value of --state. Raises EeonError.
    """
    before, path = None, state.folder_of(meant.topology.name, folder)
    if meant.targets.foreign == "keep" and path.is_dir():
        before = StateStore.open(path, create=False).intended()
    targets = meant.targets
    return run(
        fabric.plan(
            meant.topology, meant.config, targets.switches, int(targets.tick), owned=owned(meant, before)
        )
    )


@contextmanager
def changing(
    store: StateStore, election_id: int | None, targets: Targets | None, quiet: bool = False
) -> Iterator[Work]:
    """Locks the store, finishes what earlier commands left, reporting it on stderr, and yields the work."""
    command = click.get_current_context().command_path
    with store.lock(command) as lock:
        work = Work(store, lock, election_id=election_id, targets=targets, observer=Progress(quiet), say=say)
        run(settle(work))
        yield work


_WORDS = {
    Step.WAVE: "begins",
    Step.PASSED: "its gate is open",
    Step.LOADED: "program loaded",
    Step.WRITTEN: "written",
    Step.UNDOING: "undoing",
    Step.UNDONE: "as before, read back",
}


class Progress:
    """Prints a line for every switch that was written or undone, and none for unchanged switches."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._written: set[str] = set()

    def __call__(self, step: Step, switch: str) -> None:
        """Prints a step; this makes the object an Observer (fabric.progress)."""
        if self._quiet:
            return
        words = _WORDS.get(step)
        if step is Step.WRITTEN:
            self._written.add(switch)
        elif step is Step.VERIFIED and switch in self._written:
            words = "read back as intended"
        if words is not None:
            say(f"{switch}: {words}", "dim", folds=True)
