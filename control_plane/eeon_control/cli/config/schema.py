"""`eeon config schema`."""

import click

from eeon_control import schemas


@click.command()
@click.argument("kind", type=click.Choice(list(schemas.MODELS)), default="config")
def schema(kind: str) -> None:
    """Print the JSON Schema of configuration, topology or targets files, for editors and CI.

    Save it (eeon config schema > config.schema.json) and start a configuration with the line
    `# yaml-language-server: $schema=config.schema.json`; the editor then completes keys and marks mistakes.
    """
    click.echo(schemas.text(kind), nl=False)
