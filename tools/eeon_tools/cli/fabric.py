"""`eeon fabric`: a fabric to try the controller on. `up` serves a twin whose clock stands still, or, as root,
switches in real time with hosts in network namespaces; `status`, `exec` and `down` are for the latter."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shlex
import signal
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource
from eeon_control import config as configs
from eeon_control import program as programs
from eeon_control import topology as topologies
from eeon_control.cli.options import FILE, output_file, output_option
from eeon_control.cli.output import console, print_json
from eeon_control.sources import yaml_text
from eeon_control.topology import Topology
from rich.table import Table
from rich.text import Text

from eeon_tools.cli.support import reports_errors

if TYPE_CHECKING:
    from eeon_engine.json_types import FabricSpec

    from eeon_tools.live.state import State

_TARGETS_FILE = Path("out/targets.yaml")
_LIVE_ONLY = {"rate_scale": "--rate-scale", "congestion_control": "--cc", "name": "--name"}


class _Scale(click.ParamType):  # type: ignore[type-arg] # it takes arguments from click 8.3 on
    name = "factor"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        try:
            scale = Fraction(str(value))
        except (ValueError, ZeroDivisionError):
            self.fail(f"{value} is not a factor such as 0.1 or 1/100", param, ctx)
        if not Fraction(1, 10**6) <= scale <= 10:
            self.fail(f"{value} is not within 0.000001 to 10", param, ctx)
        return scale


class Stop:
    """Whether this process was asked to end, by Ctrl-C, SIGTERM or SIGHUP.

    A pipe, not a `threading.Event`: if a signal arrived while `wait` held the event's lock, its handler would
    wait for that lock forever.
    """

    def __init__(self) -> None:
        self._asked, self._ask = os.pipe()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: os.write(self._ask, b"."))

    def wait(self, seconds: float | None = None) -> bool:
        """Waits for a signal, for at most `seconds`; returns whether one has arrived."""
        return bool(select.select([self._asked], [], [], seconds)[0])


_name_option = click.option(
    "--name", default="eeon", help="Live fabric: prefix of its namespaces and interfaces."
)


@click.group()
def fabric() -> None:
    """Start and stop fabrics."""


@fabric.command()
@click.argument("topology")
@click.option(
    "--target",
    type=click.Choice(["twin", "engine", "bmv2"]),
    default="twin",
    help="Kind of switches; engine and bmv2 run in real time, as root.",
)
@click.option(
    "--targets",
    "targets_path",
    type=FILE,
    default=_TARGETS_FILE,
    help="Targets file to write, with the address of each switch's P4Runtime server.",
)
@click.option(
    "--rate-scale",
    type=_Scale(),
    default="1/10",
    help="Live fabric: factor applied to every link's rate, because a computer is slower than the links.",
)
@click.option(
    "--first-port",
    type=click.IntRange(1, 65535),
    help="Twin: TCP port of the first switch; the others follow.  [default: free ports]",
)
@click.option(
    "--cc",
    "congestion_control",
    metavar="NAME",
    help="Live fabric: congestion control of the hosts, whose TCP negotiates ECN.  [default: the "
    "first of dctcp, cubic and reno that the kernel allows in a namespace; all three react to marks]",
)
@_name_option
@reports_errors
def up(
    topology: str,
    target: str,
    targets_path: Path,
    rate_scale: Fraction,
    first_port: int | None,
    congestion_control: str | None,
    name: str,
) -> None:
    """Start the switches of TOPOLOGY, and run them until Ctrl-C.

    The switches serve P4Runtime on loopback. A twin's virtual clock does not advance: clients can write and
    read tables, but no packet moves. The engine and BMv2 run in real time, on veth pairs, and each host is a
    network namespace.
    """
    source = click.get_current_context().get_parameter_source
    for parameter, option in _LIVE_ONLY.items():
        if target == "twin" and source(parameter) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"{option} is for a live fabric; give --target engine or bmv2 as well")
    stop = Stop()
    loaded = topologies.load(topology)
    if first_port is not None and (target != "twin" or first_port + len(loaded.switches) > 65536):
        raise click.UsageError("--first-port is for a twin, and every switch's port must be below 65536")
    if target == "twin":
        _serve_twin(loaded, topology, targets_path, first_port, stop)
    else:
        _run_live(loaded, target, rate_scale, name, congestion_control, targets_path, stop)
    click.echo("the fabric is down")


def _serve_twin(
    loaded: Topology, topology: str, targets_path: Path, first_port: int | None, stop: Stop
) -> None:
    from eeon_tools.replay.spec import CLASS_GATE_REGISTER, TICK_PS, TIMER_REGISTER, fabric_spec
    from eeon_tools.replay.twin import running_twin

    own = str(Path(topology).absolute()) if Path(topology).is_file() else topology.removesuffix(".yaml")
    idle = configs.load("drop_tail")
    # A configuration that is applied later may have classes.
    spec: FabricSpec = {
        **fabric_spec(loaded, idle, seed=1),
        "priorities": configs.PRIORITIES,
        "class_gate_register": CLASS_GATE_REGISTER,
        "timer_register": TIMER_REGISTER,
    }
    with running_twin(loaded, programs.load(), spec, first_port) as twin:
        addresses = {name: one.address for name, one in twin.targets.items()}
        with _targets_file(targets_path, f"{TICK_PS // 1000}ns", own, addresses, {}, clock="virtual"):
            _say_what_to_try(topology, targets_path)
            stop.wait()


def _run_live(
    loaded: Topology,
    target: str,
    scale: Fraction,
    name: str,
    congestion_control: str | None,
    targets_path: Path,
    stop: Stop,
) -> None:
    from eeon_tools.live import running, switches

    with (
        running.up(loaded, target, scale, name, congestion_control) as live,
        _targets_file(
            targets_path,
            switches.TICKS[target],
            str(live.topology_path),
            live.state.addresses,
            live.state.thrift_ports,
        ),
    ):
        _say_what_to_try(str(live.topology_path), targets_path)
        option = "" if name == "eeon" else f" --name {name}"
        first, *_, last = live.topology.hosts.values()
        click.echo(f"  eeon fabric exec{option} {first.name} -- ping -c 3 {last.ipv4}")
        live.watch(stop.wait, lambda text: click.echo(text, err=True))
        if not stop.wait(0):
            raise click.ClickException("all switches have ended; the fabric is taken down")


@contextlib.contextmanager
def _targets_file(
    path: Path,
    tick: str,
    topology: str,
    addresses: Mapping[str, str],
    thrift_ports: Mapping[str, int],
    *,
    clock: str = "",
) -> Iterator[None]:
    """Writes and prints a targets file, and keeps other fabrics from writing it. Raises ClickException if
    the fabric of another process does."""
    given = {"tick": tick, "clock": clock, "topology": topology}
    value: dict[str, object] = {key: text for key, text in given.items() if text}
    value["switches"] = {
        name: {"address": address, "thrift": f"127.0.0.1:{thrift_ports[name]}"}
        if name in thrift_ports
        else address
        for name, address in addresses.items()
    }
    text = yaml_text(value)
    with output_file(path).open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise click.ClickException(
                f"{path}: has the addresses of another fabric, which is running; give this one its own file "
                "with --targets"
            ) from None
        path.write_text(text, encoding="utf-8")
        click.echo(text, nl=False)
        yield


def _say_what_to_try(topology: str, targets_path: Path) -> None:
    where = shlex.join(("--topology", topology, "--targets", str(targets_path)))
    click.echo(f"\ntargets file: {targets_path}; Ctrl-C ends the fabric. Try in another terminal:\n"
               f"  eeon config apply {where} -c mark_threshold\n"
               f"  eeon show ports {where}")  # fmt: skip


@fabric.command()
@_name_option
@output_option
@reports_errors
def status(name: str, output: str) -> None:
    """Show the switches and hosts of a live fabric.

    Exit code 1 if a part of the fabric is not running.
    """
    from eeon_tools.live import state

    record = state.load(name)
    supervised = record.supervisor is not None and record.supervisor.is_alive
    pids = {switch: process.pid for switch, process in record.switches.items() if process.is_alive}
    ended = [switch for switch in record.addresses if switch not in pids]
    if output == "json":
        value = {
            "fabric": record.name,
            "topology": record.topology,
            "target": record.target,
            "is_up": record.is_up,
            "is_supervised": supervised,
            "folder": str(record.folder),
            "switches": {
                switch: {
                    "runs": switch in pids,
                    "pid": pids.get(switch),
                    "address": address,
                    "thrift_port": record.thrift_ports.get(switch),
                }
                for switch, address in record.addresses.items()
            },
            "congestion_control": record.congestion_control or None,
            "hosts": record.namespaces,
        }
        print_json(value)
    else:
        _print_status(record, pids, ended)
    if not supervised:
        raise click.ClickException(
            "`eeon fabric up` is no longer running; `eeon fabric down` removes the rest"
        )
    if ended:
        raise click.ClickException(
            f"{', '.join(ended)} not running; see the logs. `eeon fabric restart SWITCH` restarts one"
        )


def _print_status(record: State, pids: Mapping[str, int], ended: list[str]) -> None:
    table = Table("switch", "process", "P4Runtime", "Thrift port", box=None, pad_edge=False)
    for switch, address in record.addresses.items():
        runs = Text(str(pids[switch])) if switch in pids else Text("ended", style="red")
        table.add_row(switch, runs, address, str(record.thrift_ports.get(switch, "-")))
    how = "not up" if not record.is_up else f"up without {', '.join(ended)}" if ended else "up"
    click.echo(f"{record.name}: {record.topology} on {record.target}, {how}")
    console().print(table)
    hosts = ", ".join(f"{host} ({namespace})" for host, namespace in record.namespaces.items())
    click.echo(f"hosts' congestion control: {record.congestion_control or 'the system default'}, with ECN")
    click.echo(f"hosts and their namespaces: {hosts}\nlogs and the topology with its rates: {record.folder}")


@fabric.command()
@_name_option
@click.argument("switch")
@reports_errors
def restart(name: str, switch: str) -> None:
    """Restart a switch of a live fabric.

    If the switch is still running, the command ends it first. Its links are down until it runs again. It
    loses its program and its entries; a running `eeon controller run` restores them, and so does `eeon config
    apply`.
    """
    from eeon_tools.live import running

    process = running.restart(name, switch)
    click.echo(f"{switch} runs, process {process.pid}, without a program; `eeon config apply` loads one")


@fabric.command("exec", context_settings={"ignore_unknown_options": True})
@_name_option
@click.argument("host")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@reports_errors
def exec_(name: str, host: str, command: tuple[str, ...]) -> None:
    """Run COMMAND on HOST of a live fabric.

    COMMAND runs in the host's network namespace: eeon fabric exec h1 -- ping -c 3 10.0.2.1
    """
    from eeon_tools.errors import InputError
    from eeon_tools.live import network, state

    network.check_possible()
    record = state.load(name)
    namespace = record.namespaces.get(host)
    if namespace is None:
        raise InputError("HOST", host, f"is not one of {', '.join(record.namespaces)}")
    os.execvp("ip", ["ip", "netns", "exec", namespace, *command])


@fabric.command()
@_name_option
@reports_errors
def down(name: str) -> None:
    """Remove a live fabric, even after a crash.

    The command ends the fabric's switches and its hosts' processes, and removes its namespaces and links.
    """
    from eeon_tools.live import running

    click.echo(running.down(name))
