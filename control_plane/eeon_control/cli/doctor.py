"""`eeon doctor`: checks of the machine and of the switches, each with a remedy."""

import os
from collections import Counter
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from eeon_control.cli import options
from eeon_control.cli.output import console, counted, print_json
from eeon_control.doctor import Finding, Level, examine, exit_code
from eeon_control.doctor.finding import fault
from eeon_control.errors import EeonError
from eeon_control.state.folder import folder_of, is_folder_given
from eeon_control.targets import Target, resolve

_FINE = (Level.OK, Level.ABSENT)
_STYLE = {Level.OK: "green", Level.ABSENT: "dim", Level.WARNING: "yellow", Level.FAULT: "red"}

_EPILOG = """
\b
EXIT CODES
  0  no fault, no warning
  1  at least one fault: a part that the command line names does not work
  2  warnings, but no fault
"""


@click.command(epilog=_EPILOG)
@options.fabric_options
@options.state_option
@click.option(
    "--interface",
    "interfaces",
    multiple=True,
    metavar="NAME",
    help="check this network interface of a switch; repeatable",
)
@click.option("--all/--problems", "shows_all", default=True, help="also show checks without a finding")
@options.output_option
def doctor(fabric: options.Fabric, interfaces: tuple[str, ...], shows_all: bool, output: str) -> int:
    """Check this machine, and with -t and -T also the switches, and explain how to correct faults.

    Checks Python, its packages, gRPC, Thrift, p4c and BMv2 if they are installed, the engine, privileges for
    live fabrics, limits, the clock and the fabric's state folder. For each switch, checks P4Runtime, Thrift,
    TLS and the program. Writes nothing.

    \b
    EXAMPLES
      eeon doctor
      eeon doctor -t leaf-spine-4 -T targets.yaml
      eeon doctor --interface leaf1-eth1 --problems -o json
    """
    findings: list[Finding] = []
    targets: dict[str, Target] = {}
    state: Path | None = fabric.state_folder
    try:
        topology = None if fabric.topology_name is None else fabric.topology
        if topology is not None:
            state = folder_of(topology.name, state)
        elif is_folder_given(state):
            state = folder_of("", state)
        given = fabric.given_targets
        if given is not None:
            targets = dict(given.switches)
            if topology is None:
                raise EeonError("targets need a topology (-t): device ids come from it")
            targets = resolve(topology, targets)
    except EeonError as error:
        findings.append(fault("arguments", str(error), "correct the command, or the file it names"))
    findings += examine(os.environ, state=state, targets=targets, interfaces=interfaces)
    shown = [finding for finding in findings if shows_all or finding.level not in _FINE]
    if output == "json":
        _print_json(shown, findings)
    else:
        _print_table(shown, findings)
        if not targets:
            console().print("no switch was checked; give -t and -T to check switches", highlight=False)
    return exit_code(findings)


def _print_json(shown: list[Finding], findings: list[Finding]) -> None:
    rows = [
        {"check": one.check, "level": one.level.value, "found": one.found, "mend": one.mend or None}
        for one in shown
    ]
    print_json({"findings": rows, "summary": _summary(findings)})


def _print_table(shown: list[Finding], findings: list[Finding]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("check", no_wrap=True)
    table.add_column("")
    table.add_column("found", overflow="fold")
    for one in shown:
        found = Text(one.found)
        if one.mend:
            found.append(f"\nfix: {one.mend}", style="bold")
        table.add_row(one.check, Text(one.level.value, style=_STYLE[one.level]), found)
    console().print(table)
    counts = _summary(findings)
    # An optional part that is absent needs no fix.
    fine = counts["ok"] + counts["absent"]
    console().print(
        f"{fine} ok, {counted(counts['warning'], 'warning')}, {counted(counts['fault'], 'fault')}",
        highlight=False,
    )


def _summary(findings: list[Finding]) -> dict[str, int]:
    counted = Counter(one.level for one in findings)
    return {level.value: counted[level] for level in Level}
