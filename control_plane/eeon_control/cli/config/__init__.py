"""`eeon config`: check a configuration, show what it would change, make it so. One verb a file."""

from __future__ import annotations

import click

from eeon_control.cli.config.apply import apply
from eeon_control.cli.config.list import list_
from eeon_control.cli.config.plan import plan
from eeon_control.cli.config.validate import validate


@click.group()
def config() -> None:
    """Check a configuration, show what it would change, apply it to the whole fabric."""


for _verb in (list_, validate, plan, apply):
    config.add_command(_verb)
