"""`eeon config show`."""

import difflib

import click

from eeon_control.cli import options
from eeon_control.cli.config.common import revision_argument
from eeon_control.cli.output import print_json
from eeon_control.errors import StateError
from eeon_control.sources import yaml_text
from eeon_control.state import Revision


@click.command()
@revision_argument
@options.store_options
@click.option(
    "--diff", nargs=2, type=click.IntRange(min=1), metavar="N M", help="show the changes from N to M"
)
@options.output_option
def show(number: int | None, fabric: options.Fabric, diff: tuple[int, int] | None, output: str) -> None:
    """Print the configuration of revision N (default: the current one). Contacts no switch.

    The output is a configuration file: the result of `eeon config show 3 > back.yaml` can be applied again.
    """
    store = fabric.store()
    if diff is not None:
        if number is not None:
            raise click.UsageError("give N or --diff N M, not both")
        old, new = (store.revision(one) for one in diff)
        lines = _differences(old, new)
        if output == "json":
            value = {"from": old.number, "to": new.number, "lines": [line.rstrip("\n") for line in lines]}
            print_json(value)
        else:
            click.echo("".join(lines), nl=False)
        return
    revision = store.current() if number is None else store.revision(number)
    if revision is None:
        raise StateError(f"{store.folder}: no revision yet")
    if output == "json":
        click.echo(revision.model_dump_json(indent=1))
        return
    comment = f": {' '.join(revision.comment.split())}" if revision.comment else ""
    click.echo(f"# revision {revision.number}, {revision.action}, {revision.made} by {revision.by}{comment}")
    click.echo(yaml_text(revision.intent.configuration), nl=False)


def _differences(old: Revision, new: Revision) -> list[str]:
    lines: list[str] = []
    for part in ("configuration", "topology", "targets"):
        before, after = (yaml_text(getattr(one.intent, part)).splitlines(keepends=True) for one in (old, new))
        from_name, to_name = (f"revision {one.number} {part}" for one in (old, new))
        lines += difflib.unified_diff(before, after, from_name, to_name)
    return lines
