"""`eeon config validate`."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import click

from eeon_control import config as configs
from eeon_control import topology as topologies
from eeon_control.cli import options
from eeon_control.cli import output as printing
from eeon_control.config import FabricConfig
from eeon_control.config.model import Kind
from eeon_control.entries import Entry
from eeon_control.errors import EeonError, InputError, Place, Problem, Severity
from eeon_control.plan import intended
from eeon_control.port_settings import MarkThreshold
from eeon_control.targets import load_targets, resolve
from eeon_control.topology import Topology
from eeon_control.units import Duration

_ENGINE_TICK = Duration.parse("1ns")  # unless a targets file or --tick gives another


@click.command()
@options.config_option
@options.topology_option(required=False)
@click.option(
    "-T",
    "--targets",
    "targets_file",
    metavar="FILE",
    type=options.FILE,
    help="also check this targets file, and timers against its tick",
)
@click.option(
    "--tick",
    type=options.TICK,
    default=None,
    help="check timers against a tick of this length  [default: the targets file's, or 1ns]",
)
@click.option("--strict", is_flag=True, help="treat warnings as errors")
@options.output_option
@click.pass_context
def validate(
    ctx: click.Context,
    config_names: tuple[str, ...],
    topology_name: str | None,
    targets_file: Path | None,
    tick: Duration | None,
    strict: bool,
    output: str,
) -> None:
    """Check configuration files; with a topology, also their effect on its ports. Contacts no switch.

    The command reports every problem of every file at once. Exit code 0: valid, with or without warnings; 1:
    not valid, or a warning with --strict. With -o json, stdout is a list of problems, empty if there are
    none; each has file, line (0: the whole file), key, value, rule and severity (error or warning).

    \b
    EXAMPLES
      eeon config validate -c fabric.yaml
      eeon config validate -c fabric.yaml -t leaf-spine-4 -T targets.yaml --strict -o json
    """
    names = ", ".join(config_names)
    problems: list[Problem] = []
    document = config = topology = None
    entries: Mapping[str, tuple[Entry, ...]] = {}
    with _collecting(problems, names):
        document = configs.read(*config_names)
        config = configs.from_document(document)
    if topology_name is not None:
        with _collecting(problems, topology_name):
            topology = topologies.load(topology_name)
    if targets_file is not None:
        with _collecting(problems, str(targets_file)):
            targets = load_targets(targets_file)
            tick = tick or targets.tick
            if topology is not None:
                resolve(topology, targets.switches)
    if config is None and document is not None and topology is not None:
        told = {(one.place, one.key) for one in problems}
        found = configs.check_names(document, topology)
        problems += [one for one in found if (one.place, one.key) not in told]
    if config is not None and topology is not None:
        tick = tick or _ENGINE_TICK
        found = configs.check(config, topology, tick)
        problems += found
        if not any(one.severity is Severity.ERROR for one in found):
            with _collecting(problems, names):
                entries = intended(topology, config, tick)
    failing = [one for one in problems if strict or one.severity is Severity.ERROR]
    if output == "json":
        printing.print_json([printing.problem_row(one) for one in problems])
    else:
        printing.print_problems(problems)
        if not failing and config is not None:
            unplaced = ": well formed; give -t to check it against a topology"
            click.echo(names + (unplaced if topology is None else _summary(config, topology, entries)))
    ctx.exit(1 if failing else 0)


def _summary(config: FabricConfig, topology: Topology, entries: Mapping[str, tuple[Entry, ...]]) -> str:
    """Returns a text about valid files and the values that the controller computes."""
    switches = "1 switch" if len(entries) == 1 else f"{len(entries)} switches"
    lines = [f" on {topology.name}: valid; {sum(map(len, entries.values()))} entries on {switches}"]
    ports = topology.ports()
    ends = [*ports, *(host.port for host in topology.hosts.values())]
    for kind in get_args(Kind):
        attached = {config.attached(port, kind) for port in ends}
        idle = [name for name in config.document.mapping(("profiles", kind)) if name not in attached]
        if idle:
            lines.append(f"no port has the {kind} profile {', '.join(idle)}")
    used = {(config.attached(port, "queue"), port.rate) for port in ports}
    rates = sorted({rate for _, rate in used})
    for name, profile in config.profiles.queue.items():
        at = [rate for rate in rates if (name, rate) in used]
        if at and isinstance(profile.aqm, MarkThreshold) and profile.aqm.threshold is None:
            shown = [f"{profile.aqm.settings_at(rate).threshold} at {rate}" for rate in at]
            lines.append(f"queue profile {name}: threshold auto is {', '.join(shown)}")
    return "\n".join(lines)


@contextmanager
def _collecting(problems: list[Problem], name: str) -> Iterator[None]:
    """Collects this package's errors as problems; errors without a place get the file's name."""
    try:
        yield
    except InputError as error:
        problems += error.problems
    except EeonError as error:
        problems.append(Problem(Place(name), "", "", str(error)))
