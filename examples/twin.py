"""A fabric in your own process, configured over P4Runtime: which packets does each AQM mark and drop?"""

from pathlib import Path

from eeon_tools.demo.runs import make_trace
from eeon_tools.replay.twin_run import ReplaySettings, replay

Path("out").mkdir(exist_ok=True)
trace, _ = make_trace(Path("out"), seed=1)
for aqm in ("red_ect", "mark_threshold"):
    total = replay(ReplaySettings(aqm, trace, "leaf-spine-4", (aqm, "eee_off"))).total()
    print(f"{aqm}: {total.marked} marked, {total.early_dropped} dropped early")
