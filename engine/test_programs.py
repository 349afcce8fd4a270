#!/usr/bin/env python3
"""Compile the P4 programs of the engine's tests and of examples, or check that they belong to their sources.

    engine/test_programs.py          compile every *.p4 of FOLDERS: writes p4c's output, and provenance.json
    engine/test_programs.py --check  fail unless the committed files belong to the sources; needs no compiler

The outputs are committed, because p4c is in no package registry: running the tests needs no compiler. They
have no source positions, which would contain the machine's paths. E-EON's own program has a separate script:
p4src/compile.py.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENGINE = Path(__file__).resolve().parent
COMPILER = "p4c-bm2-ss"
PROVENANCE = "provenance.json"
COMPILE_TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Folder:
    """A folder of programs. `with_p4info`: P4Runtime clients use them. `with_scripts`: each has a .script."""

    path: Path
    with_p4info: bool = False
    with_scripts: bool = False
    options: Sequence[str] = ("--Wdisable",)

    def programs(self) -> list[Path]:
        """Returns all programs, in a fixed order."""
        return sorted(self.path.glob("*.p4"))

    def sources(self) -> list[Path]:
        """Returns the files from which the outputs are made."""
        return sorted([*self.programs(), *self.path.glob("*.h")])

    def outputs(self, program: Path) -> list[Path]:
        """Returns the output files of a program; the JSON comes first."""
        names = [".json", ".p4info.txtpb"] if self.with_p4info else [".json"]
        return [program.with_name(program.stem + name) for name in names]


FOLDERS = (
    Folder(ENGINE / "bm/tests/programs"),
    Folder(ENGINE / "simple_switch/tests/p4"),
    Folder(ENGINE / "simple_switch/tests/constructs", with_scripts=True),
    Folder(ENGINE / "live/tests/p4", with_p4info=True),
    Folder(ENGINE / "python/tests/programs", with_p4info=True),
    Folder(ENGINE.parent / "examples/own_program", with_p4info=True),
    Folder(ENGINE.parent / "examples/new_aqm", with_p4info=True),
)


class CompileError(Exception):
    """A program that cannot be compiled here. The text names it, and has p4c's message."""


def digests(files: Iterable[Path]) -> dict[str, str]:
    """Returns SHA-256 digests in hexadecimal, by file name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.exists()}


def without_sources(node: Any) -> Any:  # noqa: ANN401
    """Returns the JSON without any `source_info`."""
    if isinstance(node, dict):
        return {key: without_sources(value) for key, value in node.items() if key != "source_info"}
    if isinstance(node, list):
        return [without_sources(value) for value in node]
    return node


def compiler_version() -> str:
    """Returns text such as `p4c-bm2-ss 1.2.5.16 (SHA: 34b86e9bac BUILD: Release)`."""
    try:
        run = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise CompileError(
            f"{COMPILER} is not on PATH: build p4c 1.2.5.x, or leave these programs as they are"
        ) from error
    version = re.search(r"Version (.+)", run.stdout + run.stderr)
    return f"{COMPILER} {version.group(1).strip() if version else 'of unknown version'}"


def compile_program(folder: Folder, program: Path, scratch: Path) -> None:
    """Writes the outputs beside the program."""
    made = [scratch / path.name for path in folder.outputs(program)]
    command = [COMPILER, *folder.options, "-o", str(made[0])]
    if folder.with_p4info:
        command += ["--p4runtime-files", str(made[1])]
    run = subprocess.run(
        [*command, program.name],
        cwd=folder.path,
        capture_output=True,
        text=True,
        timeout=COMPILE_TIMEOUT_SECONDS,
    )
    if run.returncode != 0 or not all(path.exists() for path in made):
        raise CompileError(
            f"{program.relative_to(ENGINE.parent)}: {COMPILER} ended with status {run.returncode}:\n"
            f"{run.stderr}"
        )
    document = {**without_sources(json.loads(made[0].read_text(encoding="utf-8"))), "program": program.name}
    made[0].write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    for path in made:
        (folder.path / path.name).write_bytes(path.read_bytes())


def compile_folder(folder: Folder, compiler: str) -> None:
    """Writes all outputs of a folder and its provenance.json."""
    with tempfile.TemporaryDirectory() as scratch:
        for program in folder.programs():
            compile_program(folder, program, Path(scratch))
    provenance = {
        "compiler": compiler,
        "options": list(folder.options),
        "sources": digests(folder.sources()),
        "outputs": digests(path for program in folder.programs() for path in folder.outputs(program)),
    }
    text = json.dumps(provenance, indent=1) + "\n"
    (folder.path / PROVENANCE).write_text(text, encoding="utf-8")


def check(folder: Folder) -> list[str]:
    """Returns the faults of a folder's committed files, one sentence each; empty if there are none."""
    try:
        provenance = json.loads((folder.path / PROVENANCE).read_text(encoding="utf-8"))
        recorded = {**provenance["sources"], **provenance["outputs"]}
        options = provenance["options"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [f"{folder.path}/{PROVENANCE} cannot be read ({error}); run `make p4`"]
    outputs = [path for program in folder.programs() for path in folder.outputs(program)]
    now = digests([*folder.sources(), *outputs])
    wrong = [
        f"{folder.path}/{name} is not what was compiled; run `make p4`"
        for name in sorted({*recorded, *now})
        if recorded.get(name) != now.get(name)
    ]
    if options != list(folder.options):
        wrong.append(f"{folder.path} was compiled with other options: {options}; run `make p4`")
    if folder.with_scripts:
        scripts = {path.stem for path in folder.path.glob("*.script")}
        programs = {path.stem for path in folder.programs()}
        wrong += [f"{folder.path}/{name}.p4 has no script" for name in sorted(programs - scripts)]
        wrong += [f"{folder.path}/{name}.script has no program" for name in sorted(scripts - programs)]
    return wrong


def main() -> int:
    """Returns the exit status: 0 on success; 1 on failure, with the reason on stderr."""
    parser = argparse.ArgumentParser(
        description="Compile the engine's test programs, or check what was compiled."
    )
    parser.add_argument("--check", action="store_true", help="fail unless the committed files are fresh")
    if parser.parse_args().check:
        wrong = [sentence for folder in FOLDERS for sentence in check(folder)]
        print(
            "\n".join(wrong) or "the engine's test programs belong to their sources",
            file=sys.stderr if wrong else None,
        )
        return 1 if wrong else 0
    try:
        compiler = compiler_version()
        for folder in FOLDERS:
            compile_folder(folder, compiler)
    except CompileError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
