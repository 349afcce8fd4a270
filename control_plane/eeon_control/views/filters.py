"""The selection and order of a view's rows, from the command line."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from eeon_control.errors import EeonError
from eeon_control.nearest import hint
from eeon_control.topology import PortRole, Topology
from eeon_control.views.table import Cell, Column, Row, View


@dataclass(frozen=True)
class Selection:
    """The selected names and roles; an empty kind selects all. A port must match all kinds."""

    switches: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    roles: tuple[PortRole, ...] = ()

    @property
    def is_all(self) -> bool:
        return not (self.switches or self.ports or self.roles)


def select(topology: Topology, selection: Selection) -> Topology:
    """Returns the topology with only the selected switches and their selected ports.

    A switch without selected ports is omitted. Raises EeonError for an unknown name, or if nothing is left.
    """
    if selection.is_all:
        return topology
    _check(selection.switches, topology.switches, f"switch of {topology.name}")
    _check(selection.ports, [port.name for port in topology.ports()], f"linked port of {topology.name}")
    kept = {}
    for name, switch in topology.switches.items():
        ports = tuple(
            port
            for port in switch.ports
            if (not selection.switches or name in selection.switches)
            and (not selection.ports or port.name in selection.ports)
            and (not selection.roles or port.role in selection.roles)
        )
        if ports:
            kept[name] = replace(switch, ports=ports)
    if not kept:
        raise EeonError(
            f"no port of {topology.name} is in the selection; leave out --switch, --port or --role"
        )
    return replace(topology, switches=kept)


def _check(asked: Iterable[str], known: Collection[str], what: str) -> None:
    for name in asked:
        if name not in known:
            raise EeonError(f"{name} is not a {what}; {hint(name, known)}")


Filter: TypeAlias = Callable[[Row], bool]
"""Returns whether a row matches a filter of `--only`."""


def counted(*keys: str) -> Filter:
    """Returns a filter for rows in which one of these keys is above zero, as a count or as a rate."""
    return lambda row: any(row.get(key) or row.get(f"{key}_per_s") for key in keys)


def other_than(key: str, usual: str) -> Filter:
    """Returns a filter for abnormal rows: `key` is not `usual`."""
    return lambda row: row[key] != usual


def only_if(key: str, value: str) -> Filter:
    """Returns a filter for rows in which `key` is `value`."""
    return lambda row: row[key] == value


def only(view: View, filters: Collection[Filter]) -> View:
    """Returns the view with rows that match one of the filters; a note counts the others."""
    rows = [row for row in view.rows if any(takes(row) for takes in filters)]
    hidden = len(view.rows) - len(rows)
    notes = [*view.notes, f"{hidden} of {len(view.rows)} rows left out by --only"] if hidden else view.notes
    return replace(view, rows=rows, notes=notes)


def ordered(view: View, column_name: str, *, reverse: bool = False) -> View:
    """Returns the view with rows sorted by a column, given by its heading or its JSON key.

    Numbers are in descending order, texts in alphabetical order; `reverse` reverses that. Unknown values come
    last. Raises EeonError for an unknown column.
    """
    key = _column(view, column_name).key
    known = [row for row in view.rows if row[key] is not None]
    unknown = [row for row in view.rows if row[key] is None]
    texts = any(isinstance(row[key], str) for row in known)
    known.sort(key=lambda row: _place(row[key], texts), reverse=texts == reverse)
    return replace(view, rows=[*known, *unknown])


def _place(value: Cell, as_text: bool) -> tuple[float, str]:
    return (0.0, str(value)) if as_text or not isinstance(value, int | float) else (float(value), "")


def _column(view: View, name: str) -> Column:
    shown = [column for column in view.columns if column.shown]
    wanted = name.strip().lower()
    for column in view.columns:
        if wanted in (column.key.lower(), column.name.lower()) and column.name:
            return column
    names = [column.name for column in shown]
    raise EeonError(f"--sort {name}: {view.name} has no such column; {hint(name, names)}")
