"""The workflow's scripts with a bare repository and four switches, on two runners."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from eeon_control import topology

from control_plane.tests.engine_switches import serving

HERE = Path(__file__).resolve().parent
FABRIC4 = topology.load("leaf-spine-4")
GATE = "the gate `test $EEON_WAVE = 0` is closed: it exited with 1"
WORKFLOW = yaml.load((HERE / "eeon.yml").read_text(), Loader=yaml.BaseLoader)


@pytest.fixture
def addresses():
    with serving(FABRIC4) as (_, found):
        yield found


class Runner:
    """A clone of the repository, with a state folder beside it."""

    def __init__(self, folder: Path, bare: Path) -> None:
        self.clone, self.state = folder / "clone", folder / "state"
        self.environment = os.environ | {
            "CONFIG": "fabric/config.yaml",
            "TOPOLOGY": "leaf-spine-4",
            "TARGETS": "fabric/targets.yaml",
            "STATE": str(self.state),
            "HOME": str(folder),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GIT_CONFIG_NOSYSTEM": "1",
            "COLUMNS": "200",
        }
        folder.mkdir()
        self.run("git", "clone", "--quiet", str(bare), str(self.clone), at=folder)

    def run(self, *command: str, at: Path | None = None, code: int = 0) -> str:
        done = subprocess.run(
            command,
            cwd=at or self.clone,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == code, (command, done.stdout, done.stderr)
        return done.stdout

    def commit(self, subject: str, **files: str) -> None:
        for name, text in files.items():
            (self.clone / "fabric").mkdir(exist_ok=True)
            (self.clone / "fabric" / f"{name}.yaml").write_text(text)
        self.run("git", "add", ".")
        person = ["-c", "user.name=me", "-c", "user.email=me@localhost"]
        self.run("git", *person, "commit", "--quiet", "--message", subject)
        self.run("git", "push", "--quiet", "origin", "HEAD:main")

    def plan(self, code: int = 0) -> str:
        self.run(str(HERE / "plan.sh"), code=code)
        return (self.clone / "plan.md").read_text()

    def apply(self, *options: str, code: int = 0) -> None:
        self.run(str(HERE / "apply.sh"), *options, code=code)

    def history(self) -> dict:
        return json.loads(self.run("eeon", "config", "history", "--state", str(self.state), "-o", "json"))


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_is_merged_is_applied_and_the_state_goes_through_git_to_another_runner(addresses, tmp_path):
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch", "main", bare], check=True)
    examples = Path(topology.__file__).parents[2] / "examples"
    one = Runner(tmp_path / "one", bare)
    targets = json.dumps({"tick": "1ns", "switches": addresses})
    one.commit("begin with RED", config=(examples / "drop_tail.yaml").read_text(), targets=targets)
    assert one.plan().startswith("### What a merge changes\n\n    ")
    one.apply("--waves", "1,rest", "--gate", "account")
    assert one.plan().startswith("### The fabric is as intended\n")

    two = Runner(tmp_path / "two", bare)
    two.commit("mark at 30 KB", config=(examples / "mark_threshold.yaml").read_text())
    assert "mark_threshold" in two.plan()
    two.apply("--gate-command", "test $EEON_WAVE = 0", code=1)
    two.apply()
    value = two.history()
    assert [one["comment"].partition(" ")[2] for one in value["revisions"]] == [
        "mark at 30 KB",
        "begin with RED",
    ]
    assert [one["why"] for one in value["stopped"]] == [GATE]
    assert value["unfinished"] is None and value["current"] == 2

    one.run("git", "pull", "--quiet")
    one.apply()
    assert one.history() == value | {"fabric": str(one.state)}
    kept = one.run("git", "ls-tree", "--name-only", "-r", "origin/eeon-state").split()
    assert kept == ["current", "revisions/1.json", "revisions/2.json", "stopped.json", "undone"]
    clone = tmp_path / "three"
    clone_it = f"umask 077 && git clone --quiet --branch eeon-state {bare} {clone}"
    one.run("sh", "-c", clone_it, at=tmp_path)
    assert "mark at 30 KB" in one.run("eeon", "config", "history", "--state", str(clone))


@pytest.mark.system
def test_configuration_that_is_none_gives_a_comment_that_says_so(tmp_path):
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch", "main", bare], check=True)
    runner = Runner(tmp_path / "one", bare)
    runner.commit(
        "a mistake", config="roles: {spin: {}}", targets='{tick: 1ns, switches: {leaf1: "127.0.0.1:1"}}'
    )
    plan = runner.plan(code=1)
    assert plan.startswith("### Planning failed\n\n    fabric/config.yaml:1: error: roles.spin")
    assert all(line.startswith("    ") for line in plan.splitlines()[2:])


def test_workflow_runs_the_scripts_and_no_text_of_a_pull_request_in_a_shell():
    jobs = WORKFLOW["jobs"]
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert {name for text in runs for name in re.findall(r"[a-z]+\.sh", text)} == {"plan.sh", "apply.sh"}
    assert not any("${{" in text for text in runs)
    assert "head.repo.full_name == github.repository" in jobs["plan"]["if"]
    assert "write" not in jobs["plan"]["permissions"]["contents"]
