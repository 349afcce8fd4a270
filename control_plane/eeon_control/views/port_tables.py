"""The entries of a switch's per-port tables, and their text in `eeon show`."""

from collections.abc import Iterable, Mapping

from eeon_control.config.classes import PRIORITIES
from eeon_control.entries import Action, Entry, by_key
from eeon_control.port_settings import AQM, QUEUE_AQM, TABLES, ByQueueSettings
from eeon_control.units import Duration

NO_REGISTERS = "-: this target serves no registers over P4Runtime, as BMv2; give `thrift` in the targets file"


def by_port(entries: Iterable[Entry]) -> dict[int, dict[str, Action]]:
    """Returns {port: {table: action}} of the per-port tables."""
    found: dict[int, dict[str, Action]] = {}
    for entry in entries:
        if entry.table in TABLES and not entry.is_default and entry.actions:
            found.setdefault(entry.match[0].value, {})[entry.table] = entry.actions[0]
    return found


def queue_aqms(entries: Iterable[Entry]) -> dict[int, dict[int, Action]]:
    """Returns {port: {priority: action}} of the AQMs per queue."""
    found: dict[int, dict[int, Action]] = {}
    for queue, action in by_key(entries, QUEUE_AQM.name).items():
        port, priority = divmod(queue, PRIORITIES)
        found.setdefault(port, {})[priority] = action
    return found


def aqm_text(action: Action | None, queues: Mapping[int, Action], tick: Duration) -> str:
    """Returns the text of an action of `port_aqm`; for `by_queue`, with those of the queues: `by queue: 0, 3
    mark_threshold 30KB; 6 drop_tail`."""
    if action is None:
        return "drop_tail (program default)"
    settings = AQM.from_action(action, tick)
    if not isinstance(settings, ByQueueSettings):
        return action.name if settings is None else settings.describe()
    alike: dict[str, list[str]] = {}
    for priority, one in sorted(queues.items()):
        own = QUEUE_AQM.from_action(one, tick)
        alike.setdefault(one.name if own is None else own.describe(), []).append(str(priority))
    return f"{settings.describe()}: " + "; ".join(f"{', '.join(some)} {text}" for text, some in alike.items())
