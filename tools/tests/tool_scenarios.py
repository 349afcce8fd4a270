"""Scenarios as data: commands, and the files that they read and write.

The form is that of control_plane/tests/scenarios.py, without switches; values are at paths of the document
that a command prints with `--json`. `marks` has marks of pytest for all scenarios. Other steps are:

    files        writes texts to files
    edit         replaces a text in a file, which occurs there
    copy         copies a folder or a file of the repository, under its last name
    capture      writes captures: packets in the form of captures.py
    sparse       writes sparse.pcap: an ARP request, 1 ms later twelve frames from h1 to h2, 10 us apart
    trace        copies `small`, a trace of a few hundred packets, or `incast`, which congests a link, with
                 its manifest: small.pcap, incast.pcap
    cut          removes this number of bytes at the ends of files
    remove       removes a file
    a file has   texts, or regular expressions in slashes, that occur in files
    json         values in files, by path
    fabric       values of the engine's fabric `of` a topology (leaf-spine-4) with `config`, or why it is
                 `refused`; `lacks` has keys that it does not have
"""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from captures import NAMES, written
from eeon_control import config, topology
from eeon_tools.errors import UnavailableError
from eeon_tools.replay.spec import fabric_spec
from eeon_tools.trace.manifest import manifest_path
from made_captures import sparse

from control_plane.tests.answers import check, check_document, paths_of
from control_plane.tests.eeon_command import eeon
from control_plane.tests.expected_rows import value
from control_plane.tests.file_deeds import FILE_DEEDS

SCENARIOS = Path(__file__).parent / "expected" / "scenarios"
_ROOT = Path(__file__).parents[2]
Step = dict[str, Any]
Trace = Callable[[str], Path]


def scenarios(file: Path) -> Iterator[Any]:
    """Returns the scenarios of a file as parameters of pytest."""
    found: dict[str, list[Any]] = value(file.read_text("utf-8"))
    begins, marks = found.pop("begins", []), found.pop("marks", [])
    for name, steps in found.items():
        whole = [*begins, *steps]
        given = {"system", *marks} if any("trace" in step for step in whole) else marks
        yield pytest.param(
            whole, id=f"{file.stem}: {name}", marks=[getattr(pytest.mark, one) for one in given]
        )


def do(step: Step, folder: Path, trace: Trace) -> None:
    """Does one step in a folder."""
    ((what, told),) = step.items()
    match what:
        case str() if what in FILE_DEEDS:
            FILE_DEEDS[what](folder, told)
        case "copy":
            source = _ROOT / told
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / source.name)
        case "capture":
            for name, packets in told.items():
                written({"packets": packets}, folder / name, "", NAMES)
        case "sparse":
            sparse(folder)
        case "trace":
            for file in (made := trace(told), manifest_path(made)):
                shutil.copy(file, folder / file.name.replace(made.stem, told))
        case "cut":
            for name, count in told.items():
                (folder / name).write_bytes((folder / name).read_bytes()[:-count])
        case "json":
            for name, paths in told.items():
                check_document(name, json.loads((folder / name).read_text()), paths)
        case "fabric":
            _fabric(told, folder)
        case _:
            words = shlex.split(what)
            with contextlib.chdir(folder):
                done = eeon(*words, *(["--json"] if paths_of(told) else []))
            check(what, done, told, folder)


def _fabric(told: dict[str, Any], folder: Path) -> None:
    told = dict(told)
    fabric = topology.load(told.pop("of", "leaf-spine-4"))
    with contextlib.chdir(folder):
        settings = config.load(*told.pop("config"))
    if "refused" in told:
        with pytest.raises(UnavailableError, match=told["refused"]):
            fabric_spec(fabric, settings, 1)
        return
    spec = fabric_spec(fabric, settings, seed=1)
    assert not spec.keys() & set(told.pop("lacks", ()))
    check_document("fabric", spec, told)
