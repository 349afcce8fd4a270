"""The page about one replay."""

from __future__ import annotations

from eeon_tools import html
from eeon_tools.replay import plots
from eeon_tools.replay.result import RunResult
from eeon_tools.replay.table import by_class, by_layer, faulty_links, overtime, paused


def run_page(run: RunResult, tool: str = "") -> str:
    """Returns the page about one replay: the fate of each class, the queues, and the use of the links.
    `tool`: the part that lists how to inspect the run."""
    total = run.total()
    deepest = sorted((queue for queue in run.queues if queue.highest), key=lambda q: -q.highest)[:4]
    energy = run.energy_joules
    body = [
        html.paragraph(
            f"{total.sent:,} packets of `{run.trace}` through a twin of `{run.topology}` configured with "
            f"`{' + '.join(run.config)}`: {total.delivered:,} delivered, {total.marked:,} marked by "
            f"switches, {total.early_dropped:,} dropped early by AQM, {total.tail_dropped:,} dropped because "
            "a buffer was full" + (f", {total.lost:,} lost on links that were down." if run.faults else "."),
            "lead",
        ),
        html.paragraph(
            "This is an open-loop replay: hosts send what the trace says and do not react to drops, marks "
            "or delay."
        ),
        tool,
        html.heading("By class"),
        by_class(run).on_page(),
        html.figure(
            plots.drops_by_class([run], [run.name]),
            "Drops at all switches, by the class of the packet that was dropped.",
        ),
        html.figure(
            plots.latency([run], [run.name]),
            "From being offered to the host's NIC to the arrival of the last bit: median (dot) and 99th "
            "percentile (bar).",
        ),
    ]
    if run.faults:
        body += [html.heading("Links that failed"), faulty_links(run).on_page()]
    if run.pauses.queues:
        body += [
            html.heading("Pauses"),
            html.paragraph(
                f"{run.pauses.summary()}. What waits at a paused transmitter fills the queues before it. "
                "Times are of the run; the longest is without a gap."
            ),
            paused(run.pauses.by_time()).on_page(),
        ]
    if deepest:
        rows = [(queue.name, queue, None) for queue in deepest]
        caption = f"The deepest queues: highest depth in each period of {deepest[0].period_us:g} us."
        body += [html.heading("Queues"), html.figure(plots.queue_depth(rows), caption)]
    if energy.legacy:
        share = f"{100 * energy.used / energy.legacy:.1f} %"
        body += [
            html.heading("Energy"),
            html.paragraph(
                f"{1000 * energy.used:,.2f} mJ used in {1000 * run.virtual_seconds:,.2f} ms, {share} of "
                f"links that never sleep ({1000 * energy.legacy:,.2f} mJ); links that sleep and wake in no "
                f"time would have used {1000 * energy.ideal:,.2f} mJ. {overtime(run) or ''}"
            ),
            html.figure(
                plots.energy([run], [run.name]), "Transmitters of both ends of every link, by layer."
            ),
            by_layer(run).on_page(),
        ]
    body += [html.heading("Conditions"), conditions(run)]
    return html.page(f"Replay {run.name}", body)


def conditions(run: RunResult) -> str:
    """Returns all that is needed to reproduce the numbers."""
    seed = "none (no manifest)" if run.trace_seed is None else str(run.trace_seed)
    return html.bullets(
        [
            f"Trace `{run.trace}`, SHA-256 `{run.trace_sha256}`, seed {seed}, sent at {run.speed:g} times "
            "its own speed.",
            f"P4 program `{run.program_digest}`, {run.p4_passes:,} passes; switch clocks tick every "
            f"{run.tick_ps / 1000:g} ns; seed of random draws {run.seed}.",
            f"{run.reordered} packets left a port out of order; {run.phy_violations} transmissions began "
            "before their PHY was awake.",
            "Packet counts checked: of every class, what was sent was delivered, lost on a link that was "
            "down, or counted as dropped by the P4 program; every queue's occupancy returned to zero.",
        ]
    )
