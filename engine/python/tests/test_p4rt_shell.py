"""The server with p4runtime-shell, unmodified.

The shell needs protobuf below 3.21, and finsy a later one: it therefore runs with a separate Python, which
`P4RUNTIME_SHELL_PYTHON` names. `python -m venv shell && shell/bin/pip install p4runtime-shell==0.0.6` makes
one.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from eeon_engine import Switch
from eeon_engine.p4runtime import serve
from made_frames import frame
from p4rt_client import PROGRAMS

REPOSITORY = Path(__file__).parents[3]
PYTHON = os.environ.get("P4RUNTIME_SHELL_PYTHON")
SESSION = Path(__file__).parent / "shell_session.py"

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        PYTHON is None, reason="P4RUNTIME_SHELL_PYTHON names no Python with p4runtime-shell 0.0.6"
    ),
]


@pytest.fixture
def switch() -> Switch:
    """Returns a switch without a program, which the shell pushes."""
    return Switch()


@pytest.fixture
def said(switch: Switch) -> Iterator[Iterator[object]]:
    """Yields the shell's output, line by line."""
    program = PROGRAMS / "resources"
    with serve(switch) as server:
        arguments = [server.address, f"{program}.p4info.txtpb", f"{program}.json"]
        assert PYTHON is not None
        with subprocess.Popen([PYTHON, str(SESSION), *arguments], stdout=subprocess.PIPE, text=True) as shell:
            assert shell.stdout is not None
            # The shell also prints parsed matches and actions; JSON values begin differently.
            yield (
                json.loads(line)
                for line in shell.stdout
                if line.strip() and line.strip()[0] in '"[0123456789'
            )
            shell.kill()


def test_a_session_of_the_shell_sees_what_it_writes(switch: Switch, said: Iterator[object]) -> None:
    assert next(said) == "1.5.0"
    refusal = next(said)
    assert "ALREADY_EXISTS" in str(refusal)
    assert "metered_table" in str(refusal)
    assert next(said) == 1
    assert next(said) == [0, 1, 0, 0]
    assert next(said) == [7]
    assert next(said) == 2
    assert next(said) == "digest"
    switch.inject(5, frame(0x01000001))
    switch.advance_to(1000)
    assert next(said) == 1
    assert next(said) == "packet"
    switch.inject(5, frame(0x02000001))
    switch.advance_to(2000)
    assert next(said) == [len(frame(0))]
    assert next(said) == 0
    assert [port for _, port, _ in switch.advance_to(3000)] == [3]


def test_commands_of_the_programs_page_set_a_threshold(tmp_path: Path) -> None:
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
