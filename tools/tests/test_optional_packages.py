"""The everyday commands without the packages that only experiments and drawings need."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.system

_WITHOUT = """\
import sys
from importlib import metadata

for name in {absent!r}:
    sys.modules[name] = None  # an import of it raises ModuleNotFoundError

found = metadata.entry_points


def others(**wanted):
    return metadata.EntryPoints(
        one for one in found(**wanted) if one.module.split(".")[0] not in {absent!r}
    )


metadata.entry_points = others

from eeon_control.cli import main

main({words!r}, prog_name="eeon")
"""
HEAVY = ("matplotlib", "bokeh", "perfetto", "distributed", "dask", "eeon_experiments")


def eeon(*words: str, absent: tuple[str, ...] = HEAVY, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Runs the command `eeon` in a separate process in which some packages cannot be found."""
    program = _WITHOUT.format(absent=absent, words=list(words))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done


def test_every_command_is_listed_and_those_without_drawings_work(small_trace):
    listed = eeon("--help")
    for name in ("demo", "explain", "fabric", "replay", "trace"):
        assert f"\n  {name} " in listed.stdout
    for words in (("trace", "info", str(small_trace)), ("replay", "--help"), ("explain", "--help")):
        eeon(*words)


@pytest.mark.parametrize("words", [("replay", "--help"), ("experiment", "run", "--help")], ids=" ".join)
def test_a_command_starts_without_what_only_its_work_loads(words):
    eeon(*words, absent=("scapy", "finsy", "grpc", "matplotlib"))


def test_an_experiment_without_its_package_says_which_one_to_install():
    for words in ((), ("list",), ("run", "marking", "--quick")):
        done = eeon("experiment", *words, code=1)
        assert "pip install eeon-experiments" in done.stderr
        assert "Traceback" not in done.stderr


def test_with_its_package_an_experiment_is_that_packages_command():
    done = eeon("experiment", "--help", absent=())
    assert "report" in done.stdout and "eeon-experiments" not in done.stdout


def test_a_page_without_matplotlib_says_what_to_install_before_anything_runs(small_trace, tmp_path):
    page, output = tmp_path / "page.html", tmp_path / "demo"
    for words in (
        ("replay", str(small_trace), "-c", "mark_threshold", "--html", str(page)),
        ("demo", "--output", str(output)),
    ):
        done = eeon(*words, code=1)
        assert "pip install 'eeon-tools[plots]'" in done.stderr
        assert "replaying" not in done.stderr
    assert not page.exists() and not output.exists()


def test_a_table_needs_no_drawings(small_trace):
    assert "deepest queue" in eeon("replay", str(small_trace), "-c", "mark_threshold").stdout
