"""Output of a plan on stdout: in words, as table entries, or as JSON."""

from collections import Counter

import click
from rich.table import Table
from rich.text import Text

from eeon_control.cli.output import console, print_json
from eeon_control.fabric import FabricPlan
from eeon_control.fabric.describe import describe
from eeon_control.topology import Topology
from eeon_control.units import Duration

_TO_DO = {"insert": "to insert", "modify": "to modify", "delete": "to delete"}
_DONE = {"insert": "inserted", "modify": "modified", "delete": "deleted"}
_STYLES = {"insert": "green", "modify": "yellow", "delete": "red"}


def print_plan(
    topology: Topology, plan: FabricPlan, tick: Duration, output: str, *, entries: bool = False
) -> None:
    """Prints the changes that an apply would make."""
    if output == "json":
        print_json(as_value(topology, plan, tick))
        return
    if plan.is_empty:
        click.echo(f"no changes: {len(plan.switches)} switches are as intended")
        return
    if entries:
        console().print(_table(plan))
    else:
        for line in describe(topology, plan, tick):
            click.echo(str(line))
    click.echo(summary(plan))


def as_value(topology: Topology, plan: FabricPlan, tick: Duration) -> dict[str, object]:
    """Returns a plan for JSON: `lines` describes it in words, `switches` has the entries."""
    return {
        "changes": not plan.is_empty,
        "lines": [vars(line) for line in describe(topology, plan, tick)],
        "switches": {
            name: {
                "push_pipeline": one.push_pipeline,
                "keep_entries": one.keep_entries,
                "changes": [
                    {
                        "kind": change.kind.value,
                        "table": change.entry.table,
                        "match": change.entry.match_text,
                        "before": change.before.action_text if change.before else None,
                        "after": change.after.action_text if change.after else None,
                    }
                    for change in one.changes
                ],
            }
            for name, one in plan.switches.items()
        },
    }


def summary(plan: FabricPlan, *, done: bool = False) -> str:
    """Returns one line with the numbers of changes and of switches that an apply changes, or has changed."""
    changes = [change for one in plan.switches.values() for change in one.changes]
    numbers = Counter(change.kind.value for change in changes)
    words = _DONE if done else _TO_DO
    counts = [f"{numbers[kind]} {words[kind]}" for kind in _TO_DO if numbers[kind]]
    if counts:
        number, _, rest = counts[0].partition(" ")
        counts[0] = f"{number} {'entry' if number == '1' else 'entries'} {rest}"
    loads = sum(1 for one in plan.switches.values() if one.push_pipeline)
    program = [f"the program {'was' if done else 'is'} loaded on {loads}"] if loads else []
    what = "; ".join([*([", ".join(counts)] if counts else []), *program])
    changing = sum(1 for one in plan.switches.values() if not one.is_empty)
    of = "switch" if len(plan.switches) == 1 else "switches"
    return f"{changing} of {len(plan.switches)} {of} {'changed' if done else 'change'}: {what}"


def _table(plan: FabricPlan) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("switch", "change", "table", "match", "now", "intended"):
        table.add_column(heading, overflow="fold")
    for name, one in plan.switches.items():
        if one.push_pipeline:
            load = Text("load", style="cyan")
            table.add_row(name, load, "(program)", "", "another program, or none", "E-EON")
        for change in one.changes:
            table.add_row(
                name,
                Text(change.kind.value, style=_STYLES[change.kind.value]),
                change.entry.table,
                Text(change.entry.match_text),
                Text(change.before.action_text if change.before else ""),
                Text(change.after.action_text if change.after else ""),
            )
    return table
