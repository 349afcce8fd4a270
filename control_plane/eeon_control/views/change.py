"""Changes between two readings of a view: since a baseline, or per second."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from eeon_control.fabric.read import FabricObservation
from eeon_control.units import PS_PER_S
from eeon_control.views.table import Cell, Column, Row, View

_CLOCK_SLACK_US = 5_000_000

_CellKey = tuple[int, str] | tuple[int, str, str]


def restarted(
    before: FabricObservation, after: FabricObservation, *, passed_us: int | None = None
) -> list[str]:
    """Returns the names of the switches that restarted between two observations.

    A switch has restarted if a counter or its clock has decreased, or if it has run for less than the elapsed
    time (`passed_us`, with a tolerance of 5 s for adjusted clocks).
    """
    return [
        name
        for name, now in after.switches.items()
        if name in before.switches
        and (
            _is_lower(_cells(before, name), _cells(after, name))
            or _has_started_since(before.switches[name].elapsed_us, now.elapsed_us, passed_us)
        )
    ]


def since(now: View, before: View, *, ignored: Collection[str] = ()) -> View:
    """Returns `now` with the counts of `before` subtracted.

    Rows that are not in `before`, and rows of the switches in `ignored`, are unchanged.
    """
    earlier = {_key(before, row): row for row in before.rows}
    counting = [column.key for column in now.columns if column.counts]
    rows = []
    for row in now.rows:
        old = earlier.get(_key(now, row), {}) if _switch(row) not in ignored else {}
        rows.append(row | {key: _less(row[key], old.get(key)) for key in counting})
    return replace(now, rows=rows)


def rates(now: View, before: View, spans_ps: Mapping[str, int], *, ignored: Collection[str] = ()) -> View:
    """Returns `now` with a rate for every count, in its base unit per second, under its key with `_per_s`.

    `spans_ps`: the time between the two readings, by switch. Rows of other switches, which were read only
    once, and of switches in `ignored`, which have restarted, have no rates.
    """
    changed = since(now, before)
    longest = max(spans_ps.values(), default=0) / PS_PER_S
    names = {column.key: f"{column.key}_per_s" for column in now.columns if column.counts}
    rows: list[Row] = []
    for row in changed.rows:
        switch = _switch(row)
        seconds = 0.0 if switch in ignored else spans_ps.get(switch, 0) / PS_PER_S
        rated = row | {key: _rate(row[key], seconds) for key in names}
        rows.append({names.get(key, key): value for key, value in rated.items()})
    columns = [_rate_column(column) if column.counts else column for column in now.columns]
    return replace(now, columns=columns, rows=rows, title=f"{now.title}, over {longest:.3g} s")


def spans_ps(before: FabricObservation, after: FabricObservation) -> dict[str, int]:
    """Returns the time between the two readings of every switch that was read twice. A slow switch has a
    longer one than the others."""
    return {
        name: one.at_ps - before.switches[name].at_ps
        for name, one in after.switches.items()
        if name in before.switches
    }


def read_once(before: FabricObservation, after: FabricObservation) -> list[str]:
    """Returns a note for every switch that could not be read at the start of an interval."""
    return [
        f"{name} could not be read at the start of the interval; what it did since then is unknown"
        for name in after.switches
        if name not in before.switches
    ]


def nonzero(view: View) -> View:
    """Returns the view with only the rows with a count above zero."""
    counting = [column.key for column in view.columns if column.counts]
    rows = [row for row in view.rows if any(row[key] for key in counting)]
    # Without rows, no switch could be read.
    notes = view.notes if rows or not view.rows else [*view.notes, "no packet has been counted"]
    return replace(view, rows=rows, notes=notes)


def _rate_column(column: Column) -> Column:
    return replace(column, key=f"{column.key}_per_s", texts=column.rate_texts or column.texts)


def _key(view: View, row: Row) -> tuple[Cell, ...]:
    return tuple(row[key] for key in view.key)


def _switch(row: Row) -> str:
    name = row["port"] if "port" in row else row["switch"]
    return str(name).rpartition(":")[0] or str(name)


def _less(now: Cell, before: Cell) -> Cell:
    return now - before if isinstance(now, int | float) and isinstance(before, int | float) else now


def _rate(count: Cell, seconds: float) -> Cell:
    return count / seconds if seconds > 0 and isinstance(count, int | float) else None


def _cells(observation: FabricObservation, name: str) -> dict[_CellKey, int]:
    counters = observation.switches[name].counters
    cells: dict[_CellKey, int] = {(one.port, one.packet_class): one.packets for one in counters.received}
    cells |= {(one.port, one.packet_class, one.verdict): one.packets for one in counters.verdicts}
    return cells


def _is_lower(before: dict[_CellKey, int], after: dict[_CellKey, int]) -> bool:
    return any(after[key] < value for key, value in before.items() if key in after)


def _has_started_since(before_us: int | None, after_us: int | None, passed_us: int | None) -> bool:
    if before_us is None or after_us is None:
        return False
    return after_us < before_us or (passed_us is not None and after_us + _CLOCK_SLACK_US < passed_us)
