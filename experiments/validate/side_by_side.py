"""`make validate`: the flows of twin.yaml in the twin and in ns-3, side by side, within bands.toml.

Usage: python -m validate.side_by_side FLOWS [--seed N] [--keep]; FLOWS is the program that is made of
flows.cc. Ends with 1 where a number is outside its band. `--keep` writes measured.json, which
docs/validation.md shows.
"""

import argparse
import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

from eeon_engine.json_types import FlowRow, QueueDepthReport
from eeon_experiments.results import Row
from eeon_experiments.store import load, load_flows
from validate import compare

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / "out" / "validate"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("flows", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    bands = cast(compare.Bands, tomllib.loads((HERE / "bands.toml").read_text(encoding="utf-8")))
    rows = _twin(options.seed)
    by_case: dict[str, list[Row]] = {}
    for row in rows:
        by_case.setdefault(_name(row), []).append(row)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda runs: _case(runs, options.flows), by_case.values())
        cases = dict(zip(by_case, found, strict=True))
    print("\n".join(compare.tables(cases)))
    if options.keep:
        kept = {"commit": rows[0].text("commit"), "ns3": _version(), "seed": options.seed, "cases": cases}
        (HERE / "measured.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    wrong = compare.outside(cases, bands)
    print("\n".join(wrong) or "every number is within its band")
    sys.exit(1 if wrong else 0)


def _twin(seed: int) -> list[Row]:
    """Executes the missing runs of twin.yaml, and returns its rows."""
    folder = _folder(seed)
    command = [str(Path(sys.executable).parent / "eeon"), "experiment", "run", str(HERE / "twin.yaml")]
    subprocess.run([*command, "--seeds", str(seed), "-o", str(folder)], check=True)
    results = load(folder)
    if results.failed:
        sys.exit("\n".join(f"{_name(row)}: {row.text('error')}" for row in results.failed))
    return results.finished


def _name(row: Row) -> str:
    return row.axis("case") or f"{row.axis('pattern')}_{row.axis('algorithm')}"


def _ports_to_hosts(row: Row) -> set[tuple[str, int]]:
    """Returns the leaf and the port of each host."""
    fabric = json.loads(row.text("settings_json"))["topology"]["leaf_spine"]
    leaves, ports = range(1, fabric["leaves"] + 1), range(1, fabric["hosts_per_leaf"] + 1)
    return {(f"leaf{leaf}", port) for leaf in leaves for port in ports}


def _case(runs: list[Row], program: Path) -> compare.Case:
    lists = [_flows(row) for row in runs]
    hosts = len(_ports_to_hosts(runs[0]))
    told = [
        *compare.ns3_settings(json.loads(runs[0].text("settings_json"))),
        f"period_ps={_depths(runs[0])['period_ps']}",
    ]
    ran = subprocess.run(
        [str(program.resolve()), *told],
        input=compare.flow_lines(lists[0], [f"h{number + 1}" for number in range(hosts)]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    theirs = json.loads(ran.stdout)
    ports = [theirs[kind] for kind in ("uplink", "spine", "host_facing")]
    return {
        "flows": len(lists[0]),
        "classes": compare.by_class(lists, theirs["completion_ps"]),
        "twin": [_whole(row) for row in runs],
        "ns3": {
            "queue_mean_bytes": theirs["host_facing"]["queue_mean_bytes"],
            "queue_max_bytes": theirs["host_facing"]["queue_max_bytes"],
            "marked": sum(port["marked"] for port in ports),
            "dropped": sum(port["dropped"] for port in ports),
            "retransmissions": theirs["retransmissions"],
            "timeouts": theirs["timeouts"],
            "cpu_seconds": theirs["cpu_seconds"],
        },
    }


def _whole(row: Row) -> compare.Whole:
    seconds = row.number("virtual_seconds") or 0.0
    return {
        "queue_mean_bytes": compare.mean_depth(_depths(row), _ports_to_hosts(row), seconds),
        "queue_max_bytes": row.whole("queue_max_bytes_host_facing"),
        "marked": _sum(row, "marked_"),
        "dropped": _sum(row, "early_dropped_") + _sum(row, "tail_dropped_"),
        "retransmissions": row.whole("retransmitted_segments"),
        "timeouts": row.whole("timeouts") - row.whole("syn_timeouts"),
        "cpu_seconds": row.number("cpu_seconds") or 0.0,
    }


def _flows(row: Row) -> list[FlowRow]:
    return cast(list[FlowRow], load_flows(_folder(row.seed), row.text("run_id")))


def _depths(row: Row) -> QueueDepthReport:
    path = _folder(row.seed) / "runs" / f"{row.text('run_id')}.queues.json"
    text = path.read_text(encoding="utf-8")
    return cast(QueueDepthReport, json.loads(text))


def _folder(seed: int) -> Path:
    return OUT / f"seed-{seed}"


def _sum(row: Row, prefix: str) -> int:
    return sum(int(row.number(name) or 0) for name in row if name.startswith(prefix))


def _version() -> str:
    lines = (HERE / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return next(line.partition("==")[2] for line in lines if line.startswith("ns3=="))


if __name__ == "__main__":
    main()
