"""`eeon config`: check a configuration, show what it would change, make it so, go back. One verb a file."""

from __future__ import annotations

import click

from eeon_control.cli.config.apply import apply
from eeon_control.cli.config.confirm import confirm
from eeon_control.cli.config.drift import drift
from eeon_control.cli.config.explain import explain
from eeon_control.cli.config.history import history
from eeon_control.cli.config.list import list_
from eeon_control.cli.config.plan import plan
from eeon_control.cli.config.recover import recover
from eeon_control.cli.config.rollback import rollback
from eeon_control.cli.config.schema import schema
from eeon_control.cli.config.show import show
from eeon_control.cli.config.validate import validate


@click.group()
def config() -> None:
    """Check a configuration, show what it would change, apply it to the whole fabric, go back."""


for _verb in (
    list_,
    schema,
    validate,
    explain,
    plan,
    apply,
    confirm,
    rollback,
    history,
    show,
    drift,
    recover,
):
    config.add_command(_verb)
