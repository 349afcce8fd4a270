"""Replays of one trace with several settings: one table and one page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eeon_control import config as configs
from eeon_control import topology as topologies
from eeon_control.config import FabricConfig
from eeon_control.errors import Problem, Severity
from eeon_control.topology import Port
from eeon_control.units import Duration

from eeon_tools import html
from eeon_tools.errors import InputError
from eeon_tools.replay.result import RunResult
from eeon_tools.replay.spec import TICK_PS
from eeon_tools.replay.table import microseconds
from eeon_tools.tables import Rows


@dataclass(frozen=True)
class Setting:
    """One of the compared settings: its name and its configurations, later ones over earlier ones."""

    name: str
    config: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Setting:
        """Parses `mark_threshold+eee_120us100`. Raises InputError for an empty name."""
        parts = tuple(part.strip() for part in text.split("+"))
        if not all(parts):
            raise InputError("--compare", text, "has a name missing; write A+B")
        return cls(" + ".join(Path(part).stem for part in parts), parts)


def overridden(config: Sequence[str], topology: str) -> list[str]:
    """Returns a remark for each AQM or EEE mode of an earlier configuration that a later one replaces at some
    port."""
    ports = topologies.load(topology).ports()
    remarks = []
    for count in range(2, len(config) + 1):
        before, after = configs.load(*config[: count - 1]), configs.load(*config[:count])
        changed = {
            (kind, old, new)
            for port in ports
            for kind, old, new in (
                ("AQM", _aqm(before, port), _aqm(after, port)),
                ("EEE mode", before.attached(port, "eee"), after.attached(port, "eee")),
            )
            if old is not None and old != new
        }
        name = Path(config[count - 1]).stem
        remarks += [
            f"{name} comes later and replaces {kind} {old} by {new}; --compare A --compare B runs both"
            for kind, old, new in sorted(changed, key=str)
        ]
    return remarks


def warnings(settings: Iterable[Sequence[str]], topology: str, tick_ps: int = TICK_PS) -> list[Problem]:
    """Returns the warnings of `eeon config validate` about these settings, each once."""
    of = topologies.load(topology)
    found = (
        one for config in settings for one in configs.check(configs.load(*config), of, Duration(tick_ps))
    )
    return [one for one in dict.fromkeys(found) if one.severity is Severity.WARNING]


def _aqm(config: FabricConfig, port: Port) -> str | None:
    name = config.attached(port, "queue")
    if name is None:
        return None
    return " and ".join(dict.fromkeys(one.mode for one in config.profiles.queue[name].aqms))


def table(runs: Sequence[RunResult]) -> Rows:
    """Returns one row for each setting."""
    head = (
        "setting", "marked", "early drop", "tail drop", "data p50 us", "data p99 us", "ack p99 us",
        "deepest queue B", "energy mJ", "% of never asleep", "wakes",
    )  # fmt: skip
    return Rows(head, [_row(run) for run in runs])


def _row(run: RunResult) -> list[str]:
    total, energy, deepest = run.total(), run.energy_joules, run.deepest_queue()
    return [
        run.name,
        f"{total.marked:,}",
        f"{total.early_dropped:,}",
        f"{total.tail_dropped:,}",
        microseconds(run.latency_us["data"].p50),
        microseconds(run.latency_us["data"].p99),
        microseconds(run.latency_us["ack"].p99),
        f"{deepest.highest:,}" if deepest else "-",
        f"{1000 * energy.used:,.1f}" if energy.legacy else "-",
        f"{100 * energy.used / energy.legacy:.1f}" if energy.legacy else "-",
        f"{run.wakes:,}",
    ]


def page(runs: Sequence[RunResult], tool: str) -> str:
    from eeon_tools.replay.page import conditions  # imports matplotlib, which a table does not need

    first = runs[0]
    lead = (
        f"{first.total().sent:,} packets of `{first.trace}` through a twin of `{first.topology}` under "
        f"{len(runs)} settings. This is an open-loop replay: hosts send what the trace says and do not react."
    )
    body = [html.paragraph(lead, "lead"), table(runs).on_page(), tool]
    for run in runs:
        body += [html.heading(f"Conditions of {run.name}"), conditions(run)]
    return html.page(f"{first.trace} under {len(runs)} settings", body)


OVERLOAD_SHARE = 0.01
"""A share of the packets: if more find a full buffer, the trace offers more than the fabric can carry."""


def remarks(run: RunResult) -> Iterator[str]:
    """Yields what a reader of the numbers of a run should know."""
    total = run.total()
    full = total.tail_dropped - run.lossless_dropped
    if total.sent and full > OVERLOAD_SHARE * total.sent:
        yield (
            f"{run.name}: {100 * full / total.sent:.1f} % of the packets found a full buffer: the trace "
            "offers more than the fabric carries; a smaller --speed, or a trace with a larger --time-scale, "
            "reduces the load"
        )
    if run.lossless_dropped:  # which enough headroom prevents at any load
        yield (
            f"{run.name}: packets of lossless classes that found no room: {run.lossless_dropped:,}; their "
            "group's limit is too close to xoff (`eeon config explain PORT` has the headroom), or frames are "
            "longer than the max_frame of its pfc profile"
        )
    count = run.transmitters_without_power
    if count and run.layers:
        yield f"{run.name}: the power of {count:,} transmitters is not known; the energy is of the others"
    if run.unmarked:
        yield f"{run.name}: nothing is marked: {run.unmarked}"
    if run.other_drops:
        why = ", ".join(
            f"{count:,} {verdict.replace('_', ' ')}" for verdict, count in run.other_drops.items()
        )
        command = f"`eeon explain {run.trace} --first dropped`, with the same -t and -c,"
        yield f"{run.name}: other drops: {why}; {command} explains the first"
    if late := dict.fromkeys(link.name for link in run.faults if not link.down_ms):
        end = f"{1000 * run.virtual_seconds:,.3f} ms"
        yield f"{run.name}: {', '.join(late)}: the run ended at {end}, before the link failed"
