"""The wheels, installed without Rust and without the repository.

Does not detect faults on other systems, processors and C libraries than this machine's.
"""

import json
import re
import zipfile
from pathlib import Path

import pytest
from fresh_environment import ROOT, Fresh, cpu_seconds

pytestmark = pytest.mark.system

DEMO_LOOPS = 120
"""Maximum time of installation and demo, in times of `LOOP`: machines differ, this ratio is 55 to 71."""
LOOP = """
import time
begin, total = time.process_time(), 0
for turn in range(10_000_000):
    total += turn
print(time.process_time() - begin)
"""


def test_the_engines_wheel_is_for_every_python_from_3_11_and_for_old_systems(wheels: list[Path]) -> None:
    (engine,) = (path for path in wheels if path.name.startswith("eeon_engine"))
    # maturin assigns a manylinux tag only after it has checked all symbols and libraries of the extension.
    assert re.search(r"-cp311-abi3-manylinux_\d+_\d+_\w+\.whl$", engine.name), engine.name
    with zipfile.ZipFile(engine) as archive:
        names = set(archive.namelist())
    assert {name for name in names if name.endswith(".so")} == {"eeon_engine/_engine.abi3.so"}
    assert {"eeon_engine/_engine.pyi", "eeon_engine/thrift/standard_types.pyi"} <= names


def test_all_other_wheels_are_for_any_system_and_have_no_strangers_in_them(wheels: list[Path]) -> None:
    homes = {
        "eeon": set(), "eeon_control": {"eeon_control"}, "eeon_experiments": {"eeon_experiments"},
        "eeon_ptf": {"ptf_tests"}, "eeon_tools": {"eeon_tools"},
    }  # fmt: skip
    pure = {path.name.split("-")[0]: path for path in wheels if not path.name.startswith("eeon_engine")}
    assert set(pure) == set(homes)
    for name, path in pure.items():
        assert path.name.endswith("-py3-none-any.whl")
        with zipfile.ZipFile(path) as archive:
            tops = {entry.split("/")[0] for entry in archive.namelist()}
        assert {top for top in tops if not top.endswith(".dist-info")} == homes[name]


def loop_seconds(fresh: Fresh) -> float:
    """Returns the processor time of `LOOP` in the environment's Python, in seconds."""
    return float(fresh.run("python", "-c", LOOP).stdout)


def test_installation_and_demo_take_no_longer_than_their_loops_and_no_compiler(fresh: Fresh) -> None:
    loop = loop_seconds(fresh)
    before = cpu_seconds()
    done = fresh.run("eeon", "demo", "--output", "demo")
    demo = cpu_seconds() - before
    loop = max(loop, loop_seconds(fresh))
    assert done.returncode == 0, done.stderr
    assert fresh.run("python", "-c", "import shutil; print(shutil.which('cargo'))").stdout == "None\n"
    assert "not seen" not in done.stdout
    summary = json.loads((fresh.folder / "demo" / "summary.json").read_text())
    assert len(summary["runs"]) == 12
    assert (fresh.folder / "demo" / "report.html").read_text().count("<svg") >= 4
    install = fresh.install_cpu_seconds
    print(f"processor time: install {install:.1f} s, eeon demo {demo:.1f} s, the loop {loop:.2f} s")
    assert install + demo < DEMO_LOOPS * loop


@pytest.mark.nightly
def test_pip_installs_the_same(fresh_by_pip: Fresh, fresh: Fresh) -> None:
    listed = [one.run("eeon", "config", "list", "--json") for one in (fresh_by_pip, fresh)]
    assert [done.returncode for done in listed] == [0, 0], listed[0].stderr
    assert listed[0].stdout == listed[1].stdout
    print(f"processor time: install by pip {fresh_by_pip.install_cpu_seconds:.1f} s")


def test_the_table_and_the_picture_of_the_install_page_are_the_demos(fresh: Fresh) -> None:
    runs = {
        (run["aqm"], run["eee"]): run
        for run in json.loads((fresh.folder / "demo" / "summary.json").read_text())["runs"]
    }
    page = (ROOT / "docs" / "run" / "install.md").read_text()
    shown = re.findall(r"^    ((?:red|mark|drop)_\w+) +(\w+) +([\d,. ]+)$", page, re.M)
    assert len(shown) == 6
    for aqm, eee, numbers in shown:
        packets, energy = runs[aqm, eee]["packets"], runs[aqm, eee]["energy_joules"]
        latency = runs[aqm, eee]["latency_us"]["data"]

        def early(*names: str, packets: dict[str, dict[str, int]] = packets) -> int:
            return sum(packets[name]["early_dropped"] for name in names)

        printed = [float(number.replace(",", "")) for number in numbers.split()]
        assert printed[:3] == [
            sum(one["marked"] for one in packets.values()), early("ack", "ack_ece"), early("syn", "syn_ack"),
        ]  # fmt: skip
        assert printed[3] == round(latency["p50"], 1)
        assert printed[4] == round(latency["p99"])
        assert printed[5] == round(100 * energy["used"] / energy["legacy"], 1)
    drawn = (fresh.folder / "demo" / "picture.svg").read_bytes()
    assert drawn == (ROOT / "docs" / "images" / "demo.svg").read_bytes(), "`make picture` draws it again"


def test_what_ships_is_found_in_the_environment(fresh: Fresh) -> None:
    kinds = ("topologies", "examples", "schema", "p4src")
    code = f"from eeon_control import data; print(*map(data.folder, {kinds}))"
    done = fresh.run("python", "-c", code)
    assert done.returncode == 0, done.stderr
    assert all(Path(folder).is_relative_to(fresh.environment) for folder in done.stdout.split())
    listed = fresh.run("eeon", "config", "list").stdout
    assert "leaf-spine-4" in listed and "mark_threshold" in listed


def test_the_live_switch_is_a_command(fresh: Fresh) -> None:
    done = fresh.run("eeon-switch", "--help")
    assert done.returncode == 0, done.stderr
    assert "--thrift-port" in done.stdout


def test_a_packet_test_passes(fresh: Fresh) -> None:
    done = fresh.run("eeon-ptf", "interface", "mark_threshold.MarkThresholdMarksOneByteAbove")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ptf engine: 3 cases: 3 passed, 0 failed" in done.stdout
    assert (fresh.folder / "out" / "ptf" / "engine").is_dir()
