"""`eeon controller`: keep a fabric in its intended configuration."""

import asyncio
from dataclasses import replace

import click

from eeon_control import controller as controllers
from eeon_control import election
from eeon_control.cli import options
from eeon_control.controller import log, process
from eeon_control.controller.metrics import MetricsServer


@click.group()
def controller() -> None:
    """Keep every switch of a fabric at the revision in force."""


@controller.command()
@options.store_options
@click.option(
    "--election-id",
    "rank",
    type=click.IntRange(1, (1 << 64) - 1),
    default=election.DEFAULT,
    help="P4Runtime election id and rank: of the controllers on one state folder, the one with the "
    "largest id is in charge and the others are standbys",
)
@click.option(
    "--check-interval",
    type=options.SPAN_OR_ZERO,
    default="60s",
    metavar="TIME",
    help="time between routine comparisons of a switch; 0: none",
)
@click.option(
    "--metrics-address",
    "metrics",
    type=options.Parsed(MetricsServer),
    metavar="[HOST:]PORT",
    help="address that serves Prometheus metrics; without HOST, loopback  [default: no metrics]",
)
@click.option(
    "--metrics-nonzero",
    is_flag=True,
    help="leave out the ports' packet and byte counters that are zero; Prometheus then misses the first "
    "increase of each",
)
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text")
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info")
def run(
    fabric: options.Fabric,
    rank: int,
    check_interval: float,
    metrics: MetricsServer | None,
    metrics_nonzero: bool,
    log_format: str,
    log_level: str,
) -> None:
    """Run in the foreground until SIGTERM or Ctrl-C.

    The switches continue to forward packets afterwards.

    The intended configuration comes from the state folder (-t, --state or EEON_STATE), which `eeon config
    apply` fills; the controller waits for its first revision. It restores a restarted or replaced switch,
    removes entries of other clients, finishes a killed apply, and rolls back an apply that is not confirmed
    in time.
    """
    if metrics_nonzero and metrics is None:
        raise click.UsageError("--metrics-nonzero needs --metrics-address")
    log.set_up(log_format, log_level)
    store = fabric.store(create=fabric.topology_name is not None or fabric.state_folder is not None)
    timing = controllers.Timing(check=check_interval)
    supervisor = controllers.Supervisor(store, controllers.Options(rank=rank, timing=timing))
    service = None if metrics is None else replace(metrics, zeros=not metrics_nonzero).open
    asyncio.run(process.run(supervisor, service))
