"""`eeon init`: immediately valid files of the requested fabric."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from eeon_command import eeon
from eeon_control import config, topology
from eeon_control.targets import load_targets, resolve
from eeon_control.units import DataRate, Duration

FILES = ("topology.yaml", "config.yaml", "targets.yaml")


def made(folder: Path, *words: str) -> topology.Topology:
    eeon("init", str(folder), *words, code=0)
    return topology.load(folder / "topology.yaml")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--leaves", "1", "--spines", "0", "--hosts", "1"),
        (
            "--leaves",
            "8",
            "--spines",
            "4",
            "--hosts",
            "16",
            "--host-rate",
            "25Gbps",
            "--uplink-rate",
            "100Gbps",
        ),
        ("--leaves", "3", "--host-rate", "100Mbps", "--uplink-rate", "1Gbps", "--delay", "25ns"),
    ],
    ids=" ".join,
)
def test_files_are_valid_at_once_and_go_together(tmp_path: Path, words: tuple[str, ...]) -> None:
    fabric = made(tmp_path / "mine", *words)
    loaded = config.load(tmp_path / "mine" / "config.yaml")
    targets = load_targets(tmp_path / "mine" / "targets.yaml")
    assert fabric.name == "mine" and list(resolve(fabric, targets.switches)) == list(fabric.switches)
    assert config.check(loaded, fabric, targets.tick) == []
    told = eeon("config", "validate", *_place(tmp_path / "mine"), code=0)
    assert "valid" in told.stdout


def _place(folder: Path) -> tuple[str, ...]:
    return "-c", str(folder / "config.yaml"), "-t", str(folder / "topology.yaml")


def test_fabric_is_as_the_flags_say(tmp_path: Path) -> None:
    words = ("--leaves", "3", "--spines", "2", "--hosts", "5", "--host-rate", "25Gbps", "--delay", "100ns")
    fabric = made(tmp_path / "mine", *words, "--uplink-rate", "100Gbps", "--first-port", "50051")
    assert (len(fabric.leaves), len(fabric.switches), len(fabric.hosts)) == (3, 5, 15)
    host, uplink = fabric.port("leaf1:1"), fabric.port("leaf1:6")
    assert host is not None and uplink is not None
    assert (host.rate, uplink.rate) == (DataRate.parse("25Gbps"), DataRate.parse("100Gbps"))
    assert uplink.delay == Duration.parse("100ns")
    addresses = [str(one) for one in load_targets(tmp_path / "mine" / "targets.yaml").switches.values()]
    assert addresses == [f"127.0.0.1:{50051 + number}" for number in range(5)]


@pytest.mark.parametrize(
    ("rate", "buffer"), [("10Gbps", 300_000), ("100Gbps", 3_000_000), ("400Gbps", 7_000_000)]
)
def test_buffer_has_room_for_the_marking_threshold_of_the_fastest_link(
    tmp_path: Path, rate: str, buffer: int
) -> None:
    made(tmp_path / "mine", "--uplink-rate", rate)
    assert config.load(tmp_path / "mine" / "config.yaml").profiles.queue["marking"].buffer == buffer


def test_every_part_has_comments_and_lines_that_fit_a_terminal(tmp_path: Path) -> None:
    made(tmp_path / "mine")
    for file in FILES:
        lines = (tmp_path / "mine" / file).read_text().splitlines()
        assert lines[0].startswith("# ") and max(map(len, lines)) <= 80


@pytest.mark.parametrize("columns", [60, 80])
def test_what_is_printed_fits_narrow_terminals(
    tmp_path: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = eeon("init", "mine", columns=columns, code=0)
    assert max(map(len, told.output.splitlines())) <= columns


def test_files_that_are_there_are_left_alone(tmp_path: Path) -> None:
    made(tmp_path / "mine")
    (tmp_path / "mine" / "config.yaml").write_text("mine")
    again = eeon("init", str(tmp_path / "mine"), code=1)
    assert "config.yaml" in again.stderr and "already there" in again.stderr
    assert (tmp_path / "mine" / "config.yaml").read_text() == "mine"


def test_files_that_the_disk_cannot_take_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        path.touch()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        refused = eeon("init", "--yes", str(tmp_path / "mine"))
    assert refused.stderr == f"{tmp_path / 'mine'}: cannot be written: No space left on device\n"
    made(tmp_path / "mine")


def test_a_folder_whose_name_no_fabric_may_have_is_named(tmp_path: Path) -> None:
    refused = eeon("init", "--yes", str(tmp_path / "9 racks"), code=1)
    assert not (tmp_path / "9 racks").exists()
    assert refused.stderr.startswith(
        "folder 9 racks: its name is the fabric's, and a node name starts with a"
    )


@pytest.mark.system
def test_at_a_terminal_what_is_not_given_is_asked(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "eeon_control", "init", "mine", "--leaves", "3"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path) as process:
        os.close(theirs)
        os.write(ours, b"1\n\n25Gbps\n\n")  # spines, hosts, their rate, the up-links'
        process.wait(120)
    os.close(ours)
    fabric = topology.load(tmp_path / "mine" / "topology.yaml")
    assert (len(fabric.leaves), len(fabric.switches), len(fabric.hosts)) == (3, 4, 12)
    port = fabric.port("leaf1:1")
    assert port is not None and port.rate == DataRate.parse("25Gbps")


def test_first_lines_of_the_help_name_no_command_that_a_twin_refuses() -> None:
    told = eeon("--help").output
    begin = told.partition("WHERE TO BEGIN")[2].partition("Options:")[0]
    assert "eeon init" in begin and "eeon fabric up leaf-spine-4" in begin
    assert "eeon top" not in begin and "show energy" not in begin


@pytest.mark.system
def test_output_that_does_not_fit_on_the_disk_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "eeon_control", "init", "--yes", "mine"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1,
        "the output cannot be written: No space left on device; free space, or write elsewhere\n",
    )
