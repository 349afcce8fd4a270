"""`eeon sonic`: conversion of SONiC's CONFIG_DB to a configuration, and back."""

import json
from pathlib import Path

import click

from eeon_control import config as configs
from eeon_control import topology as topologies
from eeon_control.cli import options
from eeon_control.errors import InputError
from eeon_control.sonic import yang
from eeon_control.sonic.database import MAX_BYTES, parse
from eeon_control.sonic.exporting import export as exported
from eeon_control.sonic.exporting import other_queues
from eeon_control.sonic.importing import import_ as imported
from eeon_control.sources import yaml_text
from eeon_control.topology import Switch
from eeon_control.validation import did_you_mean

_file_argument = click.argument("file", metavar="CONFIG_DB", type=options.INPUT)
_switch_option = click.option(
    "--switch", "switch_name", metavar="NAME", required=True, help="switch of the topology"
)


@click.group()
def sonic() -> None:
    """Import queue settings from SONiC, and export a configuration to SONiC."""


@sonic.command("import")
@_file_argument
@options.topology_option()
@_switch_option
@click.option(
    "--queue", type=click.IntRange(0, 63), help="import this queue of each port and leave out the others"
)
@click.option(
    "--buffer",
    metavar="SIZE",
    help="buffer limit for ports whose own limit is not given in bytes, such as 300KB",
)
@click.option("--without", metavar="TABLE", multiple=True, help="leave out this table; repeatable")
def import_(
    file: Path,
    topology_name: str,
    switch_name: str,
    queue: int | None,
    buffer: str | None,
    without: tuple[str, ...],
) -> None:
    """Print the queue settings of CONFIG_DB as a configuration.

    CONFIG_DB is a switch's config_db.json, or - for standard input. Reads PORT, QUEUE, WRED_PROFILE,
    BUFFER_QUEUE, BUFFER_PROFILE and BUFFER_POOL. Ports are matched in the order of the front panel: SONiC's
    first port is port 1. The command reports everything that it cannot map by name as an error, all at once;
    a note on stderr names what is not about queues.
    """
    switch = _switch(topology_name, switch_name)
    database = parse(*options.content_of(file, MAX_BYTES))
    value, notes = imported(database, switch, queue=queue, buffer=buffer, without=without)
    # Checks the result against our own rules.
    configs.from_value(value, str(file))
    for note in notes:
        click.echo(f"note: {note}", err=True)
    click.echo(yaml_text(value), nl=False)


@sonic.command()
@_file_argument
@options.config_option
@options.topology_option()
@_switch_option
@click.option("--queue", type=click.IntRange(0, 63), default=0, help="SONiC queue to set")
@click.option("--pool", default="egress_lossy_pool", help="BUFFER_POOL of the buffers")
@click.option(
    "--yang",
    "models",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="check the patch against SONiC's YANG models, with libyang's yanglint",
)
def export(
    file: Path,
    config_names: tuple[str, ...],
    topology_name: str,
    switch_name: str,
    queue: int,
    pool: str,
    models: Path | None,
) -> None:
    """Print a configuration as a patch of CONFIG_DB.

    CONFIG_DB is the switch's config_db.json, or - for standard input; the patch takes the names of its ports.
    `config load` on the switch loads the patch. The command exports only what SONiC's releases support:
    drop_tail, and red with thresholds in bytes and protect: ect. It reports everything else by name as an
    error, all at once.
    """
    switch = _switch(topology_name, switch_name)
    database = parse(*options.content_of(file, MAX_BYTES))
    patch = exported(
        database, configs.load(*config_names), switch, source=", ".join(config_names), queue=queue, pool=pool
    )
    if models is not None and yang.is_installed():
        yang.check(patch, database, models)
        click.echo("note: libyang accepts the patch", err=True)
    elif models is not None:
        click.echo("note: NOT CHECKED against YANG: yanglint is not on PATH (libyang's tools)", err=True)
    if note := other_queues(database, switch, queue):
        click.echo(f"note: {note}", err=True)
    click.echo(json.dumps(patch, indent=4))


def _switch(topology_name: str, name: str) -> Switch:
    topology = topologies.load(topology_name)
    if name not in topology.switches:
        hint = did_you_mean(name, topology.switches)
        rule = f"is not a switch of the topology{hint}"
        raise InputError.of(topology.name, rule, key="--switch", value=name)
    return topology.switches[name]
