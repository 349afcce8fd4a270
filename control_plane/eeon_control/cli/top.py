"""`eeon top`: repeatedly shows the ports of a running fabric, the busiest first."""

from typing import Any

import click

from eeon_control.cli import options
from eeon_control.cli.show import common
from eeon_control.cli.show.watch import ViewOptions, view_loop
from eeon_control.views.filters import Selection
from eeon_control.views.top import VIEW


@click.command(epilog=common.EXIT_CODES)
@options.fabric_options
@click.option("--interval", "interval_s", type=options.SPAN, default="2s", help="time between readings")
@click.option("--once", is_flag=True, help="show one interval and exit, for scripts")
@common.switch_option()
@common.only_option(VIEW.filters)
@click.option("--sort", metavar="COLUMN", default="used", help="sort by this column")
@common.REVERSE
@options.output_option
def top(
    fabric: options.Fabric,
    interval_s: float,
    once: bool,
    switches: tuple[str, ...],
    **asked: Any,  # checked by click # noqa: ANN401
) -> int:
    """Show the ports' current load, queues, marks, drops and sleep.

    Runs until Ctrl-C, with the busiest port first. The values come over P4Runtime; BMv2's queues and sleep
    need `thrift` in the targets file.

    \b
    EXAMPLES
      eeon top -t leaf-spine-4 -T targets.yaml
      eeon top --sort drops --only drops
      eeon top --once --interval 10s --json
    """
    watch_s = None if once else interval_s
    asked_for = ViewOptions(interval_s=interval_s, watch_s=watch_s, **asked)
    return view_loop(VIEW, fabric, Selection(switches), asked_for)
