#!/usr/bin/env python3
"""Compile patch.p4 into the committed patch.json and patch.p4info.txtpb.

Without source positions, which name the machine's paths. Needs p4c-bm2-ss on PATH; run it after a change of
patch.p4. Tests need only what it writes.
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
    """Write both beside patch.p4."""
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "patch.json"
        subprocess.run(
            ["p4c-bm2-ss", "--p4runtime-files", "patch.p4info.txtpb", "-o", str(output), "patch.p4"],
            cwd=HERE,
            check=True,
        )
        program = without_sources(json.loads(output.read_text(encoding="utf-8")))
    (HERE / "patch.json").write_text(json.dumps(program, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
