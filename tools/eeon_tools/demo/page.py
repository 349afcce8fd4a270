"""The demo's page: the runs, their results, an interpretation, and the papers' claims."""

from collections.abc import Mapping

from eeon_tools import html
from eeon_tools.demo.findings import Finding, Results
from eeon_tools.demo.runs import AQMS, EEES, JOB, RUNS, SENDERS, acts_from_bytes
from eeon_tools.replay import plots
from eeon_tools.replay.result import QueueDepth
from eeon_tools.replay.table import by_eee_and_layer, comparison
from eeon_tools.trace.manifest import Manifest

AQM_TITLES: Mapping[str, str] = {
    "drop_tail": "drop tail",
    "red_ect": "RED, only ECT spared",
    "red_ack_syn": "RED, ACK+SYN spared",
    "mark_threshold": "marking threshold",
}
EEE_TITLES: Mapping[str, str] = {
    "off": "never asleep",
    "standard": "standard EEE",
    "120us100": "120 us / 100 packets",
}


def demo_page(results: Results, found: list[Finding], manifest: Manifest, tool: str = "") -> str:
    """Returns the whole page. `tool`: the interactive part about some of the runs."""
    runs = [results[run.aqm, run.eee] for run in RUNS]
    titles = [(AQM_TITLES[run.aqm], EEE_TITLES[run.eee]) for run in RUNS]
    labels = [f"{aqm}, {eee}" for aqm, eee in titles]
    awake = [results[aqm, "off"] for aqm in AQMS]
    awake_labels = [AQM_TITLES[aqm] for aqm in AQMS]
    total = sum(manifest.packets.values())
    body = [
        html.paragraph(
            f"The same Hadoop shuffle, {total:,} packets in {manifest.duration_ns / 1e6:,.0f} ms, was sent "
            "twelve times through a fabric of four switches: with four AQM settings, and for each of them "
            "with links that never sleep, with standard Energy-Efficient Ethernet, and with coalescing.",
            "lead",
        ),
        _fabric(),
        html.heading("What the papers say, and what we measured"),
        *(_finding(finding) for finding in found),
        html.heading("All twelve runs"),
        comparison(runs, titles, len(EEES)).on_page(),
        *([html.heading("Look into a run"), _how_to_look(), tool] if tool else []),
        html.heading("Which packets are dropped"),
        html.paragraph(
            "With ECN a switch marks a packet instead of dropping it, but only if the packet is ECN-capable "
            "(ECT). Data packets are. Pure ACKs, SYNs and SYN-ACKs are not (RFC 3168), and in a shuffle they "
            "wait in the same queues as the data, because every host sends and receives at once. A switch "
            "that protects only ECT packets therefore drops the packets that congestion control depends on: "
            "a lost SYN costs a second, and lost ACKs stall their sender."
        ),
        html.figure(
            plots.drops_by_class(awake, awake_labels),
            "Drops at all switches, by packet class, with links that never sleep. Left: early drops by the "
            "AQM. Right: drops at a full buffer of 300 KB.",
        ),
        html.heading("Queues over time"),
        html.figure(
            plots.queue_depth(_queue_rows(results)),
            "The deepest queue of the fabric under each AQM: its maximum in each period of "
            f"{_queue_rows(results)[0][1].period_us:g} us. Dashed: the depth from which that AQM acts at "
            "1 Gbit/s (drop tail: the buffer limit). The offered traffic is the same in all four runs; only "
            "the drops differ.",
        ),
        html.heading("Latency"),
        html.figure(
            plots.latency(runs, labels),
            "Time from a packet's arrival at its host's NIC to the arrival of its last bit, by class: median "
            "(dot) and 99th percentile (bar). Dropped packets have no latency, so compare this figure with "
            "the drops.",
        ),
        html.heading("Energy"),
        html.figure(
            plots.energy(runs, labels),
            "Energy of all transmitters. Black line: links that never sleep. Dotted: links that sleep and "
            "wake instantly. Standard EEE wakes for every packet and pays for each transition; coalescing "
            "collects packets first.",
        ),
        html.paragraph("By layer, under the marking threshold:"),
        by_eee_and_layer({EEE_TITLES[eee]: results["mark_threshold", eee] for eee in EEES}).on_page(),
        html.heading("How to read this, and how not to"),
        html.bullets(_limits()),
        html.heading("Conditions"),
        html.bullets(_conditions(results, manifest)),
    ]
    return html.page("A shuffle under twelve switch settings", body)


def _fabric() -> str:
    return html.paragraph(
        "The fabric is a twin of `leaf-spine-4`: two leaves and two spines that run the project's P4 "
        "program, each with a P4Runtime server through which the controller configured it and its counters "
        "were read; two hosts per leaf at 1 Gbit/s; 10 Gbit/s between switches; 300 KB of buffer per port, "
        "the shallow buffers of the thesis."
    )


def _how_to_look() -> str:
    return html.paragraph(
        "This part holds every packet of two of the runs and compares two settings: choose them, and a "
        "port. Drag over the chart or press plus to zoom. Click a mark, a drop, a hold or a button to see "
        "what the packet found, which packets were ahead of it, and what would have spared it."
    )


def _finding(finding: Finding) -> str:
    source = f" (thesis, {finding.source})" if finding.source.startswith("section") else ""
    word = "Seen" if finding.holds else "Not seen"
    return html.outcome(f"{finding.claim}{source}. {word}: {finding.measured}.", finding.holds)


def _queue_rows(results: Results) -> list[tuple[str, QueueDepth, float | None]]:
    rows: list[tuple[str, QueueDepth, float | None]] = []
    for aqm in AQMS:
        queue = results[aqm, "off"].deepest_queue("host_facing")
        if queue is not None:
            rows.append((f"{AQM_TITLES[aqm]}: {queue.name}", queue, float(acts_from_bytes(aqm))))
    return rows


def _limits() -> list[str]:
    return [
        "This is an open-loop replay. Hosts send the packets of the trace whatever happens: they do not "
        "retransmit and do not slow down. So the page shows what switches do to given traffic, which "
        "packets they drop or mark, and what that costs in time and energy. It does not show job runtimes "
        "or throughput; the papers' figures for those need hosts that react.",
        "A dropped packet does not count in latencies, and shortens the queue for the packets behind it.",
        "A marked packet stays marked; further switches do not count it again.",
        "Energy is of transmitters only, 0.5 W at 1 Gbit/s and 2.5 W at 10 Gbit/s, 10 % of it in low-power "
        "idle and all of it while going to sleep and waking (thesis, chapters 2 to 4). The two directions "
        "of a link sleep independently.",
        "At 1 Gbit/s going to sleep takes 182 us, longer than the holding time of 120 us. A link must "
        "finish going to sleep before it can wake, with or without coalescing.",
    ]


def _conditions(results: Results, manifest: Manifest) -> list[str]:
    run = results["drop_tail", "off"]
    passes = sum(result.p4_passes for result in results.values())
    return [
        f"Trace `{manifest.trace}`, seed {manifest.seed}, SHA-256 `{manifest.sha256}`: {JOB.maps} maps of "
        f"{JOB.split_bytes / 1e6:g} MB, {JOB.reducers} reducers with {JOB.parallel_fetches} fetches at a "
        f"time, windows of {SENDERS.window_bytes // 1024} KiB, {manifest.connections:,} connections.",
        f"P4 program `{run.program_digest}`; {passes:,} passes in all; switch clocks tick every "
        f"{run.tick_ps / 1000:g} ns.",
        "Configurations: the controller's examples `drop_tail`, `red_ect`, `red_ack_syn`, `mark_threshold`, "
        "each with `eee_off`, `eee_standard` or `eee_120us100`. RED: target delay 100 us, that is 13 to 38 "
        "packets of instantaneous queue at 1 Gbit/s, marking or dropping all above the second.",
        "Packet counts checked in every run: of each class, what was sent was delivered or is counted as "
        "dropped by the P4 program, and every queue's occupancy returned to zero.",
    ]
