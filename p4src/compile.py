#!/usr/bin/env python3
"""Compiles the P4 program with p4c-bm2-ss, or checks compiled/. `make p4` calls it.

    p4src/compile.py                compile and write compiled/
    p4src/compile.py --constants    write only constants.json, from the sources that compiled/ was made from
    p4src/compile.py --check        fail unless compiled/ belongs to the sources

compiled/ is committed, because p4c is in no package registry: running the program needs no compiler.

    eeon.json            the program for BMv2 and the engine
    eeon.p4info.txtpb    its P4Info for P4Runtime clients
    constants.json       the program's numbers for other languages: constants, enums, widths, fixed point
    provenance.json      the compiler's version, and the SHA-256 of every source and of every output
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

P4SRC = Path(__file__).resolve().parent
REPOSITORY = P4SRC.parent
PROGRAM = P4SRC / "eeon.p4"
COMPILED = P4SRC / "compiled"
COMPILER = "p4c-bm2-ss"

JSON_NAME = "eeon.json"
P4INFO_NAME = "eeon.p4info.txtpb"
CONSTANTS_NAME = "constants.json"
PROVENANCE_NAME = "provenance.json"

CONSTANT_SOURCES = (P4SRC / "include" / "types.p4", P4SRC / "include" / "sizes.p4")

COMPILE_TIMEOUT_SECONDS = 300

# p4c gives every table a default action, and then warns that BMv2 has none for tables with a selector.
EXPECTED_WARNING = "(due to action profiles)"


class CompileError(Exception):
    """The program cannot be compiled here, or compiled/ is not from the sources. Says what to do."""


def sources() -> list[Path]:
    """Returns every P4 file of the program, in a fixed order."""
    return sorted(P4SRC.rglob("*.p4"))


def digest(data: bytes) -> str:
    """Returns the SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def source_digests() -> dict[str, str]:
    """Returns the SHA-256 of each source by its path relative to the repository."""
    return {path.relative_to(REPOSITORY).as_posix(): digest(path.read_bytes()) for path in sources()}


def find_compiler() -> str | None:
    """Returns the path of p4c-bm2-ss, or None if it is not on PATH."""
    return shutil.which(COMPILER)


def compiler_version(compiler: str) -> str:
    """Returns the version, for example `1.2.5.16 (SHA: 34b86e9bac BUILD: Release)`."""
    run = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    output = run.stdout + run.stderr
    match = re.search(r"Version (.+)", output)
    if match is None:
        raise CompileError(f"{compiler} --version prints no line that starts with 'Version': {output!r}")
    return match.group(1).strip()


def constants() -> dict[str, dict[str, int]]:
    """Returns the numbers of the program for other languages.

    From include/types.p4 and include/sizes.p4: `constants` has every `const`, `type_bits` the width of every
    `typedef bit<N>`, and each `enum bit<N>` is a table of its own under its P4 name. From include/control/:
    `register_bits` has the width of every register.
    """
    text = "".join(_without_comments(path) for path in CONSTANT_SOURCES)
    numbers = {
        name: int(value, 0) for name, value in re.findall(r"\bconst\s+[\w<>]+\s+(\w+)\s*=\s*(\w+)\s*;", text)
    }
    tables = {
        enum: {name: int(value, 0) for name, value in re.findall(r"(\w+)\s*=\s*(\w+)", body)}
        for enum, body in re.findall(r"\benum\s+bit<\d+>\s+(\w+)\s*\{([^}]*)\}", text)
    }
    if not numbers or not tables:
        raise CompileError(
            "include/types.p4: no `const` or no `enum bit<N>` found; constants() reads these two forms"
        )
    widths = {name: int(bits) for bits, name in re.findall(r"\btypedef\s+bit<(\d+)>\s+(\w+)\s*;", text)}
    return {
        "constants": numbers,
        "type_bits": widths,
        "register_bits": _register_bits(widths),
        **tables,
    }


def _register_bits(widths: dict[str, int]) -> dict[str, int]:
    found = {}
    for path in sources():
        declared = re.findall(r"\bregister<([\w<>]+), \w+>\(\w+\)\s+(\w+)\s*;", _without_comments(path))
        for kind, name in declared:
            bits = re.fullmatch(r"bit<(\d+)>", kind)
            found[name] = int(bits[1]) if bits else widths[kind]
    return found


def _without_comments(path: Path) -> str:
    return re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))


def as_json(value: object) -> bytes:
    """Returns JSON that depends only on the value, not on the machine."""
    return (json.dumps(value, indent=2) + "\n").encode()


def without_machine_paths(program: dict[str, object]) -> dict[str, object]:
    """Makes source positions relative to the repository, and puts p4c's own files under `p4include/`."""

    def relative(name: str) -> str:
        if "/p4include/" in name:
            return "p4include/" + name.rsplit("/p4include/", 1)[1]
        return name.removeprefix(f"{REPOSITORY}/")

    def walk(node: object) -> None:
        if isinstance(node, dict):
            info = node.get("source_info")
            if isinstance(info, dict) and isinstance(info.get("filename"), str):
                info["filename"] = relative(info["filename"])
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(program)
    program["program"] = PROGRAM.relative_to(REPOSITORY).as_posix()
    return program


def build(compiler: str) -> dict[str, bytes]:
    """Returns all files of compiled/ by name. Raises CompileError with the compiler's output for errors and
    warnings."""
    with tempfile.TemporaryDirectory() as scratch:
        json_path, p4info_path = Path(scratch) / JSON_NAME, Path(scratch) / P4INFO_NAME
        command = [compiler, "-o", str(json_path), "--p4runtime-files", str(p4info_path)]
        run = subprocess.run(
            [*command, PROGRAM.relative_to(REPOSITORY).as_posix()],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=COMPILE_TIMEOUT_SECONDS,
        )
        said = run.stdout + run.stderr
        complaints = [line for line in said.splitlines() if re.search(r"\b(warning|error):", line)]
        if run.returncode != 0 or any(EXPECTED_WARNING not in line for line in complaints):
            raise CompileError(f"{COMPILER} ended with status {run.returncode} and said:\n{said}")
        program = without_machine_paths(json.loads(json_path.read_text(encoding="utf-8")))
        p4info = p4info_path.read_bytes()
    outputs = {
        # One value per line keeps diffs small; with indentation the file is twice as large.
        JSON_NAME: (json.dumps(program, indent=0) + "\n").encode(),
        P4INFO_NAME: p4info,
        CONSTANTS_NAME: as_json(constants()),
    }
    provenance = {
        "compiler": f"{COMPILER} {compiler_version(compiler)}",
        "sources": source_digests(),
        "outputs": {name: digest(data) for name, data in outputs.items()},
    }
    return {**outputs, PROVENANCE_NAME: as_json(provenance)}


def compile_program() -> None:
    """Writes compiled/."""
    compiler = find_compiler()
    if compiler is None:
        raise CompileError(
            f"{COMPILER} is not on PATH: build p4c (https://github.com/p4lang/p4c, version 1.2.5.x), "
            f"or leave p4src/ as it is: the committed p4src/compiled/ needs no compiler"
        )
    COMPILED.mkdir(exist_ok=True)
    for name, data in build(compiler).items():
        (COMPILED / name).write_bytes(data)


def write_constants() -> None:
    """Writes constants.json and its digest in provenance.json, without the compiler.

    Raises CompileError if the sources are not those of the rest of compiled/.
    """
    path = COMPILED / PROVENANCE_NAME
    provenance = json.loads(path.read_text(encoding="utf-8"))
    if provenance["sources"] != source_digests():
        raise CompileError("the sources have changed since the last compilation; run `make p4`")
    data = as_json(constants())
    provenance["outputs"][CONSTANTS_NAME] = digest(data)
    (COMPILED / CONSTANTS_NAME).write_bytes(data)
    path.write_bytes(as_json(provenance))


def check() -> list[str]:
    """Returns the faults of compiled/, one sentence each; empty if there are none. Needs no compiler."""
    path = COMPILED / PROVENANCE_NAME
    try:
        provenance = json.loads(path.read_text(encoding="utf-8"))
        recorded_sources, recorded_outputs = provenance["sources"], provenance["outputs"]
    except FileNotFoundError:
        return [f"{path.relative_to(REPOSITORY)} is missing; run `make p4`"]
    except (ValueError, KeyError, TypeError) as error:
        return [f"{path.relative_to(REPOSITORY)} is not what compile.py writes ({error}); run `make p4`"]

    wrong = []
    now = source_digests()
    for name in sorted({*now, *recorded_sources}):
        if name not in recorded_sources:
            wrong.append(f"{name} is new since the last compilation; run `make p4`")
        elif name not in now:
            wrong.append(f"{name} was compiled but is gone; run `make p4`")
        elif now[name] != recorded_sources[name]:
            wrong.append(f"{name} has changed since the last compilation; run `make p4`")
    for name in (JSON_NAME, P4INFO_NAME, CONSTANTS_NAME):
        output = COMPILED / name
        if not output.exists():
            wrong.append(f"{output.relative_to(REPOSITORY)} is missing; run `make p4`")
        elif digest(output.read_bytes()) != recorded_outputs.get(name):
            wrong.append(f"{output.relative_to(REPOSITORY)} is not what the compiler wrote; run `make p4`")
    if not wrong and (COMPILED / CONSTANTS_NAME).read_bytes() != as_json(constants()):
        wrong.append(
            f"{CONSTANTS_NAME} does not hold the numbers of the sources; run p4src/compile.py --constants"
        )
    return wrong


def main() -> int:
    """Returns the exit status. 0: done, or no faults. 1: failure, with the reason on stderr."""
    parser = argparse.ArgumentParser(description="Compile the P4 program, or check what was compiled.")
    parser.add_argument("--check", action="store_true", help="fail unless compiled/ belongs to the sources")
    parser.add_argument("--constants", action="store_true", help="write constants.json alone, without p4c")
    arguments = parser.parse_args()
    try:
        if arguments.constants:
            write_constants()
            print(f"wrote {(COMPILED / CONSTANTS_NAME).relative_to(REPOSITORY)}")
        elif not arguments.check:
            compile_program()
            print(f"wrote {COMPILED.relative_to(REPOSITORY)}/")
        elif wrong := check():
            print("\n".join(wrong), file=sys.stderr)
            return 1
        else:
            print(f"{COMPILED.relative_to(REPOSITORY)}/ belongs to the sources")
    except CompileError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
