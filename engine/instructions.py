"""Counts the instructions of a P4 pass with valgrind, in the cases of `benches/instructions.rs`.

    python3 engine/instructions.py             # shows the counts and the committed ones
    python3 engine/instructions.py --record    # writes them into engine/instructions.json

Counts do not depend on the load of the machine, but on the compiler, valgrind, the C library, and whether the
processor has AVX2, for which the library has a different `memcpy`. The file therefore names these, and
`differs` reports those that differ here. `python/tests/test_instructions.py` compares counts if none does.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ENGINE = Path(__file__).resolve().parent
COMMITTED = ENGINE / "instructions.json"
CASES = ("one switch", "replay", "shuffle", "coalescing")

# Tolerated relative deviation: the compiler's order of code depends on the sources' folder, too.
TOLERANCE = 0.03

RECORD = "python3 engine/instructions.py --record"


def output_of(*command: str) -> str:
    """Returns the output of a command, stripped."""
    return subprocess.run(command, cwd=ENGINE, capture_output=True, text=True, check=True).stdout.strip()


def is_possible() -> bool:
    """Returns whether valgrind is installed."""
    return shutil.which("valgrind") is not None


def tools() -> dict[str, str]:
    """Returns the tools and properties on which counts depend, besides the sources."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    return {
        "rustc": output_of("rustc", "--version"),
        "valgrind": output_of("valgrind", "--version"),
        "libc": " ".join(platform.libc_ver()),
        "machine": platform.machine() + (" with AVX2" if " avx2" in flags else ""),
    }


def differs(recorded: dict[str, str], here: dict[str, str]) -> str:
    """Returns the tools that differ from those of the committed counts; empty if none does."""
    others = (name for name in here if recorded.get(name) != here[name])
    return "; ".join(f"{name} is {here[name]}, recorded with {recorded.get(name)}" for name in others)


def build() -> Path:
    """Builds the bench, and returns its path."""
    command = ["cargo", "bench", "--no-run", "--quiet", "--package", "benches", "--bench", "instructions"]
    for line in output_of(*command, "--message-format", "json").splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "instructions":
            return Path(message["executable"])
    sys.exit("cargo has not named the bench 'instructions' that it built")


def count(program: Path, case: str) -> float:
    """Returns the instructions of a P4 pass in a case."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", "--quiet"]
        command += ["--toggle-collect=instructions::counted*", str(program), case]
        # These variables would select other code of the C library.
        environment = {name: value for name, value in os.environ.items() if name != "GLIBC_TUNABLES"}
        printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        passes = next(
            int(line.split("\t")[2]) for line in printed.splitlines() if line.startswith("passes\t")
        )
        totals = next(
            line for line in profile.read_text(errors="replace").splitlines() if line.startswith("totals:")
        )
    return int(totals.split()[1]) / passes


def committed() -> tuple[dict[str, str], dict[str, float]]:
    """Returns the tools of the committed counts, and the counts by case."""
    read = json.loads(COMMITTED.read_text())
    return read["tools"], read["instructions_per_pass"]


def verdict(case: str, counted: float, recorded: float) -> str:
    """Returns how a count contradicts the committed one; empty if it does not."""
    change = counted / recorded - 1
    if abs(change) <= TOLERANCE:
        return ""
    what = f"{case}: {counted:,.0f} instructions a pass, {recorded:,.0f} committed ({change:+.1%}"
    if change > 0:
        return f"{what}, {TOLERANCE:.0%} allowed); if the cost is wanted: {RECORD}"
    return f"{what}): faster; so that it stays so: {RECORD}"


def table(counts: dict[str, float], tools_here: dict[str, str]) -> str:
    """Returns a line for each case: the count, the committed one, and the verdict."""
    recorded_tools, recorded = committed() if COMMITTED.exists() else ({}, {})
    lines = ["instructions of a pass by valgrind, those in engine/instructions.json, change"]
    for case, counted in counts.items():
        before = recorded.get(case)
        change = f"{counted / before - 1:+8.1%}" if before else "     new"
        lines.append(f"{case:<12} {counted:>9,.0f} {before or 0:>9,.0f} {change}")
    other = differs(recorded_tools, tools_here)
    verdicts = [verdict(case, counts[case], recorded[case]) for case in counts if case in recorded]
    lines += [f"not comparable: {other}"] if other else [line for line in verdicts if line]
    return "\n".join(lines)


def show(record: bool = False) -> None:
    """Counts every case and prints the table; with `record`, writes the counts. Needs valgrind."""
    if not is_possible():
        print("valgrind is not installed, so instructions are not counted")
        return
    program, here = build(), tools()
    counts = {case: count(program, case) for case in CASES}
    print(table(counts, here))
    if record:
        rounded = {case: round(counted) for case, counted in counts.items()}
        COMMITTED.write_text(json.dumps({"tools": here, "instructions_per_pass": rounded}, indent=2) + "\n")
        print(f"written: {COMMITTED.relative_to(ENGINE.parent)}")


def main() -> None:
    """Counts instructions, and shows or records the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--record", action="store_true", help="write the counts into engine/instructions.json"
    )
    arguments = parser.parse_args()
    show(arguments.record)


if __name__ == "__main__":
    main()
