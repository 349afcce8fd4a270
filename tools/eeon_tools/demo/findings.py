"""The papers' claims about ACKs, SYNs and sleeping links, compared with the demo's runs.

Each finding is computed from the results, and the page shows it whether it holds or not. Claims are cited by
section of the E-EON thesis (Renan Fischer e Silva, *E-EON: Energy-Efficient and Optimized Networks for
Hadoop*).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from eeon_tools.demo.runs import AQMS, EEES
from eeon_tools.replay.result import RunResult

Results = Mapping[tuple[str, str], RunResult]
"""Results by (aqm, eee)."""

CONTROL_CLASSES = ("ack", "ack_ece", "syn", "syn_ack")
"""The classes on which congestion control depends."""


@dataclass(frozen=True)
class Finding:
    """One claim: the thesis's statement and its section, the measurement, and whether the claim holds."""

    claim: str
    source: str
    measured: str
    holds: bool


def early_control_drops(run: RunResult) -> int:
    """Returns the number of ACKs, SYNs and SYN-ACKs that the AQM dropped early."""
    return sum(run.packets[name].early_dropped for name in CONTROL_CLASSES)


def findings(results: Results) -> list[Finding]:
    return [
        _ect_only_drops_control(results),
        _protection_saves_control(results),
        _threshold_drops_nothing_early(results),
        _threshold_speaks_up(results),
        _coalescing_saves_energy(results),
        _coalescing_costs_latency(results),
        _nothing_out_of_order(results),
    ]


def _ect_only_drops_control(results: Results) -> Finding:
    run = results["red_ect", "off"]
    dropped = early_control_drops(run)
    sent = sum(run.packets[name].sent for name in CONTROL_CLASSES)
    data = run.packets["data"]
    rows = [results["red_ect", eee] for eee in EEES]
    acks = run.packets["ack"].early_dropped + run.packets["ack_ece"].early_dropped
    return Finding(
        "RED that protects only ECT packets drops the others: pure ACKs, SYNs and SYN-ACKs",
        "section 6.2.1",
        f"{dropped:,} of {sent:,} control packets dropped early ({acks:,} ACKs, {dropped - acks:,} SYNs and "
        f"SYN-ACKs), but {data.early_dropped:,} of {data.sent:,} data packets: those were marked "
        f"({data.marked:,})",
        all(early_control_drops(row) > 0 and row.packets["data"].early_dropped == 0 for row in rows),
    )


def _protection_saves_control(results: Results) -> Finding:
    before = early_control_drops(results["red_ect", "off"])
    after = early_control_drops(results["red_ack_syn", "off"])
    fins = results["red_ack_syn", "off"].packets["fin_rst"].early_dropped
    rows = [results["red_ack_syn", eee] for eee in EEES]
    return Finding(
        "Protecting ACKs and SYNs from early drops ends this, at the same thresholds",
        "section 6.2.2",
        f"{after:,} control packets dropped early, instead of {before:,}; FINs are not protected, and "
        f"{fins:,} were dropped",
        all(early_control_drops(row) == 0 for row in rows),
    )


def _threshold_drops_nothing_early(results: Results) -> Finding:
    rows = [results["mark_threshold", eee] for eee in EEES]
    early = sum(row.total().early_dropped for row in rows)
    marked = results["mark_threshold", "off"].packets["data"].marked
    return Finding(
        "A true marking threshold marks, and drops no packet of any class before the buffer is full",
        "section 6.2.2",
        f"{early:,} packets of any class dropped early in three runs; {marked:,} data packets marked without "
        "EEE",
        early == 0 and marked > 0,
    )


def _threshold_speaks_up(results: Results) -> Finding:
    # Hosts do not react in a replay, so an AQM that only marks cannot shorten a queue here. The result shows
    # only the share of the traffic that it marks, which would slow senders down.
    run = results["mark_threshold", "off"]
    data = run.packets["data"]
    share = data.marked / data.sent if data.sent else 0.0
    tail = results["drop_tail", "off"].total().tail_dropped
    return Finding(
        "Drop tail signals congestion by losing packets; a threshold signals it before the buffer is full",
        "section 6.2",
        f"drop tail marked none and lost {tail:,} packets to full buffers; the threshold marked "
        f"{data.marked:,} of the {data.sent:,} data packets that were sent, {100 * share:.1f} %",
        results["drop_tail", "off"].total().marked == 0 and data.marked > 0,
    )


def _energy_share(run: RunResult) -> float:
    return run.energy_joules.used / run.energy_joules.legacy


def _coalescing_saves_energy(results: Results) -> Finding:
    shares = {eee: _energy_share(results["mark_threshold", eee]) for eee in EEES}
    ideal = results["mark_threshold", "off"].energy_joules
    ordered = all(
        _energy_share(results[aqm, "120us100"]) < _energy_share(results[aqm, "standard"]) < 1 for aqm in AQMS
    )
    return Finding(
        "Links that sleep when idle save much of their energy, and save more with packet coalescing",
        "sections 4.3.3.1 and 7.4.2",
        f"of the energy of links that never sleep: {100 * shares['standard']:.1f} % with standard EEE, "
        f"{100 * shares['120us100']:.1f} % with 120 us / 100 packets, {100 * ideal.ideal / ideal.legacy:.1f} "
        "% ideally",
        ordered,
    )


def _coalescing_costs_latency(results: Results) -> Finding:
    names = ("off", "standard", "120us100")
    medians = [results["mark_threshold", eee].latency_us["data"].p50 for eee in names]
    tails = [results["mark_threshold", eee].latency_us["data"].p99 for eee in names]
    known = [value for value in (*medians, *tails) if value is not None]
    if len(known) != 6:
        return Finding("Coalescing costs latency", "section 7.4.2", "no data packet was delivered", False)
    rise = [b - a for a, b in ((known[0], known[2]), (known[3], known[5]))]
    return Finding(
        "The price is latency, bounded by the holding time at each sleeping link on the path",
        "sections 4.3.3.1 and 7.4.2",
        f"median of data packets {known[0]:,.0f} us without EEE, {known[1]:,.0f} us standard, "
        f"{known[2]:,.0f} us coalesced; 99th percentile {known[3]:,.0f}, {known[4]:,.0f} and {known[5]:,.0f} "
        "us",
        rise[0] > 0,
    )


def _nothing_out_of_order(results: Results) -> Finding:
    reordered = sum(run.reordered for run in results.values())
    violations = sum(run.phy_violations for run in results.values())
    return Finding(
        "A held packet keeps its place, and no packet is sent on a link that is still asleep",
        "what the switch promises",
        f"{reordered} packets left a port out of order and {violations} transmissions began before their PHY "
        "was awake, in all twelve runs",
        reordered == 0 and violations == 0,
    )
