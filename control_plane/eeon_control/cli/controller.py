"""`eeon controller`: keep a fabric as it is meant to be."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from eeon_control import controller as controllers
from eeon_control.cli import options
from eeon_control.cli.config.common import open_store
from eeon_control.controller import log, process
from eeon_control.controller.metrics import MetricsDoor
from eeon_control.fabric.session import DEFAULT_ELECTION_ID


class _Interval(click.ParamType):
    """A span of time, or 0."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        return 0.0 if str(value).strip() in ("0", "0.0") else options.SPAN.convert(value, param, ctx)


class _Address(click.ParamType):
    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> MetricsDoor:
        try:
            return value if isinstance(value, MetricsDoor) else MetricsDoor.parse(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.group()
def controller() -> None:
    """Keep every switch of a fabric as the revision in force says, for as long as it runs."""


@controller.command()
@options.topology_option(required=False)
@options.state_option
@click.option(
    "--election-id",
    "rank",
    type=click.IntRange(1, (1 << 64) - 1),
    default=DEFAULT_ELECTION_ID,
    show_default=True,
    help="P4Runtime election id, and rank: of the controllers on one state folder the largest is in charge, "
    "the others stand by",
)
@click.option(
    "--check-interval",
    type=_Interval(),
    default="60s",
    show_default=True,
    metavar="TIME",
    help="compare every switch with what is intended this often even when nothing has happened; 0: never",
)
@click.option(
    "--metrics-address",
    "metrics",
    type=_Address(),
    metavar="[HOST:]PORT",
    help="serve Prometheus metrics here, without a host on loopback  [default: none are served]",
)
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info", show_default=True
)
def run(
    topology_name: str | None,
    state_folder: Path | None,
    rank: int,
    check_interval: float,
    metrics: MetricsDoor | None,
    log_format: str,
    log_level: str,
) -> None:
    """Run in the foreground until SIGTERM or Ctrl-C; the switches then go on forwarding.

    What the switches are to hold comes from the state folder (-t, --state or EEON_STATE), which
    `eeon config apply` fills; before its first revision the controller waits. A restarted or replaced switch
    is brought back, foreign entries are taken away, a killed apply is finished, and an apply that nobody
    confirms is rolled back.
    """
    log.set_up(log_format, log_level)
    store = open_store(
        state_folder, topology_name, create=topology_name is not None or state_folder is not None
    )
    timing = controllers.Timing(check=check_interval)
    supervisor = controllers.Supervisor(store, controllers.Options(rank=rank, timing=timing))
    asyncio.run(process.run(supervisor, process.no_door if metrics is None else metrics.open))
