"""The commands of docs/p4/program.md in p4runtime-shell, unmodified.

The shell needs protobuf below 3.21, and finsy a later one: it therefore runs with a separate Python, which
`P4RUNTIME_SHELL_PYTHON` names. `python -m venv shell && shell/bin/pip install p4runtime-shell==0.0.6` makes
one.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest
from eeon_engine import Switch
from eeon_engine.p4runtime import serve

REPOSITORY = Path(__file__).parents[3]
PYTHON = os.environ.get("P4RUNTIME_SHELL_PYTHON")

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        PYTHON is None, reason="P4RUNTIME_SHELL_PYTHON names no Python with p4runtime-shell 0.0.6"
    ),
]


def test_commands_of_the_programs_page_set_a_threshold(tmp_path):
    page = (REPOSITORY / "docs/p4/program.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```\n(.*?)```", page, re.DOTALL)
    shell = next(block for block in blocks if "-m p4runtime_sh" in block).split()[1:]
    commands = "".join(block for block in blocks if block.startswith(("actions[", "ce =")))
    compiled = REPOSITORY / "p4src/compiled"
    with serve(Switch(device_id=0)) as server:
        shell[shell.index("--grpc-addr") + 1] = server.address
        config = f"{compiled / 'eeon.p4info.txtpb'},{compiled / 'eeon.json'}"
        assert PYTHON is not None
        said = subprocess.run(
            [PYTHON, *shell, "--config", config],
            input=commands,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={**os.environ, "HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path)},
        ).stdout
    assert "Error" not in said
    # The shell's reads: the entry, and the cell of marked packets.
    assert '"threshold_bytes")\n      value: "\\\\x75\\\\x30"' in said
    assert "index: 257" in said
