"""Reads the switches once or repeatedly, and prints a view each time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from time import sleep

import click
from rich.console import Group
from rich.live import Live
from rich.text import Text

from eeon_control.cli.options import Fabric
from eeon_control.cli.output import console, counted
from eeon_control.cli.show import baselines, common, printing
from eeon_control.errors import EeonError
from eeon_control.fabric.read import FabricObservation, observe
from eeon_control.fabric.sync import run
from eeon_control.state import clock
from eeon_control.targets import Targets
from eeon_control.topology import Topology
from eeon_control.views.change import nonzero, rates, read_once, restarted, since, spans_ps
from eeon_control.views.filters import Selection, only, ordered, select
from eeon_control.views.kind import Kind, ViewData
from eeon_control.views.table import View

_NO_TIME = (
    "these switches have a virtual clock (`clock: virtual` in the targets file). It stands still between "
    "requests, and P4Runtime does not report it, so rates, power and energy have no interval. `eeon replay` "
    "and `eeon demo` run a twin's clock and report its energy"
)


@dataclass(frozen=True)
class ViewOptions:
    """The command line's options. `watch_s`: seconds between readings; `blocks`: number of readings."""

    output: str
    interval_s: float | None = None
    watch_s: float | None = None
    blocks: int | None = None
    nonzero: bool = False
    raw: bool = False
    zeros: bool = False
    only: tuple[str, ...] = ()
    sort: str | None = None
    reverse: bool = False


def view_loop(kind: Kind, fabric: Fabric, selection: Selection, options: ViewOptions) -> int:
    """Shows a view of the selected part of a fabric. Returns the exit code."""
    part = select(fabric.topology, selection)
    if options.blocks is not None and options.watch_s is None:
        raise click.UsageError("--count needs --watch")
    if options.reverse and options.sort is None:
        raise click.UsageError("--reverse needs --sort")
    loop = _ViewLoop(kind, fabric.topology, part, fabric.targets, options)
    loop.run()
    return 1 if loop.failed else 0


class _ViewLoop:
    """Reads a fabric, or a part of it, and prints a view of it, once or repeatedly."""

    def __init__(
        self, kind: Kind, whole: Topology, part: Topology, targets: Targets, options: ViewOptions
    ) -> None:
        self._kind = kind
        self._whole = whole
        self._part = part
        self._targets = targets
        self._options = options
        self._interval_s = options.interval_s or kind.default_interval_s
        if self._interval_s is not None and targets.clock == "virtual":
            raise EeonError(_NO_TIME)
        self._baseline = None if options.raw or not kind.counts else baselines.load(whole.name)
        self._before: FabricObservation | None = None
        self.failed = False

    def run(self) -> None:
        """Prints one block, or with --watch, blocks until Ctrl-C or their number is reached."""
        if self._options.watch_s is None:
            common.print_view(*self._block(), self._whole.name, self._options.output)
            return
        with suppress(KeyboardInterrupt):  # the normal way to end it
            if self._options.output == "table" and sys.stdout.isatty():
                self._redraw(self._blocks(self._options.watch_s))
            else:
                self._repeat(self._blocks(self._options.watch_s))

    def _redraw(self, blocks: Iterator[_Block]) -> None:
        to = console()
        with Live(console=to, auto_refresh=False, screen=True) as live:
            for view, observed in blocks:
                heading = Text(f"{common.now_text()}  (Ctrl-C ends)", style="dim")
                failures = [Text(why, style="red") for why in common.troubles(observed)]
                live.update(Group(heading, printing.as_table(view, to.width), *failures), refresh=True)

    def _repeat(self, blocks: Iterator[_Block]) -> None:
        for number, block in enumerate(blocks):
            if number and self._options.output == "table":
                click.echo()
            common.print_view(*block, self._whole.name, self._options.output, repeats=True)

    def _blocks(self, watch_s: float) -> Iterator[_Block]:
        for number in count() if self._options.blocks is None else range(self._options.blocks):
            if number and self._interval_s is None:
                sleep(watch_s)
            yield self._block()

    def _block(self) -> _Block:
        if self._interval_s is not None:
            if self._before is None:
                self._before = self._observe()
            sleep(self._interval_s)
        observed = self._observe()
        view = self._view(observed)
        if self._interval_s is not None:  # without it, every block is since the start
            self._before = observed
        return view, observed

    def _observe(self) -> FabricObservation:
        observed = run(observe(self._whole, self._targets.switches, self._kind.wanted, self._part))
        self.failed = self.failed or bool(common.troubles(observed))
        return observed

    def _view(self, observed: FabricObservation) -> View:
        kind, before = self._kind, self._before
        view = kind.make(ViewData(self._part, self._targets, observed, before))
        if before is not None and not kind.has_own_interval:
            gone = restarted(before, observed)
            earlier = kind.make(ViewData(self._part, self._targets, before))
            view = rates(view, earlier, spans_ps(before, observed), ignored=gone)
            view.notes += [f"{name} has restarted; no rate yet" for name in gone]
        elif self._baseline is not None:
            view = self._since_baseline(view, observed, self._baseline)
        if before is not None:
            view.notes += read_once(before, observed)
        if kind.finish is not None:
            view = kind.finish(self._part, view, before is not None)
        view = self._without_zeros(view)
        if self._options.only:
            view = only(view, [kind.filters[name] for name in self._options.only])
        if self._options.sort is not None:
            view = ordered(view, self._options.sort, reverse=self._options.reverse)
        return view

    def _without_zeros(self, view: View) -> View:
        options = self._options
        hides = self._kind.hides_zeros and options.output == "table" and not (options.zeros or options.only)
        if not options.nonzero and not hides:
            return view
        own = self._kind.nonzero
        shown = nonzero(view) if isinstance(own, bool) else replace(view, rows=list(filter(own, view.rows)))
        hidden = len(view.rows) - len(shown.rows)
        if hides and hidden:
            rows = counted(hidden, "row")
            shown.notes = [*shown.notes, f"{rows} without a packet left out; --zeros shows them"]
        return shown

    def _since_baseline(self, view: View, observed: FabricObservation, baseline: baselines.Baseline) -> View:
        earlier = baseline.observation(self._targets.switches)
        passed = clock.now().seconds_since(baseline.taken_at)
        gone = restarted(earlier, observed, passed_us=None if passed is None else round(passed * 1e6))
        if not any(
            one.counters.received or one.counters.verdicts
            for name, one in earlier.switches.items()
            if name in observed.switches and name not in gone
        ):
            return view  # nothing to subtract: all have restarted, have moved, or had counted nothing
        old = self._kind.make(ViewData(self._part, self._targets, earlier))
        view = since(view, old, ignored=gone)
        at = datetime.fromtimestamp(baseline.taken_at.wall_seconds).strftime("%Y-%m-%d %H:%M:%S")
        view.notes = [*view.notes, f"since `eeon clear counters` at {at}; --raw shows all"]
        if gone:
            view.notes.append(f"restarted since then, so counted from the restart: {', '.join(gone)}")
        return view


_Block = tuple[View, FabricObservation]
