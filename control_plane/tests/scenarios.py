"""Scenarios as data: commands, on engine switches of leaf-spine-4 or without any, and their answers.

A file has scenarios, which are lists of steps, and `begins`, the steps with which each of them begins. A step has
one key. If that is one of the names in `deeds.py` or `file_deeds.py`, it changes the fabric or files. Any other is
a command without `eeon`, in which `FABRIC` stands for the options for topology and targets. The answer to a command
is a text or a list of texts, each of which occurs in its output, or a mapping with some of these keys:

    code        the exit code, if it is not 0
    says        texts, each of which occurs in the output; a text in slashes is a regular expression
    lacks       texts, none of which occurs in the output
    in order    texts, as those that `says` names, of which each occurs behind the one before
    is          the whole output, without that on stderr
    saves       a file that is given the output, without that on stderr
    is saved    the file with the same output
    writes      true, for a command that fails after it has changed the fabric
    about       the same as any other key, but numbers may differ by 5%
    columns     the width of the terminal, if it is not 200

Any other key is a path in the document that the command prints with `-o json`, and its value is what is there,
or `> 0` for a number above 0, or a regular expression in slashes.
The words of a path are keys, numbers, `*` for each member of a list or mapping, `#` for its length, and
`KEY=VALUE,...` for the only member of a list with these values.

A command that does not end with 0, or has the option --dry-run, changes neither switches nor the revision.
"""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from answers import check, paths_of
from deeds import DEEDS, RealSwitches, Step, World
from eeon_command import eeon
from expected_rows import value
from file_deeds import FILE_DEEDS

SCENARIOS = Path(__file__).parent / "expected" / "scenarios"


def wait(world: World, seconds: float) -> None:
    """Does what happens while a command waits, instead of waiting; without `while it waits`, waits."""
    world.waited.append(seconds)
    if world.meanwhile is None:
        time.sleep(seconds)
    for step in world.meanwhile or ():
        do(world, step)


def do(world: World, step: Step) -> None:
    ((what, answer),) = step.items()
    if what in DEEDS:
        DEEDS[what](world, answer)
    elif what in FILE_DEEDS:
        FILE_DEEDS[what](world.folder, answer)
    else:
        _command(world, what, answer)


def _command(world: World, what: str, answer: Any) -> None:
    words = shlex.split(what.replace("FABRIC", "-t leaf-spine-4 -T targets.yaml"))
    told = answer if isinstance(answer, dict) else {}
    before = _held(world)
    with contextlib.chdir(world.folder):
        columns = told.get("columns", 200)
        done = eeon(*words, *(["-o", "json"] if paths_of(answer) else []), columns=columns)
    if (done.exit_code or "--dry-run" in words) and not told.get("writes"):
        assert _held(world) == before, what
    check(what, done, answer, world.folder)


def _held(world: World) -> object:
    current = world.folder / "state" / "current"
    held = None if world.fabric is None else world.fabric.state()
    return held, current.read_text() if current.exists() else None


def scenarios(file: Path) -> dict[str, list[Step]]:
    """Returns the scenarios of a file, and `begins`."""
    found: dict[str, list[Step]] = value(file.read_text("utf-8"))
    return found


def parameters(file: Path) -> Iterator[Any]:
    """Returns the whole scenarios of a file as parameters of pytest."""
    found = scenarios(file)
    begins = found.pop("begins", [])
    for name, steps in found.items():
        whole = [*begins, *steps]
        marks = [pytest.mark.system] if has_switches(whole) else []
        yield pytest.param(whole, id=f"{file.stem}: {name}"[:160], marks=marks)


def has_switches(steps: list[Step]) -> bool:
    """Returns whether a scenario has commands for switches."""
    return any("FABRIC" in what or what == "targets" for step in steps for what in step)


def tell_verbs(folder: Path, addresses: Mapping[str, str], tick: str) -> None:
    """Runs the scenario of all verbs on real switches, which are still blank."""
    world = World(folder, RealSwitches(addresses), tick=tick)
    (steps,) = scenarios(SCENARIOS / "verbs.yaml").values()
    for step in steps:
        do(world, step)
