"""`python -m ptf_tests.run --target engine|engine-veth|bmv2 [CASE ...]`, installed as `eeon-ptf`."""

import argparse
import sys

from ptf_tests.run import bmv2, engine, engine_veth, options

_TARGETS = {"engine": engine.run, "engine-veth": engine_veth.run, "bmv2": bmv2.run}


def main() -> int:
    """Runs the cases on the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Runs the PTF cases.")
    parser.add_argument("--target", choices=sorted(_TARGETS), default="engine")
    options.add_to(parser)
    arguments = parser.parse_args()
    return _TARGETS[arguments.target](options.request_from(arguments))


if __name__ == "__main__":
    sys.exit(main())
