#!/bin/sh
# Compiles the test programs with p4c-bm2-ss (on PATH, or named by P4C) and leaves machine paths out of the JSON.
set -eu
cd "$(dirname "$0")"
for program in *.p4; do
    "${P4C:-p4c-bm2-ss}" ${P4C_FLAGS:-} --Wdisable -o "${program%.p4}.json" "$program"
    python3 - "${program%.p4}.json" <<'PYTHON'
import json
import sys

def strip(value):
    if isinstance(value, dict):
        return {key: strip(item) for key, item in value.items() if key != "source_info"}
    return [strip(item) for item in value] if isinstance(value, list) else value

with open(sys.argv[1], encoding="utf-8") as file:
    program = strip(json.load(file))
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(program, file, indent=1)
    file.write("\n")
PYTHON
done
