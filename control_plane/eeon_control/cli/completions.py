"""Shell completion of values: packaged names, switches, ports, revisions.

A completion must be quick and silent: on any error, it offers nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps

import click
from click.shell_completion import CompletionItem

from eeon_control import data
from eeon_control import topology as topologies
from eeon_control.topology import Topology

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_FILES = CompletionItem("", type="file")


def _silent(function: Complete) -> Complete:
    @wraps(function)
    def quiet(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            return function(ctx, param, incomplete)
        except Exception:  # a traceback in the middle of a command line would not help
            return []

    return quiet


@_silent
def topology_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Returns the packaged topologies that fit; if none does, file names are completed."""
    return _names(data.names("topologies"), incomplete) or [_FILES]


@_silent
def config_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Returns the packaged examples that fit; if none does, file names are completed."""
    return _names(data.names("examples"), incomplete) or [_FILES]


@_silent
def switch_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Returns the switches of the topology given earlier on the command line."""
    return _names(_topology(ctx).switches, incomplete)


@_silent
def host_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Returns the hosts of the topology given earlier on the command line."""
    return _names(_topology(ctx).hosts, incomplete)


@_silent
def target_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Returns the names of switches in the form of `--target`, each followed by `=`."""
    return _names((f"{name}=" for name in _topology(ctx).switches), incomplete)


@_silent
def port_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Returns the linked ports of the topology given earlier on the command line, with their neighbours."""
    return [
        CompletionItem(port.name, help=f"{port.role.value}, to {port.peer}")
        for port in _topology(ctx).ports()
        if port.name.startswith(incomplete)
    ]


@_silent
def revision_numbers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Returns the revisions of the fabric given earlier on the command line, newest first."""
    from eeon_control.state import StateStore, folder_of  # imports gRPC, which no other completion needs

    name = ctx.params.get("topology_name")
    folder = folder_of(topologies.load(name).name if name else "", ctx.params.get("state_folder"))
    numbers = range(StateStore.open(folder, create=False).current_number(), 0, -1)
    return _names((str(number) for number in numbers), incomplete)


def _topology(ctx: click.Context) -> Topology:
    return topologies.load(ctx.params["topology_name"])


def _names(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
