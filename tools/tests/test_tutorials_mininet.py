"""p4lang's tutorials under their own harness, `make run` of Mininet. Two switches are tested under the name
`simple_switch_grpc`: ours, and BMv2's if it is installed.

`make tutorials P4_TUTORIALS=DIR` runs them on a checkout of p4lang/tutorials. They need root, Debian's
package mininet and p4c. Each has its own network namespace: the harness uses fixed ports.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from mininet_harness import SWITCHES, environment, skip_without

pytestmark = [pytest.mark.system, pytest.mark.nightly]

TUTORIALS = os.environ.get("P4_TUTORIALS", "")

if not TUTORIALS:
    pytest.skip("P4_TUTORIALS names no checkout of p4lang/tutorials", allow_module_level=True)
skip_without("make", "iperf")


@dataclass(frozen=True)
class Exercise:
    """The input at Mininet's prompt, and the resulting content of the exercise's files and of the screen."""

    lines: tuple[str, ...]
    results: Callable[[Path, str], object]
    expected: object
    solution: dict[str, str] = field(default_factory=dict)
    """Files of `solution` that are copied to other places than beside the exercise's own."""


def listen(*hosts: str) -> tuple[str, ...]:
    heard = [f"{host} timeout 25 python3 -u receive.py > {host}.txt 2>&1 &" for host in hosts]
    return (*heard, "sh sleep 4")


def lost(_: Path, screen: str) -> list[str]:
    return re.findall(r"([0-9]+)% dropped", screen)


def found(pattern: str, *hosts: str) -> Callable[[Path, str], object]:
    def results(folder: Path, _: str) -> object:
        return [re.findall(pattern, (folder / f"{host}.txt").read_text()) for host in hosts]

    return results


def different(pattern: str, host: str) -> Callable[[Path, str], object]:
    return lambda folder, _: sorted(set(re.findall(pattern, (folder / f"{host}.txt").read_text())))


def answered(_: Path, screen: str) -> object:
    return [int(count) > 0 for count in re.findall(r"([0-9]+) received", screen)]


EXERCISES = {
    "basic": Exercise(("pingall",), lost, ["0"]),
    "basic_tunnel": Exercise(
        (
            *listen("h2", "h3"),
            "h1 python3 send.py 10.0.2.2 plain",
            "h1 python3 send.py 10.0.3.3 tunnelled --dst_id 2",
            "sh sleep 3",
        ),
        found(r"load\s+= *b?'(plain|tunnelled)'", "h2", "h3"),
        [["plain", "tunnelled"], []],
    ),
    "calc": Exercise(
        ("""h1 sh -c 'printf "1+2\\n7-5\\n12^10\\nquit\\n" | timeout 30 python3 calc.py'""",),
        lambda _, screen: re.findall(r"^(?:> )?([0-9]+)$", screen, re.MULTILINE),
        ["3", "2", "6"],
    ),
    "ecn": Exercise(
        (*listen("h2"), "h1 python3 send.py 10.0.2.2 quiet 3", "sh sleep 3"),
        found(r"tos\s+= (0x[0-9a-f]+)", "h2"),
        [["0x1"] * 3],
    ),
    "firewall": Exercise(
        (
            "h3 iperf -s > h3.txt 2>&1 &",
            "h1 iperf -s > h1.txt 2>&1 &",
            "sh sleep 2",
            "h1 timeout 20 iperf -c 10.0.3.3 -n 20K > out.txt 2>&1",
            "h3 timeout 6 iperf -c 10.0.1.1 -n 20K > in.txt 2>&1",
        ),
        lambda folder, _: ["KBytes" in (folder / name).read_text() for name in ("out.txt", "in.txt")],
        [True, False],
    ),
    "flowcache": Exercise(
        (
            "sh timeout 25 python3 mycontroller.py > controller.txt 2>&1 &",
            "sh sleep 6",
            "h1 ping -c 8 h2",
        ),
        answered,
        [True],
    ),
    "link_monitor": Exercise(
        (
            "h1 timeout 20 python3 -u receive.py > h1.txt 2>&1 &",
            "sh sleep 4",
            "h1 timeout 5 python3 send.py",
        ),
        different(r"Switch ([0-9]+) - Port ([0-9]+)", "h1"),
        [tuple(port) for port in ("11", "13", "14", "23", "24", "31", "32", "41", "42")],
    ),
    "load_balance": Exercise(
        (*listen("h2", "h3"), *("h1 python3 send.py 10.0.0.1 balanced",) * 4, "sh sleep 3"),
        lambda folder, _: sum(
            (folder / f"{host}.txt").read_text().count("balanced") for host in ("h2", "h3")
        ),
        4,
    ),
    "mri": Exercise(
        (*listen("h2"), "h1 python3 send.py 10.0.2.2 traced 2", "sh sleep 3"),
        found(r"swid\s+= ([0-9]+)", "h2"),
        [["2", "1"] * 2],
    ),
    "multicast": Exercise(("pingall",), lost, ["0"], {"s1-runtime.json": "sig-topo/s1-runtime.json"}),
    "p4runtime": Exercise(
        (
            "sh timeout 20 python3 mycontroller.py > controller.txt 2>&1 &",
            "sh sleep 6",
            "h1 ping -c 3 h2",
        ),
        lambda folder, screen: [
            re.findall("([0-9]+) received", screen),
            "egressTunnelCounter 100: " in (folder / "controller.txt").read_text(),
        ],
        [["3"], True],
    ),
    "qos": Exercise(
        (
            *listen("h2"),
            "h1 python3 send.py --p=UDP --des=10.0.2.2 --m=one --dur=1",
            "h1 python3 send.py --p=TCP --des=10.0.2.2 --m=two --dur=1",
            "sh sleep 3",
        ),
        # 0xb9 for UDP, 0xb1 for TCP. The answers of h2's kernel are also received.
        different(r"tos\s+= (0xb[19])", "h2"),
        ["0xb1", "0xb9"],
    ),
    "source_routing": Exercise(
        (
            *listen("h2"),
            """h1 sh -c 'printf "2 3 2 2 1\\n2 1\\nq\\n" | timeout 20 python3 send.py 10.0.2.2'""",
            "sh sleep 3",
        ),
        found(r"ttl\s+= ([0-9]+)", "h2"),
        [["59", "62"]],
    ),
}


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_ends_under_mininet_as_its_readme_says(tmp_path: Path, name: str, switch: str) -> None:
    if name == "flowcache" and importlib.util.find_spec("p4runtime_sh") is None:
        pytest.skip("flowcache's controller needs p4runtime-shell on PYTHONPATH")
    exercise = EXERCISES[name]
    shutil.copytree(Path(TUTORIALS) / "utils", tmp_path / "utils")
    folder = tmp_path / "exercises" / name
    shutil.copytree(Path(TUTORIALS) / "exercises" / name, folder)
    for solved in (folder / "solution").iterdir():
        if not solved.name.endswith(".license"):
            shutil.copy(solved, folder / exercise.solution.get(solved.name, solved.name))
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", "ip link set lo up; exec make run"],
        cwd=folder,
        env=environment(tmp_path, switch),
        input="\n".join(exercise.lines) + "\n",
        capture_output=True,
        text=True,
        timeout=180,
    )
    screen = done.stdout + done.stderr
    logs = [(log.name, log.read_text()[-400:]) for log in (folder / "logs").glob("s1.log")]
    assert done.returncode == 0, (screen, logs)
    assert exercise.results(folder, screen) == exercise.expected, (screen[-3000:], logs)


def test_every_exercise_with_a_solution_is_run() -> None:
    solved = {path.parent.name for path in (Path(TUTORIALS) / "exercises").glob("*/solution")}
    assert set(EXERCISES) == solved
