"""Exercises of p4-learning under their own harness, p4-utils' `p4run` of Mininet. Two switches are tested
under the names of BMv2's programs: ours, and BMv2 if it is installed.

`make tutorials P4_UTILS=DIR P4_LEARNING=DIR` runs them on checkouts of nsg-ethz/p4-utils and
nsg-ethz/p4-learning. They need the tutorials' requirements, and the Python packages ipaddr, networkx and
psutil. Each has its own network and process namespaces: the harness uses fixed ports, and ends programs by
name.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from mininet_harness import SWITCHES, environment, skip_without

pytestmark = [pytest.mark.system, pytest.mark.nightly]

UTILS, LEARNING = (os.environ.get(name, "") for name in ("P4_UTILS", "P4_LEARNING"))

if not UTILS or not LEARNING:
    pytest.skip("P4_UTILS and P4_LEARNING name no checkouts of nsg-ethz", allow_module_level=True)
skip_without("brctl")
for _package in ("ipaddr", "networkx", "psutil"):
    if importlib.util.find_spec(_package) is None:
        pytest.skip(f"p4-utils needs the Python package {_package}", allow_module_level=True)

ALL = r"Results: 0% dropped"
PINGS = r"3 packets transmitted, [23] received"
"""The first may be lost while a controller is still writing."""


@dataclass(frozen=True)
class Exercise:
    """A folder of p4-learning, the input at the prompt, and a pattern of the resulting output."""

    folder: str
    lines: tuple[str, ...]
    expected: str
    config: str = "p4app.json"


PINGALL = ("pingall",)
PING = ("h1 ping -c 3 h2",)

EXERCISES = (
    Exercise(
        "01-Reflector",
        ("""h1 sh -c '(sleep 2; echo; sleep 2; echo) | timeout 8 python3 send_receive.py'""",),
        "00:01:02:03:04:05 -> 00:00:0a:00:00:01",
    ),
    Exercise("02-Repeater/thrift", PINGALL, ALL),
    Exercise("02-Repeater/thrift", PINGALL, ALL, "p4app_table.json"),
    Exercise("02-Repeater/p4runtime", PINGALL, ALL),
    Exercise("03-L2_Basic_forwarding/thrift", PINGALL, ALL),
    Exercise("03-L2_Basic_forwarding/p4runtime", ("sh python3 controller.py", *PINGALL), ALL),
    Exercise("03-L2_Flooding/thrift", PINGALL, ALL, "p4app-all-ports.json"),
    Exercise("03-L2_Flooding/thrift", PINGALL, ALL, "p4app-other-ports.json"),
    Exercise(
        "03-L2_Flooding/p4runtime",
        PINGALL,
        ALL,
        "p4app-all-ports.json",
    ),
    Exercise(
        "03-L2_Flooding/p4runtime",
        PINGALL,
        ALL,
        "p4app-other-ports.json",
    ),
    Exercise(
        "04-L2_Learning/thrift",
        ("sh timeout 40 python3 l2_learning_controller.py s1 cpu > cpu.txt 2>&1 &", "sh sleep 5", *PINGALL),
        ALL,
        "p4app_cpu.json",
    ),
    Exercise(
        "04-L2_Learning/p4runtime",
        ("sh timeout 40 python3 l2_learning_controller.py s1 cpu > cpu.txt 2>&1 &", "sh sleep 5", *PINGALL),
        ALL,
        "p4app_cpu.json",
    ),
    Exercise(
        "04-L2_Learning/p4runtime",
        (
            "sh timeout 40 python3 l2_learning_controller.py s1 digest > digest.txt 2>&1 &",
            "sh sleep 5",
            *PINGALL,
        ),
        ALL,
        "p4app_digest.json",
    ),
    Exercise("04-MPLS/thrift/mpls_basics", PING, PINGS),
    Exercise("04-MPLS/thrift/mpls_stacked", PING, PINGS),
    Exercise("04-MPLS/p4runtime/mpls_basics", ("sh python3 controller.py", *PING), PINGS),
    Exercise("04-MPLS/p4runtime/mpls_stacked", ("sh python3 controller.py", *PING), PINGS),
    Exercise("05-ECMP", PING, PINGS),
    Exercise("05-Flowlet_Switching", PING, PINGS),
    Exercise("06-Heavy_Hitter_Detector", PING, PINGS),
    Exercise("07-Count-Min-Sketch", PING, PINGS),
    Exercise("08-Simple_Routing/thrift", ("sh python3 routing-controller.py", *PINGALL), ALL),
    Exercise("08-Simple_Routing/p4runtime", ("sh python3 routing-controller.py", *PINGALL), ALL),
    Exercise("09-Traceroutable", ("sh python3 routing-controller.py", *PINGALL), ALL),
    Exercise(
        "10-Congestion_Aware_Load_Balancing",
        ("sh python3 routing-controller.py", *PINGALL),
        ALL,
        "p4app-line.json",
    ),
    Exercise(
        "11-Packet-Loss-Detection",
        ("sh timeout 30 python3 packet-loss-controller.py > loss.txt 2>&1 &", "sh sleep 5", *PING),
        PINGS,
    ),
    Exercise("12-Fast-Reroute", ("sh echo quit | python3 controller.py", *PINGALL), ALL),
)


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda one: f"{one.folder}/{one.config}")
def test_an_exercise_ends_under_p4_utils_as_its_readme_says(
    tmp_path: Path, exercise: Exercise, switch: str
) -> None:
    folder = tmp_path / "exercise"
    shutil.copytree(Path(LEARNING) / "exercises" / exercise.folder, folder)
    if (folder / "solution").is_dir():
        shutil.copytree(folder / "solution", folder, dirs_exist_ok=True)
    env = environment(tmp_path, switch)
    (tmp_path / "lib/p4utils").symlink_to(Path(UTILS).resolve() / "p4utils")
    command = f"ip link set lo up; exec python3 -m p4utils.p4run --config {exercise.config}"
    done = subprocess.run(
        ["unshare", "--net", "--pid", "--fork", "--mount-proc", "sh", "-c", command],
        cwd=folder,
        env=env,
        input="\n".join(exercise.lines) + "\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=180,
    )
    screen = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    assert re.search(exercise.expected, screen), screen[-3000:]
