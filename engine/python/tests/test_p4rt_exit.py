"""The exit of a process that serves P4Runtime."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.system

_SCRIPT = """
import time

from eeon_engine import Switch
from eeon_engine.p4runtime import serve


class Lingers:
    # The interpreter is ending when this runs; threads that are still in the engine come back meanwhile.
    def __del__(self, sleep=time.sleep):
        sleep(0.2)


lingers = Lingers()
servers = [serve(Switch()) for _ in range(8)]
print("served")
"""


def test_a_script_that_ends_while_its_servers_still_serve_ends_well():
    ended = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "served\n", "")
