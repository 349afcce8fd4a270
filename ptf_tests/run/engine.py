"""Runs the cases on the engine, in virtual time in ptf: `python ptf_tests/run/engine.py [CASE ...]`.

Needs no root, network interfaces or switch process: the ports are those of an `eeon_engine.Switch` in ptf.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ptf_tests.run import suite


def run(request: suite.Request) -> int:
    """Runs the cases."""
    if find_spec("eeon_engine") is None:
        return suite.refused(
            "eeon_engine is not installed in this environment; `make setup` builds it in a checkout, "
            "`pip install eeon-engine` brings it elsewhere"
        )
    platform = ("--platform", "eeon", "--platform-dir", str(suite.PTF_TESTS / "lib" / "platforms"))
    return suite.run("engine", request, platform, {})


if __name__ == "__main__":
    from ptf_tests.run.__main__ import main

    sys.exit(main("engine"))
