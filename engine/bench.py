"""Runs the engine's benches and prints one table of what they measured, with the change against the last run.

It is not a bench itself: Criterion measures speed (`benches/*.rs`), `benches/memory.rs` memory, and
`benches/shuffle.rs` both for whole shuffles, in processor time. Every run adds a line to
`out/bench/history.jsonl`: date, commit, processor, compiler, and for each bench nanoseconds and packets (P4
passes) per second, or bytes. The change is relative to the last line from the same processor. With `--record`
the line is also added to `docs/bench-history.jsonl`, which is committed with a release.

If valgrind is installed, the instructions of a pass are counted as well: see `instructions.py`.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import instructions

ENGINE = Path(__file__).resolve().parent
ROOT = ENGINE.parent
HISTORY = ROOT / "out" / "bench" / "history.jsonl"
RECORD = ROOT / "docs" / "bench-history.jsonl"

Results = dict[str, dict[str, float]]


def output_of(*command: str) -> str:
    """Returns the output of a command; nothing if it fails or is not installed."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def processor() -> str:
    """Returns the processor's name and the number of processors."""
    name = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{name}, {os.cpu_count()} cores"


def run_benches(only: str) -> str:
    """Runs cargo bench, prints its output, and returns it. Exits if it fails."""
    command = ["cargo", "bench", "--manifest-path", str(ENGINE / "Cargo.toml"), "--quiet"]
    command += ["--package", "benches", "--bench", only]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as bench:
        assert bench.stdout is not None
        lines = []
        for line in bench.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if bench.returncode != 0:
        sys.exit(bench.returncode)
    return "".join(lines)


def speeds(since: float) -> Results:
    """Returns the medians that Criterion has written since a time: ns, and elements per second if known."""
    command = ("cargo", "metadata", "--no-deps", "--format-version", "1")
    metadata = output_of(*command, "--manifest-path", str(ENGINE / "Cargo.toml"))
    folder = Path(json.loads(metadata)["target_directory"]) / "criterion"
    results: Results = {}
    for estimates in sorted(folder.rglob("new/estimates.json")):
        if estimates.stat().st_mtime < since:
            continue
        bench = json.loads((estimates.parent / "benchmark.json").read_text())
        nanoseconds = json.loads(estimates.read_text())["median"]["point_estimate"]
        result = {"ns": nanoseconds}
        elements = (bench.get("throughput") or {}).get("Elements")
        if elements:
            result = {"ns": nanoseconds / elements, "per_second": elements / nanoseconds * 1e9}
        results[bench["full_id"]] = result
    return results


def memories(printed: str) -> Results:
    """Returns the results of the memory bench: peak resident bytes and their limit, by case."""
    rows = (line.split("\t") for line in printed.splitlines() if line.startswith("memory\t"))
    return {name: {"bytes": float(count), "limit": float(limit)} for _, name, count, limit in rows}


def costs(printed: str) -> Results:
    """Returns the results of the shuffle bench: processor time of a P4 pass, by case."""
    rows = (line.split("\t") for line in printed.splitlines() if line.startswith("cost\t"))
    return {
        name: {"ns": float(taken) / float(passes), "per_second": float(passes) / float(taken) * 1e9}
        for _, name, taken, passes in rows
    }


def last_run(machine: str) -> Results:
    """Returns the results of the last run on the same processor."""
    try:
        lines = HISTORY.read_text().splitlines()
    except FileNotFoundError:
        return {}
    runs = [json.loads(line) for line in lines]
    found: Results = {}
    for run in runs:
        if run["machine"] == machine:
            found.update(run["results"])
    return found


def row(name: str, result: dict[str, float], before: dict[str, float] | None) -> tuple[str, str, str, str]:
    """Returns name, rate or limit, cost, and change of the cost, as text."""
    if "bytes" in result:
        rate, cost, key = f"limit {result['limit'] / 1e6:.0f} MB", f"{result['bytes'] / 1e6:.1f} MB", "bytes"
    else:
        rate = f"{result['per_second'] / 1e6:.3f} M/s" if "per_second" in result else ""
        cost, key = f"{result['ns']:,.1f} ns", "ns"
    change = f"{(result[key] / before[key] - 1) * 100:+.1f} %" if before else "new"
    return name, rate, cost, change


def print_table(results: Results, before: Results) -> None:
    """Prints one line per bench."""
    rows = [("bench", "passes/s", "per pass, or peak", "change of cost")]
    rows += [row(name, result, before.get(name)) for name, result in results.items()]
    widths = [max(len(cells[column]) for cells in rows) for column in range(4)]
    print()
    for name, *cells in rows:
        columns = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        print(name.ljust(widths[0]), *columns, sep="   ")


def append(path: Path, run: dict[str, Any]) -> None:
    """Adds a run to a history."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as history:
        history.write(json.dumps(run) + "\n")
    print(f"added to {path.relative_to(ROOT)}")


def main() -> None:
    """Runs the benchmarks, prints their results and appends them to the history."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--bench", default="*", metavar="NAME", help="only benches of this name, such as p4_passes"
    )
    parser.add_argument("--record", action="store_true", help="add the run to docs/bench-history.jsonl, too")
    arguments = parser.parse_args()
    machine, began = processor(), time.time()
    printed = run_benches(arguments.bench)
    results = speeds(began) | costs(printed) | memories(printed)
    if not results:
        sys.exit("no bench has measured anything: is the name right?")
    print_table(results, last_run(machine))
    commit = output_of("git", "rev-parse", "--short", "HEAD")
    changed = "-changed" if output_of("git", "status", "--porcelain", "--untracked-files=no") else ""
    run = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        "commit": commit + changed,
        "machine": machine,
        "rustc": output_of("rustc", "--version"),
        "results": results,
    }
    append(HISTORY, run)
    if arguments.record:
        append(RECORD, run)
    if arguments.bench in ("*", "instructions"):
        instructions.show()


if __name__ == "__main__":
    main()
