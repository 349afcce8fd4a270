"""`eeon config`: check, plan, apply and roll back a configuration. Each verb has its own file."""

import click

from eeon_control.cli.lazy import LazyGroup

_VERBS = (
    *("apply", "confirm", "drift", "explain", "history", "plan"),
    *("recover", "rollback", "schema", "show", "validate"),
)
_PLACES = {verb: f"{__name__}.{verb}:{verb}" for verb in _VERBS} | {"list": f"{__name__}.list:list_"}


@click.group(cls=LazyGroup, places=_PLACES)
def config() -> None:
    """Check, plan, apply and roll back the configuration of a whole fabric."""
