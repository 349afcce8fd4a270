"""The completion time of long flows over the round-trip time of hosts, by marking threshold."""

from eeon_experiments.report.alternatives import RUNTIME, along, by_delay
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series
from eeon_experiments.report.runs import Runs
from eeon_tools.svg import BLUE, GREEN, GREY, ORANGE, SKY, VERMILION

figure = Figures(__file__)

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
_ONE = Rule("1 = the highest threshold", 1.0, "#888888", ":")


def drawings(runs: Runs) -> list[Drawing]:
    deep = {"queue": "mark_200" if "mark_200" in runs.values("queue") else "mark_65"}
    panels = []
    for rate, words in _RATES.items():
        for number in _FLOWS:
            flows = f"{number}_at_{rate}"
            if not len(runs.where(flows=flows)):
                continue
            known = [one for one in runs.values("delay") if len(runs.where(flows=flows, delay=one))]
            delays = by_delay(known, "", loose_first=False)
            series = [
                Series(name, along(runs, RUNTIME, "delay", delays, deep, flows=flows, queue=queue), colour)
                for queue, (name, colour) in _QUEUES.items()
                if len(runs.where(flows=flows, queue=queue))
            ]
            panels.append(Panel(f"{number} flows, {words}", delays, series, rules=[_ONE]))
    return [figure("rtt", panels)]
