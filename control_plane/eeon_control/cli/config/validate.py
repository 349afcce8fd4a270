"""`eeon config validate`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from eeon_control import config as configs
from eeon_control import topology as topologies
from eeon_control.cli import options
from eeon_control.cli import output as printing
from eeon_control.config import FabricConfig
from eeon_control.errors import EeonError, InputError, Place, Problem, Severity
from eeon_control.plan import intended
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
    type=click.Path(dir_okay=False, path_type=Path),
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
    eeon config validate -c fabric.yaml
    eeon config validate -c fabric.yaml -t leaf-spine-4 -T targets.yaml --strict -o json
    """
    checked = _Checked(config_names, topology_name, targets_file, tick)
    failing = [one for one in checked.problems if strict or one.severity is Severity.ERROR]
    if output == "json":
        printing.print_json([printing.problem_row(one) for one in checked.problems])
    else:
        printing.print_problems(checked.problems)
        if not failing:
            click.echo(checked.summary())
    ctx.exit(1 if failing else 0)


class _Checked:
    """The files, read as far as possible, and all problems found."""

    def __init__(
        self,
        config_names: tuple[str, ...],
        topology_name: str | None,
        targets_file: Path | None,
        tick: Duration | None,
    ) -> None:
        self.names = ", ".join(config_names)
        self.problems: list[Problem] = []
        self.config: FabricConfig | None = None
        self.topology: Topology | None = None
        self.entries: dict[str, int] = {}
        document = None
        with _collecting(self.problems, self.names):
            document = configs.read(*config_names)
            self.config = configs.from_document(document)
        if topology_name is not None:
            with _collecting(self.problems, topology_name):
                self.topology = topologies.load(topology_name)
        if targets_file is not None:
            with _collecting(self.problems, str(targets_file)):
                targets = load_targets(targets_file)
                tick = tick or targets.tick
                if self.topology is not None:
                    resolve(self.topology, targets.switches)
        if self.config is None and document is not None and self.topology is not None:
            told = {(one.place, one.key) for one in self.problems}
            found = configs.check_names(document, self.topology)
            self.problems += [one for one in found if (one.place, one.key) not in told]
        if self.config is not None and self.topology is not None:
            tick = tick or _ENGINE_TICK
            found = configs.check(self.config, self.topology, tick)
            self.problems += found
            if not any(one.severity is Severity.ERROR for one in found):
                with _collecting(self.problems, self.names):
                    entries = intended(self.topology, self.config, tick)
                    self.entries = {name: len(of) for name, of in entries.items()}

    def summary(self) -> str:
        """Returns a text about the valid files and the values that the controller computes."""
        if self.topology is None or self.config is None:
            return f"{self.names}: well formed; give -t to check it against a topology"
        switches = "1 switch" if len(self.entries) == 1 else f"{len(self.entries)} switches"
        lines = [
            f"{self.names} on {self.topology.name}: valid; {sum(self.entries.values())} entries on {switches}"
        ]
        used = {(self.config.attached(port, "queue"), port.rate) for port in self.topology.ports()}
        rates = sorted({rate for _, rate in used})
        for name, by_rate in configs.default_thresholds(self.config, rates).items():
            shown = [f"{by_rate[str(rate)]} at {rate}" for rate in rates if (name, rate) in used]
            if shown:
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
