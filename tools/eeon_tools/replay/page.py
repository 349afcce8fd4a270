"""The page about one replay, on a twin or on a live fabric."""

from eeon_tools import html
from eeon_tools.replay import live_result, plots
from eeon_tools.replay.live_result import LiveResult
from eeon_tools.replay.result import RunResult
from eeon_tools.replay.table import by_class, by_layer, faulty_links, overtime, paused


def run_page(run: RunResult, tool: str = "") -> str:
    """Returns the page about one replay: the fate of each class, the queues, and the use of the links.
    `tool`: the part that lists how to inspect the run."""
    deepest = sorted((queue for queue in run.queues if queue.highest), key=lambda q: -q.highest)[:4]
    energy = run.energy_joules
    body = [
        _lead(
            run,
            f"a twin of `{run.topology}` configured with `{' + '.join(run.config)}`",
            "lost on links that were down" if run.faults else "",
        ),
        html.paragraph(
            "This is an open-loop replay: hosts send what the trace says and do not react to drops, marks "
            "or delay."
        ),
        tool,
        *_by_class(run, "being offered to the host's NIC to the arrival of the last bit"),
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
    return html.bullets(
        [
            f"{_sent(run)}.",
            f"P4 program `{run.program_digest}`, {run.p4_passes:,} passes; switch clocks tick every "
            f"{run.tick_ps / 1000:g} ns; seed of random draws {run.seed}.",
            f"{run.reordered} packets left a port out of order; {run.phy_violations} transmissions began "
            "before their PHY was awake.",
            "Packet counts checked: of every class, what was sent was delivered, lost on a link that was "
            "down, or counted as dropped by the P4 program; every queue's occupancy returned to zero.",
        ]
    )


def live_page(run: LiveResult) -> str:
    """Returns the page about one replay on a live fabric: the fate of each class, and how reliable it is."""
    configured = " + ".join(run.config) or "its earlier settings"
    wakes = "this target does not report them" if run.wakes is None else f"{run.wakes:,}"
    body = [
        _lead(
            run,
            f"a live fabric `{run.topology}` of {run.target} switches, configured with `{configured}`",
            "lost by the computer",
        ),
        html.paragraph(
            "This is an open-loop replay in real time: hosts send the trace's packets and do not react to "
            "drops, marks or delay. The numbers are from one run on one computer. Energy and queue depths "
            "are not measured, because no PHY sleeps."
        ),
        html.outcome(" ".join(live_result.remarks(run)), run.kept_its_times),
        *_by_class(run, "the host's send to the kernel's time of arrival"),
        html.heading("Conditions"),
        html.bullets(
            [
                f"{_sent(run)}; {run.real_seconds:,.3f} s from the first packet to the last.",
                f"P4 program `{run.program_digest}`; switch clocks tick every {run.tick_ps / 1000:g} ns; "
                f"wakes of switch ports: {wakes}.",
                "In every class, each sent packet was delivered, counted as dropped by the P4 program, or is "
                "lost.",
            ]
        ),
    ]
    return html.page(f"Replay {run.name}", body)


def _lead(run: RunResult | LiveResult, fabric: str, lost: str) -> str:
    total = run.total()
    fates = (
        (total.delivered, "delivered"),
        (total.marked, "marked by switches"),
        (total.early_dropped, "dropped early by AQM"),
        (total.tail_dropped, "dropped because a buffer was full"),
        (total.lost, lost),
    )
    told = ", ".join(f"{count:,} {fate}" for count, fate in fates if fate)
    return html.paragraph(f"{total.sent:,} packets of `{run.trace}` through {fabric}: {told}.", "lead")


def _by_class(run: RunResult | LiveResult, latency: str) -> list[str]:
    drops = "Drops at all switches, by the class of the packet that was dropped."
    latency = f"From {latency}: median (dot) and 99th percentile (bar)."
    return [
        html.heading("By class"),
        by_class(run).on_page(),
        html.figure(plots.drops_by_class([run], [run.name]), drops),
        html.figure(plots.latency([run], [run.name]), latency),
    ]


def _sent(run: RunResult | LiveResult) -> str:
    seed = "none (no manifest)" if run.trace_seed is None else str(run.trace_seed)
    speed = f"sent at {run.speed:g} times its own speed"
    return f"Trace `{run.trace}`, SHA-256 `{run.trace_sha256}`, seed {seed}, {speed}"
