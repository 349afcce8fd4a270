"""Exercises under their own Mininet harnesses: p4lang's tutorials under `make run`, p4-learning's under
p4-utils' `p4run`. Two switches are tested under the names of BMv2's programs: ours, and BMv2 if it is
installed.

`make tutorials P4_TUTORIALS=DIR P4_UTILS=DIR P4_LEARNING=DIR` runs them on checkouts of p4lang/tutorials,
nsg-ethz/p4-utils and nsg-ethz/p4-learning. They need root, Debian's package mininet and p4c; p4-utils also
the Python packages ipaddr, networkx and psutil. Each has its own namespaces: the harnesses use fixed ports,
and p4-utils ends programs by name.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mininet_harness import SWITCHES, environment, skip_without

from control_plane.tests.expected_rows import value

pytestmark = [pytest.mark.system, pytest.mark.nightly]

TUTORIALS, UTILS, LEARNING = (
    os.environ.get(name, "") for name in ("P4_TUTORIALS", "P4_UTILS", "P4_LEARNING")
)
EXERCISES = value(Path(__file__).with_name("mininet_exercises.yaml").read_text(encoding="utf-8"))
Exercise = dict[str, Any]


def run(
    folder: Path, namespaces: list[str], command: str, lines: list[str], env: dict[str, str]
) -> tuple[int, str]:
    """Types lines at a harness' prompt; returns its exit code and what it shows."""
    done = subprocess.run(
        ["unshare", "--net", *namespaces, "sh", "-c", f"ip link set lo up; exec {command}"],
        cwd=folder,
        env=env,
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=180,
    )
    return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)


def check(exercise: Exercise, folder: Path, screen: str) -> None:
    """Compares what patterns find on the screen and in the hosts' files with what the exercise says."""

    def found(place: str, pattern: str) -> list[str]:
        texts = [screen if name == "screen" else (folder / name).read_text() for name in place.split()]
        return [one for text in texts for one in re.findall(pattern, text)]

    for place, (pattern, *wanted) in exercise.get("found", {}).items():
        assert found(place, pattern) == wanted, (place, screen[-3000:])
    for place, (pattern, *wanted) in exercise.get("once", {}).items():
        assert sorted(set(found(place, pattern))) == wanted, (place, screen[-3000:])
    for place, pattern in exercise.get("has", {}).items():
        assert found(place, pattern), (place, screen[-3000:])


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize("name", EXERCISES["tutorials"])
def test_a_tutorial_ends_under_mininet_as_its_readme_says(tmp_path, name, switch):
    if not TUTORIALS:
        pytest.skip("P4_TUTORIALS names no checkout of p4lang/tutorials")
    skip_without("make", "iperf")
    if name == "flowcache" and importlib.util.find_spec("p4runtime_sh") is None:
        pytest.skip("flowcache's controller needs p4runtime-shell on PYTHONPATH")
    exercise = EXERCISES["tutorials"][name]
    shutil.copytree(Path(TUTORIALS) / "utils", tmp_path / "utils")
    folder = tmp_path / "exercises" / name
    shutil.copytree(Path(TUTORIALS) / "exercises" / name, folder)
    for solved in (folder / "solution").iterdir():
        if not solved.name.endswith(".license"):
            shutil.copy(solved, folder / exercise.get("solution", {}).get(solved.name, solved.name))
    code, screen = run(folder, [], "make run", exercise["lines"], environment(tmp_path, switch))
    logs = [log.read_text()[-400:] for log in (folder / "logs").glob("s1.log")]
    assert code == 0, (screen, logs)
    check(exercise, folder, screen)


def test_every_tutorial_with_a_solution_is_run():
    if not TUTORIALS:
        pytest.skip("P4_TUTORIALS names no checkout of p4lang/tutorials")
    solved = {path.parent.name for path in (Path(TUTORIALS) / "exercises").glob("*/solution")}
    assert set(EXERCISES["tutorials"]) == solved


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize("name", EXERCISES["p4-learning"])
def test_an_exercise_ends_under_p4_utils_as_its_readme_says(tmp_path, name, switch):
    if not UTILS or not LEARNING:
        pytest.skip("P4_UTILS and P4_LEARNING name no checkouts of nsg-ethz")
    skip_without("brctl")
    for package in ("ipaddr", "networkx", "psutil"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"p4-utils needs the Python package {package}")
    exercise = EXERCISES["p4-learning"][name]
    place, _, config = name.partition(" ")
    folder = tmp_path / "exercise"
    shutil.copytree(Path(LEARNING) / "exercises" / place, folder)
    if (folder / "solution").is_dir():
        shutil.copytree(folder / "solution", folder, dirs_exist_ok=True)
    env = environment(tmp_path, switch)
    (tmp_path / "lib/p4utils").symlink_to(Path(UTILS).resolve() / "p4utils")
    command = f"python3 -m p4utils.p4run --config {config or 'p4app.json'}"
    _, screen = run(folder, ["--pid", "--fork", "--mount-proc"], command, exercise["lines"], env)
    check(exercise, folder, screen)
