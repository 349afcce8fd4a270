"""`eeon config`: check, plan, apply and roll back a configuration. Each verb has its own file."""

from __future__ import annotations

import click

from eeon_control.cli.lazy import LazyGroup

_PLACES = {
    "apply": "eeon_control.cli.config.apply:apply",
    "confirm": "eeon_control.cli.config.confirm:confirm",
    "drift": "eeon_control.cli.config.drift:drift",
    "explain": "eeon_control.cli.config.explain:explain",
    "history": "eeon_control.cli.config.history:history",
    "list": "eeon_control.cli.config.list:list_",
    "plan": "eeon_control.cli.config.plan:plan",
    "recover": "eeon_control.cli.config.recover:recover",
    "rollback": "eeon_control.cli.config.rollback:rollback",
    "schema": "eeon_control.cli.config.schema:schema",
    "show": "eeon_control.cli.config.show:show",
    "validate": "eeon_control.cli.config.validate:validate",
}


@click.group(cls=LazyGroup, places=_PLACES)
def config() -> None:
    """Check, plan, apply and roll back the configuration of a whole fabric."""
