"""Where the marking threshold matters: the time of long flows over the round-trip time of hosts."""

from __future__ import annotations

from eeon_experiments.report.alternatives import RUNTIME, along, by_delay
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series
from eeon_experiments.report.runs import Runs
from eeon_tools.svg import BLUE, GREEN, GREY, ORANGE, SKY, VERMILION

_QUEUES = {
    "drop_tail": ("DropTail, CUBIC", GREY),
    "mark_1": ("1 frame", VERMILION),
    "mark_7": ("7 frames", ORANGE),
    "mark_20": ("20 frames", GREEN),
    "mark_65": ("65 frames", BLUE),
    "mark_200": ("200 frames", SKY),
}
_RATES = {"1g": "1 Gbit/s", "10g": "10 Gbit/s", "100g": "100 Gbit/s"}
_FLOWS = (2, 8, 50)
_ONE = Rule("1 = 200 frames", 1.0, "#888888", ":")


def drawings(runs: Runs) -> list[Drawing]:
    """The one figure of the experiment."""
    panels = []
    for rate, words in _RATES.items():
        for number in _FLOWS:
            flows = f"{number}_at_{rate}"
            if not len(runs.where(rate=rate, flows=flows)):
                continue
            delays = by_delay(runs.where(rate=rate, flows=flows).values("delay"), "", loose_first=False)
            base = {
                "rate": rate,
                "flows": flows,
                "queue": "mark_200" if "mark_200" in runs.values("queue") else "mark_65",
            }
            series = [
                Series(
                    name,
                    along(runs, RUNTIME, "delay", delays, base, rate=rate, flows=flows, queue=queue),
                    colour,
                )
                for queue, (name, colour) in _QUEUES.items()
                if len(runs.where(rate=rate, flows=flows, queue=queue))
            ]
            panels.append(
                Panel(f"{number} flows, {words}", delays, series, rules=[_ONE], y_label="200 frames = 1")
            )
    return [
        Drawing(
            "rtt",
            "What a low threshold costs long flows",
            "Not in the papers",
            "Time of all flows together, against a threshold of 200 frames at the same round-trip time.",
            "round-trip time of hosts",
            "",
            panels,
            share_y=False,
            panel_height=2.5,
            from_zero=False,
        )
    ]
