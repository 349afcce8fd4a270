"""Functions shared by several verbs of `eeon config`."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from eeon_control import config as configs
from eeon_control import fabric, state
from eeon_control import topology as topologies
from eeon_control.cli import completions, options
from eeon_control.cli.output import print_problems, say, span
from eeon_control.config import FabricConfig
from eeon_control.errors import EeonError, InputError, Place, Problem, Severity, StateError, Stopped
from eeon_control.fabric import FabricPlan, Step
from eeon_control.fabric.sync import run
from eeon_control.operations import Work, owned, settle
from eeon_control.state import Intended, StateStore, clock
from eeon_control.targets import Foreign, Targets
from eeon_control.topology import Topology

revision_argument = click.argument(
    "number",
    required=False,
    type=click.IntRange(min=1),
    metavar="[N]",
    shell_complete=completions.revision_numbers,
)


def meant_by(config_names: tuple[str, ...], fabric: options.Fabric, foreign: Foreign | None) -> Intended:
    """Returns the configuration, topology and targets of a command line, and prints warnings. An omitted
    topology is taken from the targets file or the current revision, omitted targets from that revision.
    `foreign`: overrides the targets'. Raises EeonError if one is unknown or has errors."""
    loaded = configs.load(*config_names)
    if fabric.has_targets:
        named = fabric.targets.topology
        fabric = replace(fabric, topology_name=fabric.topology_name or named)
    topology, targets = fabric.topology, fabric.targets
    if foreign is not None:
        targets = replace(targets, foreign=foreign)
    problems = [
        *configs.check(loaded, topology, targets.tick),
        *_other_links(topology, targets),
        *_unset(loaded),
    ]
    print_problems(problem for problem in problems if problem.severity is Severity.WARNING)
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise InputError(errors)
    return Intended(topology, loaded, targets)


def _unset(loaded: FabricConfig) -> Iterator[Problem]:
    """Yields a warning about settings that P4Runtime cannot write."""
    if not loaded.quanta:
        return
    owner = next(name for name, one in loaded.classes.items() if one.quantum is not None)
    flags = " ".join(f"--queue-quantum {priority}={quantum}" for priority, quantum in loaded.quanta.items())
    yield loaded.document.warning(
        ("classes", owner, "quantum"),
        f"P4Runtime cannot set how a port serves its queues: start eeon-switch with {flags}; BMv2 serves "
        "them by strict priority",
    )


def _other_links(topology: Topology, targets: Targets) -> Iterator[Problem]:
    """Yields a warning about the first port whose link in the switches' own topology has another rate, or
    leads to another node, than in `topology`."""
    if targets.topology is None:
        return
    try:
        own = topologies.load(targets.topology)
    except EeonError:
        return  # the fabric is gone, or the targets file comes from another machine
    meant, there = ({port.name: port for port in one.ports()} for one in (topology, own))
    for name in dict.fromkeys((*there, *meant)):
        links = [
            f"{one[name].rate} to {one[name].peer.node}" if name in one else "no link"
            for one in (there, meant)
        ]
        if links[0] != links[1]:
            rule = (
                f"{name} has {links[0]} in {targets.topology}, the topology of these switches, but "
                f"{links[1]} in {topology.name}: routes, thresholds and EEE times will be wrong; give "
                f"-t {shlex.quote(targets.topology)}"
            )
            yield Problem(Place("targets"), "", "", rule, Severity.WARNING)
            return


def plan(meant: Intended, folder: Path | None) -> FabricPlan:
    """Returns the changes that an apply of `meant` would make, given the revision in force, if there is one.

    `folder`: the value of --state. Raises EeonError.
    """
    before, path = None, state.folder_of(meant.topology.name, folder)
    if meant.targets.foreign == "keep" and state.is_there(path):
        before = StateStore.open(path, create=False).intended()
    with suppress(StateError):  # a plan needs no state folder
        tell_of_unfinished(StateStore.open(path, create=False))
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
        before = store.current_number()
        try:
            run(settle(work))
            yield work
        except Stopped:
            raise
        except KeyboardInterrupt:
            raise Stopped(_left_by_a_stop(store, before)) from None


def _left_by_a_stop(store: StateStore, before: int) -> str:
    """Returns what a command leaves that was stopped after its commit, or once more while it undid."""
    now, pending = store.current_number(), store.pending()
    if store.has_journal():
        return (
            "stopped before every switch was as before: switches may hold a mix. The journal in "
            f"{store.folder} is kept: `eeon config recover` restores them"
        )
    if now == before:
        return "stopped"
    waits = f"; without `eeon config confirm`, revision {pending.back_to} returns" if pending else ""
    return f"stopped, but revision {now} was already in force on all switches{waits}"


def tell_of_unfinished(store: StateStore) -> None:
    """Prints on stderr that a revision waits to be confirmed, and that an apply writes or was killed."""
    pending, journal = store.pending(), store.journal()
    if pending is not None:
        if left := pending.seconds_left(clock.now()):
            what = f"waits to be confirmed; {span(left)} left until revision {pending.back_to} is restored"
        else:
            what = (
                "was not confirmed in time: a running `eeon controller run`, or the next command that "
                f"changes the fabric, restores revision {pending.back_to}"
            )
        say(f"revision {pending.revision} {what}")
    if journal is not None and journal.revision > store.current_number():
        progress = f", {journal.progress}," if journal.progress else ""
        say(
            f"{journal.holder}{progress} is writing to the switches, or was interrupted: `eeon config "
            "recover` finishes it"
        )


_WORDS = {
    Step.WAVE: "begins",
    Step.PASSED: "its gate is open",
    Step.LOADED: "program loaded",
    Step.WRITTEN: "written",
    Step.UNDOING: "undoing",
    Step.UNDONE: "as before, read back",
}


@dataclass
class Progress:
    """Prints a line for every switch that was written or undone, and none for unchanged switches."""

    quiet: bool = False
    written: set[str] = field(default_factory=set)

    def __call__(self, step: Step, switch: str) -> None:
        """Prints a step; this makes the object an Observer (fabric.progress)."""
        if self.quiet:
            return
        words = _WORDS.get(step)
        if step is Step.WRITTEN:
            self.written.add(switch)
        elif step is Step.VERIFIED and switch in self.written:
            words = "read back as intended"
        if words is not None:
            say(f"{switch}: {words}", "dim", folds=True)
