"""The entries that map packets to a port's queues. Pure."""

from collections.abc import Iterable

from eeon_control.config.classes import TrafficClass, default_priority
from eeon_control.entries import Action, Entry, Exact

TABLES: tuple[str, ...] = ("dscp_priority", "pcp_priority")
_SEED_ACTIONS = {
    (False, False): "set_ecmp_seed",
    (False, True): "set_ecmp_seed_and_priorities",
    (True, False): "spray_packets",
    (True, True): "spray_packets_and_priorities",
}
"""Actions of `switch_config`, by whether the path is chosen per packet, and whether `TABLES` are applied."""


def class_entries(classes: dict[str, TrafficClass]) -> list[Entry]:
    """Returns the entries of `TABLES`, the same on every switch; none without classes, when these tables are
    not applied (`seed_action`)."""
    if not classes:
        return []
    entries = [Entry("dscp_priority", (), (_to(default_priority(classes)),), is_default=True)]
    for table, key in zip(TABLES, ("dscp", "pcp"), strict=True):
        chosen = {value: one.priority for one in classes.values() for value in getattr(one, key)}
        entries += [
            Entry(table, (Exact(key, value),), (_to(priority),)) for value, priority in sorted(chosen.items())
        ]
    return entries


def seed_action(seed: int, classes: dict[str, TrafficClass], per_packet: bool) -> Action:
    """Returns the action of `switch_config`: the ECMP seed, whether the path is chosen per packet, and
    whether packets are classified."""
    return Action(_SEED_ACTIONS[per_packet, bool(classes)], (("seed", seed),))


def is_per_packet(action: Action) -> bool:
    """Returns whether this action of `switch_config` chooses the path per packet."""
    return any(name == action.name for (per_packet, _), name in _SEED_ACTIONS.items() if per_packet)


def has_priorities(action: Action) -> bool:
    """Returns whether this action of `switch_config` applies `TABLES`."""
    return any(name == action.name for (_, priorities), name in _SEED_ACTIONS.items() if priorities)


def summary(entries: Iterable[Entry]) -> str:
    """Returns the mapping to a port's queues: `DSCP 26, 46 -> 3; PCP 5 -> 3; others -> 0`. Empty if `TABLES`
    are not applied."""
    chosen: dict[tuple[str, int], list[int]] = {}
    others, is_used = 0, False
    for entry in entries:
        action = entry.actions[0] if entry.actions else None
        if action is None:
            continue
        if entry.table == "switch_config":
            is_used = has_priorities(action)
        elif entry.table in TABLES:
            priority = dict(action.params).get("priority", 0)
            if not entry.is_default:
                chosen.setdefault((entry.table, priority), []).append(entry.match[0].value)
            elif entry.table == "dscp_priority":
                others = priority
    if not is_used:
        return ""
    texts = [
        f"{table.removesuffix('_priority').upper()} {', '.join(map(str, sorted(values)))} -> {priority}"
        for (table, priority), values in sorted(chosen.items(), key=lambda one: (one[0][0], -one[0][1]))
    ]
    return "; ".join([*texts, f"others -> {others}"])


def _to(priority: int) -> Action:
    return Action("set_priority", (("priority", priority),))
