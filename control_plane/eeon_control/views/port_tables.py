"""What a switch's tables of ports have, and how `eeon show` writes it."""

from __future__ import annotations

from collections.abc import Iterable

from eeon_control.plan import Action, Entry
from eeon_control.port_settings import AQM, TABLES
from eeon_control.units import Duration

NO_REGISTERS = (
    "-: this target has no registers over P4Runtime (BMv2 does not); give `thrift` in the targets file"
)


def by_port(entries: Iterable[Entry]) -> dict[int, dict[str, Action]]:
    """{port: {table: action}} of the per-port tables."""
    found: dict[int, dict[str, Action]] = {}
    for entry in entries:
        if entry.table in TABLES and not entry.is_default and entry.actions:
            found.setdefault(entry.match[0].value, {})[entry.table] = entry.actions[0]
    return found


def aqm_text(action: Action | None, tick: Duration) -> str:
    """Returns the action of `port_aqm`."""
    if action is None:
        return "drop_tail (program default)"
    settings = AQM.from_action(action, tick)
    return action.name if settings is None else settings.summary()
