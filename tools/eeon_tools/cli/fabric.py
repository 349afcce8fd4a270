"""`eeon fabric up`: an idle fabric to try the controller on."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import click
from eeon_control import config as configs
from eeon_control import program as programs
from eeon_control import topology as topologies

from eeon_tools.cli.support import output_file, reports_errors, twin_only


@click.group()
def fabric() -> None:
    """Bring fabrics up."""


@fabric.command()
@click.argument("topology")
@click.option(
    "--target",
    type=click.Choice(["twin", "engine", "bmv2"]),
    default="twin",
    show_default=True,
    help="What runs the switches.",
)
@click.option(
    "--targets",
    "targets_path",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("out/targets.yaml"),
    show_default=True,
    help="Targets file to write: where each switch's P4Runtime server listens.",
)
@reports_errors
def up(topology: str, target: str, targets_path: Path) -> None:
    """Serve the switches of TOPOLOGY over P4Runtime on loopback until interrupted.

    Their virtual clock stands still: the tables can be written and read, but no packet moves.
    """
    twin_only(target)
    from eeon_tools.replay.spec import TICK_PS, fabric_spec
    from eeon_tools.replay.twin import RunningTwin

    loaded = topologies.load(topology)
    idle = configs.load("drop_tail")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with RunningTwin(loaded, programs.load(), fabric_spec(loaded, idle, seed=1)) as twin:
        lines = [f"tick: {TICK_PS // 1000}ns", "switches:"]
        lines += [f"  {name}: {address}" for name, address in twin.targets.items()]
        output_file(targets_path).write_text("\n".join(lines) + "\n", encoding="utf-8")
        click.echo("\n".join(lines))
        click.echo(f"\ntargets file: {targets_path}; Ctrl-C ends the fabric. Try in another terminal:\n"
                   f"  eeon config apply --topology {topology} --targets {targets_path} -c mark_threshold\n"
                   f"  eeon show ports --topology {topology} --targets {targets_path}")  # fmt: skip
        stop.wait()
    click.echo("the fabric is down")
