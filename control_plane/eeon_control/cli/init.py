"""`eeon init`: writes the files of a new fabric."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from eeon_control.cli.options import FOLDER, QuantityType, together
from eeon_control.cli.output import counted
from eeon_control.errors import EeonError
from eeon_control.units import DataRate, Duration


def _asked(ctx: click.Context, param: click.Parameter, value: Any) -> Any:  # of the option's own type # noqa: ANN401
    """Returns the given value, else the answer to a prompt at a terminal, else the default."""
    source = ctx.get_parameter_source(str(param.name))
    is_given = source is click.core.ParameterSource.COMMANDLINE
    if is_given or ctx.params.get("takes_defaults") or not sys.stdin.isatty():
        return value
    return click.prompt(f"{param.help}", default=str(value), type=param.type, err=True)


_ASKED = (
    ("--leaves", click.IntRange(1), 2, "number of leaves"),
    ("--spines", click.IntRange(0), 2, "number of spines, each linked to every leaf"),
    ("--hosts", click.IntRange(1), 4, "number of hosts per leaf"),
    ("--host-rate", QuantityType(DataRate), "10Gbps", "rate of links to hosts"),
    ("--uplink-rate", QuantityType(DataRate), "10Gbps", "rate of links between leaves and spines"),
)


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--yes", "takes_defaults", is_flag=True, is_eager=True, help="ask nothing; use the defaults")
@together(
    *(
        click.option(name, type=kind, default=default, callback=_asked, help=text)
        for name, kind, default, text in _ASKED
    )
)
@click.option(
    "--delay",
    type=QuantityType(Duration),
    default="500ns",
    help="propagation delay of every link; 25ns for 5 m of cable",
)
@click.option(
    "--first-port",
    type=click.IntRange(1, 65535),
    default=9559,
    help="TCP port of the first switch in targets.yaml; the others follow",
)
def init(
    folder: Path,
    takes_defaults: bool,
    leaves: int,
    spines: int,
    hosts: int,
    host_rate: DataRate,
    uplink_rate: DataRate,
    delay: Duration,
    first_port: int,
) -> None:
    """Write the files of your own fabric into FOLDER: topology, configuration and targets.

    The files are valid, have comments, and are yours to edit. At a terminal, the command asks for values that
    are not given. It overwrites nothing. The fabric has the folder's name.
    """
    from eeon_control.scaffold import Plan, files

    name = folder.resolve().name
    texts = files(Plan(name, leaves, spines, hosts, host_rate, uplink_rate, delay, first_port))
    there = [str(folder / file) for file in texts if (folder / file).exists()]
    if there:
        raise EeonError(f"{', '.join(there)}: already there; give another folder, or remove the files")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        with suppress(OSError):
            for file in texts:
                (folder / file).unlink(missing_ok=True)
        raise EeonError(f"{folder}: cannot be written: {error.strerror}") from None
    click.echo(
        f"{name}: {counted(leaves, 'leaf', 'leaves')}, {counted(spines, 'spine')}, "
        f"{counted(leaves * hosts, 'host')}"
    )
    for file in texts:
        click.echo(f"  {folder / file}")
    click.echo(_NEXT.format(folder=folder), nl=False)


_NEXT = """
Try it on a twin:
  cd {folder}
  eeon config validate -c config.yaml -t topology.yaml
  eeon fabric up topology.yaml     # until Ctrl-C
and in another terminal:
  eeon config apply -c config.yaml -t topology.yaml \\
    -T out/targets.yaml
  eeon show ports
On switches of your own, with their addresses in
targets.yaml, the same with -T targets.yaml.
"""
