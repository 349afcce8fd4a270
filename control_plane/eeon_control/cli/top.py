"""`eeon top`: ports of a running fabric, again and again, the busiest first."""

from __future__ import annotations

from pathlib import Path

import click

from eeon_control import views
from eeon_control.cli import options
from eeon_control.cli.show import common
from eeon_control.cli.show.watch import Kind, ViewData, ViewLoop, ViewOptions
from eeon_control.fabric.read import Wanted
from eeon_control.units import Duration
from eeon_control.views import Selection, View

_WANTED = Wanted(entries=True, counters=True, registers=views.TOP_REGISTERS, clock=True, ports=True)
_FILTERS = {
    "down": views.only_if("link", "down"),
    "drops": views.counted("dropped"),
    "marks": views.counted("marked"),
    "queued": views.counted("occupancy_bytes"),
    "traffic": views.counted("sent_bytes"),
}


@click.command(epilog=common.EXIT_CODES)
@options.topology_option(required=False)
@options.target_options
@click.option(
    "--interval",
    "interval_s",
    type=options.SPAN,
    default="2s",
    show_default=True,
    help="time between readings",
)
@click.option("--once", is_flag=True, help="show one interval and end, for scripts")
@common.switch_option()
@common.only_option(_FILTERS)
@click.option("--sort", metavar="COLUMN", default="used", show_default=True, help="in order of this column")
@common.ORDER[0]
@options.output_option
def top(
    topology_name: str | None,
    targets_file: Path | None,
    target_texts: tuple[str, ...],
    tick: Duration | None,
    interval_s: float,
    once: bool,
    switches: tuple[str, ...],
    only: tuple[str, ...],
    sort: str,
    reverse: bool,
    output: str,
) -> int:
    """Show what ports do now: load, queue, marks, drops, sleep.

    Until Ctrl-C, and the busiest port first. All comes over P4Runtime; BMv2's queues and sleep need `thrift`
    in the targets file.

    \b
    EXAMPLES
      eeon top -t leaf-spine-4 -T targets.yaml
      eeon top --sort drops --only drops
      eeon top --once --interval 10s --json
    """
    whole = options.topology_or_known(topology_name)
    part = views.select(whole, Selection(switches))
    targets = options.targets_or_known(whole.name, targets_file, target_texts, tick)

    def view(data: ViewData) -> View:
        assert data.before is not None, "it has an interval"
        return views.top(data.topology, data.before, data.observed, data.targets.tick)

    kind = Kind(_WANTED, view, has_own_interval=True, filters=_FILTERS)
    asked = ViewOptions(
        output, interval_s, None if once else interval_s, only=only, sort=sort, reverse=reverse
    )
    loop = ViewLoop(kind, whole, part, targets, asked)
    loop.run()
    return 1 if loop.failed else 0
