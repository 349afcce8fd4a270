#!/usr/bin/env bash
# Compiles the test programs beside this file with p4c-bm2-ss (on PATH, or P4C=...; P4C_FLAGS adds to its options).
# Source paths are taken out of the JSON: they say where the compiler ran, and nothing reads them.
set -euo pipefail
cd "$(dirname "$0")"
for source in *.p4; do
    name="${source%.p4}"
    # shellcheck disable=SC2086 # P4C_FLAGS is a list of options.
    "${P4C:-p4c-bm2-ss}" ${P4C_FLAGS:-} "$source" -o "$name.json" --p4runtime-files "$name.p4info.txtpb"
    python3 - "$name.json" "$source" <<'PYTHON'
import json, sys

def strip(node):
    if isinstance(node, dict):
        return {key: strip(value) for key, value in node.items() if key != "source_info"}
    return [strip(item) for item in node] if isinstance(node, list) else node

path, source = sys.argv[1:]
program = strip(json.load(open(path)))
program["program"] = source
json.dump(program, open(path, "w"), indent=1)
open(path, "a").write("\n")
PYTHON
done
