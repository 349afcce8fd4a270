"""What the per-port tables of a switch hold, and how it is written for people."""

from __future__ import annotations

from collections.abc import Iterable

from eeon_control import constants
from eeon_control.plan import Action, Entry
from eeon_control.units import Bytes, Duration, Packets

NO_REGISTERS = (
    "-: this target has no registers over P4Runtime (BMv2 does not); give `thrift` in the targets file"
)
_PROTECT = {number: name for name, number in constants.PROTECT.items()}


def by_port(entries: Iterable[Entry]) -> dict[int, dict[str, Action]]:
    """{port: {table: action}} of the per-port tables."""
    found: dict[int, dict[str, Action]] = {}
    for entry in entries:
        if entry.table.startswith("port_") and not entry.is_default and entry.actions:
            found.setdefault(entry.match[0].value, {})[entry.table] = entry.actions[0]
    return found


def aqm_text(action: Action | None, tick: Duration) -> str:
    """The action of `port_aqm`."""
    if action is None:
        return "drop_tail (program default)"
    values = dict(action.params)
    match action.name:
        case "mark_threshold":
            text = f"mark_threshold {Bytes(values['threshold_bytes'])}"
            if values["l4s_threshold_bytes"] != values["threshold_bytes"]:
                text += f", L4S {Bytes(values['l4s_threshold_bytes'])}"
            return text + (" at dequeue" if values["at_dequeue"] else "")
        case "red":
            unit = Packets if values["in_packets"] else Bytes
            low, high = values["min_threshold"], values["max_threshold"]
            top = values["probability_slope"] * (high - low) / 2**48 if high > low else 1
            average = f", average 1/{1 << values['average_shift']}" if values["average_shift"] else ""
            return (
                f"red {unit(low)}..{unit(high)}, up to {top:.4g}, {'ECN' if values['ecn'] else 'no ECN'}, "
                f"protect {_PROTECT[values['protect']]}{average}"
            )
        case "codel":
            target, interval = (Duration(values[f"{key}_ticks"] * tick) for key in ("target", "interval"))
            return (
                f"codel {target}, interval {interval}, {'ECN' if values['ecn'] else 'no ECN'}, "
                f"protect {_PROTECT[values['protect']]}"
            )
        case name:
            return name
