"""`eeon show` and `eeon clear`: show entries and counters of the switches, without writing to a switch."""

import json
from typing import Any

import click

from eeon_control.cli import completions, options
from eeon_control.cli.help.examples import FABRIC
from eeon_control.cli.output import counted, print_json, say
from eeon_control.cli.show import baselines, common
from eeon_control.cli.show.common import EXIT_CODES
from eeon_control.cli.show.routes import path, routes
from eeon_control.cli.show.watch import ViewOptions, view_loop
from eeon_control.fabric.read import observe
from eeon_control.fabric.sync import run
from eeon_control.state import clock
from eeon_control.topology import PortRole
from eeon_control.views import KINDS
from eeon_control.views.filters import Selection
from eeon_control.views.kind import COUNTERS, Kind

_ROLES = [role.value for role in PortRole if role is not PortRole.HOST]


@click.group(epilog=EXIT_CODES)
@options.topology_option(required=False)
@options.target_options
@click.pass_context
def show(ctx: click.Context, /, **common: object) -> None:
    """Show a fabric: links, drops and their causes, marks, queues, routes, a flow's path, EEE, energy.

    The commands write to no switch. They report unreachable switches on stderr and show the others. Without
    -T and --target, the addresses of the switches come from the fabric's current revision. Without -t, so
    does the topology, if there is only one fabric. These options can also precede the command's name.

    \b
    EXAMPLES
      eeon show ports -t leaf-spine-4 -T targets.yaml
      eeon show ecn -t leaf-spine-4 -T targets.yaml --nonzero --role uplink
      eeon show energy -t leaf-spine-4 -T targets.yaml --rate 10s -o json
    """
    # Options before the command's name are the defaults of its own options.
    given = {name: value for name, value in common.items() if value}
    ctx.default_map = dict.fromkeys(show.commands, given)


def _command(kind: Kind) -> click.Command:
    """Returns the command of a view, with the view's options."""

    # `asked` holds click's checked parameters, which are named like the fields of ViewOptions.
    def command(
        fabric: options.Fabric,
        switches: tuple[str, ...],
        ports: tuple[str, ...],
        roles: tuple[str, ...],
        **asked: Any,  # noqa: ANN401
    ) -> int:
        selection = Selection(switches, ports, tuple(PortRole(role) for role in roles))
        return view_loop(kind, fabric, selection, ViewOptions(**asked))

    function = options.together(
        *(options.fabric_options, options.output_option, common.switch_option(), _PORT, _ROLE),
        *(common.SORT, common.REVERSE, _WATCH, _COUNT),
        *([common.only_option(kind.filters)] if kind.filters else []),
        *([_ZEROS] if kind.hides_zeros else []),
        *([_RAW] if kind.counts else []),
        *([_NONZERO] if kind.counts or kind.nonzero else []),
        *([_RATE] if kind.counts or kind.has_own_interval else []),
    )(command)
    lines = (f"  eeon show {kind.name} {FABRIC} {more}".rstrip() for more in kind.examples)
    examples = "\n".join(("\n\b\nEXAMPLES", *lines))
    return click.command(kind.name, help=kind.about, epilog=EXIT_CODES + examples)(function)


_PORT = click.option(
    "--port",
    "ports",
    multiple=True,
    metavar="SWITCH:PORT",
    shell_complete=completions.port_names,
    help="show only this port; repeatable",
)
_ROLE = click.option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice(_ROLES),
    help="show only ports of this role; repeatable",
)
_WATCH = click.option(
    "--watch",
    "watch_s",
    is_flag=False,
    flag_value="2s",
    type=options.SPAN,
    help="repeat every 2s, or every TIME, until Ctrl-C; with --rate, show one interval after another",
)
_COUNT = click.option(
    "--count", "blocks", type=click.IntRange(1), help="with --watch: stop after this many blocks"
)
_RATE = click.option(
    "--rate",
    "interval_s",
    type=options.SPAN,
    metavar="TIME",
    help="read twice, TIME apart (5s), and show the difference per second",
)
_NONZERO = click.option(
    "--nonzero", is_flag=True, help="show only rows with a count above zero; for queues, rows with packets"
)
_ZEROS = click.option(
    "--zeros", is_flag=True, help="also show rows without packets; by default, only --json has them"
)
_RAW = click.option(
    "--raw",
    is_flag=True,
    help="show counts since the switch started, without the zero point of `eeon clear counters`",
)


for _kind in KINDS:
    show.add_command(_command(_kind))
show.add_command(routes)
show.add_command(path)


@click.group()
def clear() -> None:
    """Set a new zero point for the counters in this user's `eeon show`."""


@clear.command("counters", epilog=EXIT_CODES)
@options.fabric_options
@click.option("--undo", is_flag=True, help="remove the stored values; contact no switch")
@options.output_option
def clear_counters(fabric: options.Fabric, undo: bool, output: str) -> int:
    """Store the counters' values; `eeon show ports|ecn|counters` then show the increase since then.

    The command writes to no switch, and other users see the same counts as before. When a switch restarts,
    its counters start at zero, and `eeon show` reports it.

    \b
    EXAMPLES
      eeon clear counters -t leaf-spine-4 -T targets.yaml
      eeon show ecn -t leaf-spine-4 -T targets.yaml --nonzero
      eeon show ecn -t leaf-spine-4 -T targets.yaml --raw
      eeon clear counters -t leaf-spine-4 --undo
    """
    topology = fabric.topology
    if undo:
        there = baselines.forget(topology.name)
        said = "counters are shown since the switches started" if there else "there was nothing to undo"
        click.echo(json.dumps({"undone": there}) if output == "json" else said)
        return 0
    switches = fabric.targets.switches
    observed = run(observe(topology, switches, COUNTERS))
    for why in observed.failures.values():
        say(why, "red")
    if not observed.switches:
        return 1
    path = baselines.save(topology.name, baselines.Baseline.of(observed, switches, clock.now()))
    if output == "json":
        value = {"switches": list(observed.switches), "file": str(path), "unreachable": observed.failures}
        print_json(value)
    else:
        count = counted(len(observed.switches), "switch", "switches")
        click.echo(f"counters of {count} are now shown from zero; their values are stored in {path}")
    return 1 if observed.failures else 0
