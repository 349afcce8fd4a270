"""`python -m ptf_tests.run --target engine|engine-veth|bmv2 [CASE ...]`, installed as `eeon-ptf`."""

import argparse
import sys
from pathlib import Path

from ptf_tests.run import bmv2, engine, engine_veth, suite

_TARGETS = {"engine": engine.run, "engine-veth": engine_veth.run, "bmv2": bmv2.run}


def main(target: str = "engine") -> int:
    """Runs the cases on the command line, on `target` unless it names another; returns the exit status."""
    parser = argparse.ArgumentParser(description="Runs the PTF cases.")
    parser.add_argument("--target", choices=sorted(_TARGETS), default=target)
    parser.add_argument(
        "cases", nargs="*", metavar="CASE", help="file or file.Class; ^CASE leaves out; default: all cases"
    )
    parser.add_argument("--short", action="store_true", help="a few cases, half a minute on engine-veth")
    parser.add_argument("--program", type=Path, default=suite.PROGRAM, help="BMv2 JSON to test")
    parser.add_argument("--p4info", type=Path, default=suite.P4INFO, help="its P4Info, text format")
    parser.add_argument("--output", type=Path, help="folder for logs (default: out/ptf/<target>)")
    parser.add_argument(
        "--workers",
        type=int,
        choices=range(1, 65),
        default=1,
        metavar="N",
        help="processes side by side (default: 1); only on the engine, where each has a switch of its own",
    )
    given = parser.parse_args()
    cases = engine_veth.SHORT if given.short else given.cases
    output = given.output.resolve() if given.output else None
    request = suite.Request(cases, given.program.resolve(), given.p4info.resolve(), output, given.workers)
    return _TARGETS[given.target](request)


if __name__ == "__main__":
    sys.exit(main())
