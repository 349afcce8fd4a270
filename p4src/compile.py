#!/usr/bin/env python3
"""Compiles P4 programs with p4c-bm2-ss: E-EON's, those of the engine's tests, and those of examples; or
checks what was compiled. `make p4` calls it.

    p4src/compile.py                compile every program of FOLDERS
    p4src/compile.py --constants    write only constants.json, from the sources that compiled/ was made from
    p4src/compile.py --check        fail unless the committed files belong to the sources

The outputs are committed, because p4c is in no package registry: running the programs needs no compiler.

    NAME.json            the program for BMv2 and the engine
    NAME.p4info.txtpb    its P4Info for P4Runtime clients
    constants.json       E-EON's numbers for other languages: constants, enums, widths, fixed point
    provenance.json      the compiler's version, and the SHA-256 of every source and of every output
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

P4SRC = Path(__file__).resolve().parent
REPOSITORY = P4SRC.parent
COMPILER = "p4c-bm2-ss"
CONSTANTS_NAME = "constants.json"
PROVENANCE_NAME = "provenance.json"
CONSTANT_SOURCES = (P4SRC / "include" / "types.p4", P4SRC / "include" / "sizes.p4")
COMPILE_TIMEOUT_SECONDS = 300

# p4c gives every table a default action, and then warns that BMv2 has none for tables with a selector.
EXPECTED_WARNING = "(due to action profiles)"


class CompileError(Exception):
    """A program cannot be compiled here, or what was compiled is not from the sources. Says what to do."""


@dataclass(frozen=True)
class Folder:
    """A folder of programs with what they include, and where their outputs are."""

    path: Path
    output: Path
    base: Path
    """Names of sources, for p4c and in provenance.json, are relative to it."""
    pattern: str = "*.p4"
    """The files that are programs."""
    options: tuple[str, ...] = ("--Wdisable",)
    with_p4info: bool = True
    """Whether P4Runtime clients use them."""
    with_scripts: bool = False
    """Whether each has a file .script."""

    @property
    def is_eeon(self) -> bool:
        """Whether it has E-EON's program, whose JSON has source positions."""
        return self.path == P4SRC

    def programs(self) -> list[Path]:
        """Returns all programs, in a fixed order."""
        return sorted(self.path.glob(self.pattern))

    def sources(self) -> list[Path]:
        """Returns the files from which the outputs are made, in a fixed order."""
        return sorted([*self.path.rglob("*.p4"), *self.path.rglob("*.h")])

    def outputs(self) -> list[Path]:
        """Returns the files that a compilation writes, apart from provenance.json."""
        kinds = (".json", ".p4info.txtpb") if self.with_p4info else (".json",)
        names = [program.stem + kind for program in self.programs() for kind in kinds]
        return [self.output / name for name in (*names, *([CONSTANTS_NAME] if self.is_eeon else []))]

    def digests(self) -> dict[str, dict[str, str]]:
        """Returns the SHA-256 of the sources and the outputs that are there, as in provenance.json."""
        files = {"sources": (self.base, self.sources()), "outputs": (self.output, self.outputs())}
        return {
            kind: {
                path.relative_to(base).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in paths
                if path.exists()
            }
            for kind, (base, paths) in files.items()
        }


def beside(path: str, with_p4info: bool = True, with_scripts: bool = False) -> Folder:
    """Returns a folder of programs with their outputs beside them."""
    there = REPOSITORY / path
    return Folder(there, there, there, with_p4info=with_p4info, with_scripts=with_scripts)


EEON = Folder(P4SRC, P4SRC / "compiled", REPOSITORY, "eeon.p4", options=())
FOLDERS = (
    EEON,
    beside("engine/bm/tests/programs", with_p4info=False),
    beside("engine/simple_switch/tests/p4", with_p4info=False),
    beside("engine/simple_switch/tests/constructs", with_p4info=False, with_scripts=True),
    beside("engine/live/tests/p4"),
    beside("engine/python/tests/programs"),
    beside("examples/own_program"),
    beside("examples/new_aqm"),
)


def find_compiler() -> str:
    """Returns the path of p4c-bm2-ss. Raises CompileError if it is not on PATH."""
    found = shutil.which(COMPILER)
    if found is None:
        raise CompileError(
            f"{COMPILER} is not on PATH: build p4c (https://github.com/p4lang/p4c, version 1.2.5.x), "
            f"or leave the programs as they are: the committed outputs need no compiler"
        )
    return found


def compiler_version(compiler: str) -> str:
    """Returns the version, for example `p4c-bm2-ss 1.2.5.16 (SHA: 34b86e9bac BUILD: Release)`."""
    run = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    output = run.stdout + run.stderr
    match = re.search(r"Version (.+)", output)
    if match is None:
        raise CompileError(f"{compiler} --version prints no line that starts with 'Version': {output!r}")
    return f"{COMPILER} {match.group(1).strip()}"


def constants() -> dict[str, dict[str, int]]:
    """Returns the numbers of E-EON's program for other languages.

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
    return {"constants": numbers, "type_bits": widths, "register_bits": _register_bits(widths), **tables}


def _register_bits(widths: dict[str, int]) -> dict[str, int]:
    found = {}
    for path in EEON.sources():
        declared = re.findall(r"\bregister<([\w<>]+), \w+>\(\w+\)\s+(\w+)\s*;", _without_comments(path))
        for kind, name in declared:
            bits = re.fullmatch(r"bit<(\d+)>", kind)
            found[name] = int(bits[1]) if bits else widths[kind]
    return found


def _without_comments(path: Path) -> str:
    return re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))


def as_json(value: object, indent: int = 2) -> str:
    """Returns JSON that depends only on the value, not on the machine."""
    return json.dumps(value, indent=indent) + "\n"


def without_machine_paths(node: Any, with_positions: bool) -> Any:  # noqa: ANN401
    """Returns the JSON without source positions, or with positions relative to the repository, and p4c's own
    files under `p4include/`."""
    if isinstance(node, list):
        return [without_machine_paths(child, with_positions) for child in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if with_positions or key != "source_info"}
    name = kept.get("filename")
    if isinstance(name, str):
        _, inside, rest = name.rpartition("/p4include/")
        kept["filename"] = f"p4include/{rest}" if inside else name.removeprefix(f"{REPOSITORY}/")
    return {key: without_machine_paths(value, with_positions) for key, value in kept.items()}


def compile_folder(folder: Folder, output: Path) -> None:
    """Writes the outputs and provenance.json of a folder into `output`. Raises CompileError with the
    compiler's output for errors and warnings."""
    compiler = find_compiler()
    written = replace(folder, output=output)
    output.mkdir(exist_ok=True)
    for program in folder.programs():
        name = program.relative_to(folder.base).as_posix()
        to = output / f"{program.stem}.json"
        command = [compiler, *folder.options, "-o", str(to)]
        if folder.with_p4info:
            command += ["--p4runtime-files", str(to.with_suffix(".p4info.txtpb"))]
        run = subprocess.run(
            [*command, name], cwd=folder.base, capture_output=True, text=True, timeout=COMPILE_TIMEOUT_SECONDS
        )
        said = run.stdout + run.stderr
        complaints = [line for line in said.splitlines() if re.search(r"\b(warning|error):", line)]
        if run.returncode != 0 or any(EXPECTED_WARNING not in line for line in complaints):
            raise CompileError(f"{name}: {COMPILER} ended with status {run.returncode} and said:\n{said}")
        document = without_machine_paths(json.loads(to.read_text(encoding="utf-8")), folder.is_eeon)
        # One value per line keeps diffs small; with indentation E-EON's file is twice as large.
        to.write_text(as_json({**document, "program": name}, 0 if folder.is_eeon else 1))
    if folder.is_eeon:
        (output / CONSTANTS_NAME).write_text(as_json(constants()))
    options = {} if folder.is_eeon else {"options": list(folder.options)}
    provenance = {"compiler": compiler_version(compiler), **options, **written.digests()}
    (output / PROVENANCE_NAME).write_text(as_json(provenance, 2 if folder.is_eeon else 1))


def compile_all() -> None:
    """Writes the outputs of every folder, once all of them compile."""
    with tempfile.TemporaryDirectory() as scratch:
        made = {folder: Path(scratch, str(number)) for number, folder in enumerate(FOLDERS)}
        for folder, there in made.items():
            compile_folder(folder, there)
        for folder, there in made.items():
            shutil.copytree(there, folder.output, dirs_exist_ok=True)


def write_constants() -> None:
    """Writes constants.json and its digest in provenance.json, without the compiler.

    Raises CompileError if the sources are not those of the rest of compiled/.
    """
    path = EEON.output / PROVENANCE_NAME
    provenance = json.loads(path.read_text(encoding="utf-8"))
    if provenance["sources"] != EEON.digests()["sources"]:
        raise CompileError("the sources have changed since the last compilation; run `make p4`")
    (EEON.output / CONSTANTS_NAME).write_text(as_json(constants()))
    path.write_text(as_json({**provenance, **EEON.digests()}))


def check(folder: Folder) -> list[str]:
    """Returns the faults of a folder's outputs, one sentence each; empty if there are none. Needs no
    compiler."""
    path = folder.output / PROVENANCE_NAME
    try:
        provenance = json.loads(path.read_text(encoding="utf-8"))
        recorded = {kind: dict(provenance[kind]) for kind in ("sources", "outputs")}
    except FileNotFoundError:
        return [f"{path.relative_to(REPOSITORY)} is missing; run `make p4`"]
    except (ValueError, KeyError, TypeError) as error:
        return [f"{path.relative_to(REPOSITORY)} is not what compile.py writes ({error}); run `make p4`"]
    wrong = []
    places = {"sources": folder.base, "outputs": folder.output}
    changed = {
        "sources": "has changed since the last compilation",
        "outputs": "is not what the compiler wrote",
    }
    for kind, now in folder.digests().items():
        for name in sorted({*now, *recorded[kind]}):
            said = changed[kind]
            if name not in recorded[kind]:
                said = "is new since the last compilation"
            elif name not in now:
                said = "was compiled but is gone"
            if now.get(name) != recorded[kind].get(name):
                wrong.append(f"{(places[kind] / name).relative_to(REPOSITORY)} {said}; run `make p4`")
    if provenance.get("options", list(folder.options)) != list(folder.options):
        wrong.append(f"{path.relative_to(REPOSITORY)} was compiled with other options; run `make p4`")
    if folder.with_scripts:
        scripts = {path.stem for path in folder.path.glob("*.script")}
        programs = {path.stem for path in folder.programs()}
        wrong += [f"{folder.path}/{name}.p4 has no script" for name in sorted(programs - scripts)]
        wrong += [f"{folder.path}/{name}.script has no program" for name in sorted(scripts - programs)]
    if folder.is_eeon and not wrong and (folder.output / CONSTANTS_NAME).read_text() != as_json(constants()):
        wrong.append(
            f"{CONSTANTS_NAME} does not hold the numbers of the sources; run p4src/compile.py --constants"
        )
    return wrong


def main() -> int:
    """Returns the exit status. 0: done, or no faults. 1: failure, with the reason on stderr."""
    parser = argparse.ArgumentParser(description="Compile the P4 programs, or check what was compiled.")
    parser.add_argument("--check", action="store_true", help="fail unless the outputs belong to the sources")
    parser.add_argument("--constants", action="store_true", help="write constants.json alone, without p4c")
    arguments = parser.parse_args()
    try:
        if arguments.constants:
            write_constants()
            print(f"wrote {(EEON.output / CONSTANTS_NAME).relative_to(REPOSITORY)}")
        elif not arguments.check:
            compile_all()
            print("wrote", *(f"{folder.output.relative_to(REPOSITORY)}/" for folder in FOLDERS))
        elif wrong := [sentence for folder in FOLDERS for sentence in check(folder)]:
            print("\n".join(wrong), file=sys.stderr)
            return 1
        else:
            print("the outputs belong to the sources")
    except CompileError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
