"""`python -m ptf_tests.run --target engine|engine-veth|bmv2 [CASE ...]`."""

from __future__ import annotations

import argparse
import sys

from ptf_tests.run import bmv2, engine, engine_veth, options

_TARGETS = {"engine": engine.run, "engine-veth": engine_veth.run, "bmv2": bmv2.run}

parser = argparse.ArgumentParser(prog="python -m ptf_tests.run", description="Runs the PTF cases.")
parser.add_argument("--target", choices=sorted(_TARGETS), default="engine")
options.add_to(parser)
arguments = parser.parse_args()
sys.exit(_TARGETS[arguments.target](options.request_from(arguments)))
