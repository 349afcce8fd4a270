"""Shell completion of values: packaged names, switches, ports, revisions.

A completion must be quick and silent: on any error, it offers nothing.
"""

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from eeon_control import data
from eeon_control import topology as topologies
from eeon_control.topology import Topology

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_Known = Callable[[click.Context], Iterable[str | CompletionItem]]


def _of(known: _Known, *otherwise: CompletionItem) -> Complete:
    """Returns a completion of those of the known values that fit; of `otherwise`, if none does."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            items = [CompletionItem(one) if isinstance(one, str) else one for one in known(ctx)]
        except Exception:  # a traceback in the middle of a command line would not help
            return []
        return [one for one in items if one.value.startswith(incomplete)] or [*otherwise]

    return complete


def _topology(ctx: click.Context) -> Topology:
    """Returns the topology given earlier on the command line."""
    return topologies.load(ctx.params["topology_name"])


def _ports(ctx: click.Context) -> Iterable[CompletionItem]:
    for port in _topology(ctx).ports():
        yield CompletionItem(port.name, help=f"{port.role.value}, to {port.peer}")


def _revisions(ctx: click.Context) -> Iterable[str]:
    """Returns the revisions of the fabric given earlier on the command line, newest first."""
    from eeon_control.state import StateStore, folder_of  # imports gRPC, which no other completion needs

    name = ctx.params.get("topology_name")
    folder = folder_of(topologies.load(name).name if name else "", ctx.params.get("state_folder"))
    return map(str, range(StateStore.open(folder, create=False).current_number(), 0, -1))


_FILES = CompletionItem("", type="file")
topology_names = _of(lambda ctx: data.names("topologies"), _FILES)
config_names = _of(lambda ctx: data.names("examples"), _FILES)
switch_names = _of(lambda ctx: _topology(ctx).switches)
host_names = _of(lambda ctx: _topology(ctx).hosts)
target_names = _of(lambda ctx: (f"{name}=" for name in _topology(ctx).switches))
port_names = _of(_ports)
revision_numbers = _of(_revisions)
