#!/usr/bin/env python3
"""Compile probe.p4 into the committed probe.json, without source positions (they name the machine's paths).

Needs p4c-bm2-ss on PATH; run it after a change of probe.p4. Tests need only probe.json.
"""

import json
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def without_sources(node: object) -> object:
    """The same JSON without any `source_info`."""
    if isinstance(node, dict):
        return {key: without_sources(value) for key, value in node.items() if key != "source_info"}
    if isinstance(node, list):
        return [without_sources(value) for value in node]
    return node


def main() -> None:
    """Write probe.json beside probe.p4."""
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "probe.json"
        subprocess.run(["p4c-bm2-ss", "-o", str(output), "probe.p4"], cwd=HERE, check=True)
        program = without_sources(json.loads(output.read_text(encoding="utf-8")))
    (HERE / "probe.json").write_text(json.dumps(program, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
