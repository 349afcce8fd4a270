#!/usr/bin/env python3
"""Compile the constructs' programs with p4c-bm2-ss, or check that what is committed belongs to the sources.

    compile.py            compile every *.p4 here and write *.json and provenance.json
    compile.py --check    fail unless the committed files belong to the sources; needs no compiler

The JSON is committed, because p4c is in no package registry: who only runs the tests needs no compiler. It
is without source positions, which would name the machine's paths.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPILER = "p4c-bm2-ss"
PROVENANCE = HERE / "provenance.json"
COMPILE_TIMEOUT_SECONDS = 300


class CompileError(Exception):
    """A program cannot be compiled here. Says which, and p4c's words."""


def digest(path: Path) -> str:
    """SHA-256 of a file in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digests(*patterns: str) -> dict[str, str]:
    """SHA-256 by file name."""
    files = sorted(path for pattern in patterns for path in HERE.glob(pattern) if path != PROVENANCE)
    return {path.name: digest(path) for path in files}


def without_sources(node: object) -> object:
    """The same JSON without any `source_info`."""
    if isinstance(node, dict):
        return {key: without_sources(value) for key, value in node.items() if key != "source_info"}
    if isinstance(node, list):
        return [without_sources(value) for value in node]
    return node


def compile_one(program: Path, scratch: Path) -> None:
    """Write the JSON beside the program."""
    output = scratch / f"{program.stem}.json"
    command = [COMPILER, "--Wdisable", "-o", str(output), program.name]
    run = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=COMPILE_TIMEOUT_SECONDS)
    if run.returncode != 0 or not output.exists():
        raise CompileError(f"{program.name}: {COMPILER} ended with status {run.returncode}:\n{run.stderr}")
    compiled = without_sources(json.loads(output.read_text(encoding="utf-8")))
    program.with_suffix(".json").write_text(json.dumps(compiled, indent=1) + "\n", encoding="utf-8")


def compile_all() -> None:
    """Write every JSON and provenance.json."""
    try:
        run = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise CompileError(
            f"{COMPILER} is not on PATH: build p4c 1.2.5.x, or leave these programs as they are"
        ) from error
    version = re.search(r"Version (.+)", run.stdout + run.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        for program in sorted(HERE.glob("*.p4")):
            compile_one(program, Path(scratch))
    provenance = {
        "compiler": f"{COMPILER} {version.group(1).strip() if version else 'of unknown version'}",
        "sources": digests("*.p4", "*.h"),
        "outputs": digests("*.json"),
    }
    PROVENANCE.write_text(json.dumps(provenance, indent=1) + "\n", encoding="utf-8")


def check() -> list[str]:
    """What is wrong with the committed files, a sentence each; empty when all is in order."""
    try:
        provenance = json.loads(PROVENANCE.read_text(encoding="utf-8"))
        recorded = {**provenance["sources"], **provenance["outputs"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [f"{PROVENANCE.name} cannot be read ({error}); run `make p4`"]
    now = digests("*.p4", "*.h", "*.json")
    wrong = [
        f"{name} is not what was compiled; run `make p4`"
        for name in sorted({*recorded, *now})
        if recorded.get(name) != now.get(name)
    ]
    scripts = {path.stem for path in HERE.glob("*.script")}
    programs = {path.stem for path in HERE.glob("*.p4")}
    wrong += [f"{name}.p4 has no script" for name in sorted(programs - scripts)]
    wrong += [f"{name}.script has no program" for name in sorted(scripts - programs)]
    return wrong


def main() -> int:
    """Exit status 0: done, or all in order. 1: not, with the reason on stderr."""
    parser = argparse.ArgumentParser(
        description="Compile the constructs' programs, or check what was compiled."
    )
    parser.add_argument("--check", action="store_true", help="fail unless the committed files are fresh")
    if parser.parse_args().check:
        wrong = check()
        print("\n".join(wrong) if wrong else "the constructs' JSON belongs to the sources")
        return 1 if wrong else 0
    try:
        compile_all()
    except CompileError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
