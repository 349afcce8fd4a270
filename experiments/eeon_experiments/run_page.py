"""The page about one run of an experiment: the same tool as for replays, but with hosts that react."""

from dataclasses import replace

from eeon_tools import html
from eeon_tools.hops.recording import Recording
from eeon_tools.replay.result import RunTotals
from eeon_tools.report.model import run_model
from eeon_tools.report.page import layers, section


def run_page(experiment: str, point: str, recording: Recording, totals: RunTotals) -> str:
    """Returns a page in one file. `point` describes the experiment's point."""
    total = totals.total()
    lead = (
        f"`{experiment}`, {point}: {total.sent:,} packets, {total.delivered:,} delivered, {total.marked:,} "
        f"marked, {total.early_dropped:,} dropped early by AQM, {total.tail_dropped:,} because a buffer was "
        "full."
    )
    reacts = "Hosts run TCP: a mark or a drop says what its sender did afterwards."
    model = run_model(replace(recording, name=point), totals)
    tool = section([model], layers(recording.topology), explain=None)
    return html.page(f"Experiment {experiment}", [html.paragraph(lead, "lead"), html.paragraph(reacts), tool])
