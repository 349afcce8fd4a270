"""`eeon lab`: any v1model program on a small network, in virtual time; hosts ping, stream and send by
command."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from eeon_control.cli.options import FILE, FOLDER, QuantityType, json_option
from eeon_control.cli.output import console, print_json
from eeon_control.units import DataRate, Duration

from eeon_tools.cli.support import reports_errors, seed_option
from eeon_tools.errors import InputError
from eeon_tools.tables import Rows

if TYPE_CHECKING:
    from eeon_tools.lab import Lab

_PROMPT = "lab> "


@click.group()
def lab() -> None:
    """Run your own P4 program on a small network, without root and in virtual time."""


@lab.command()
@click.argument("topology")
@click.option("--program", type=FILE, help="BMv2 JSON for switches whose own files name none.")
@click.option("--p4info", type=FILE, help="Its P4Info in text format.")
@click.option(
    "-x",
    "--run",
    "lines",
    multiple=True,
    metavar="COMMAND",
    help="Run this command and exit, for example -x 'h1 ping h2'; repeatable.  [default: read commands]",
)
@click.option(
    "--rate",
    type=QuantityType(DataRate, minimum=1),
    default="1Gbps",
    help="Rate of links for which a tutorial's topology gives none.",
)
@click.option(
    "--queue", type=click.IntRange(1, 1 << 20), default=64, help="Number of packets that a port can queue."
)
@click.option(
    "--first-port",
    type=click.IntRange(1, 65535),
    help="P4Runtime: TCP port of the first switch; the others follow.  [default without -x: 50051]",
)
@click.option("--pcap", type=FOLDER, help="Folder for a capture of each host.")
@seed_option("Seed of random draws.")
@json_option
@reports_errors
def up(
    topology: str,
    program: Path | None,
    p4info: Path | None,
    lines: tuple[str, ...],
    rate: DataRate,
    queue: int,
    first_port: int | None,
    pcap: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Bring up TOPOLOGY, and run commands that you type or give with -x.

    TOPOLOGY is a topology.json of the P4 tutorials, with the sX-runtime.json files that it names, or one of
    this project's topologies. Commands: h1 ping h2, h1 udp h2 --rate 1Mbps --for 2s, h1 tcp h2 1MB, h1 send
    FILE.pcap, pingall; `help` lists all.
    """
    if as_json and not lines:
        raise click.UsageError("--json needs --run; typed commands print text")
    from eeon_tools.lab import Lab, read_topology

    loaded = read_topology(topology, rate)
    with Lab(loaded, program, p4info, seed=seed, queue_limit_packets=queue, pcap=pcap) as running:
        for note in loaded.notes:
            click.echo(f"{topology}: {note}", err=True)
        for host in loaded.hosts.values():
            for command in host.ignored:
                click.echo(
                    f"{host.name}: {command!r} was not run: a lab takes routes and neighbours at eth0, "
                    "such as `route add default gw IP` and `arp -s IP MAC`",
                    err=True,
                )
        if first_port is not None or not lines:
            targets = running.serve(50051 if first_port is None else first_port)
            click.echo("P4Runtime: " + ", ".join(f"{name} {at}" for name, at in targets.items()), err=as_json)
        if lines:
            results = [result for line in lines for result in _do(running, line, as_json)]
            if as_json:
                print_json({"results": results, "report": running.report()}, indent=2)
        else:
            _converse(running)


def _converse(running: Lab) -> None:
    """Executes commands from standard input, one in each line, until its end or `exit`. Reports wrong ones;
    on a terminal they do not end the lab."""
    for line in _typed():
        if line.strip() in ("exit", "quit"):
            return
        try:
            _do(running, line, as_json=False)
        except InputError as error:
            click.echo(f"error: {error}", err=True)
            if not sys.stdin.isatty():
                raise click.exceptions.Exit(1) from error


def _typed() -> Iterator[str]:
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        click.echo("`help` lists the commands")
    with suppress(EOFError):
        while True:
            yield input(_PROMPT if is_terminal else "")


def _do(running: Lab, line: str, as_json: bool) -> Sequence[dict[str, object]]:
    from eeon_tools.lab import parse
    from eeon_tools.lab.commands import help_text

    word = line.strip()
    # Text is not for the reader of JSON.
    if word == "help":
        click.echo(help_text(), err=as_json)
    elif word == "hosts":
        for host in running.topology.hosts.values():
            click.echo(f"{host.name}  {host.ipv4}  {host.mac}", err=as_json)
    elif word == "report":
        _report(running).show(console(stderr=as_json))
    else:
        command = parse(line, running.topology.hosts)
        if isinstance(command, Duration):
            running.wait(int(command))
            return []
        done = running.run(*command)
        if not as_json:
            for task in done:
                click.echo(task.text())
        return [task.result() for task in done]
    return []


def _report(running: Lab) -> Rows:
    report = running.report()
    deepest: dict[str, int] = {}
    for queue in report["queue_depth"]["queues"]:
        deepest[queue["switch"]] = max([deepest.get(queue["switch"], 0), *queue["max_bytes"]])
    rows = [
        (
            switch["name"],
            f"{switch['received']:,}",
            f"{switch['sent']:,}",
            f"{sum(switch['drops'].values()):,}",
            f"{deepest.get(switch['name'], 0):,}",
        )
        for switch in report["switches"]
    ]
    return Rows(("switch", "in", "out", "dropped", "deepest queue, B"), rows)
