"""A switch that hangs is told in the same words by every command."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from eeon_control import config, state, topology
from eeon_control.fabric import Target
from eeon_control.fabric.session import NO_ANSWER
from supervised import TOPOLOGY, committed

PLACE = ("-t", "leaf-spine-4", "-T", "targets.yaml")
COMMANDS = [
    ("show", "fabric", *PLACE),
    ("show", "ports", *PLACE),
    ("show", "routes", *PLACE),
    ("show", "path", "h1", "h3", *PLACE),
    ("clear", "counters", *PLACE),
    ("config", "plan", "-c", "drop_tail", *PLACE),
    ("config", "apply", "-c", "drop_tail", *PLACE, "--state", "other"),
    ("config", "drift"),
    ("config", "rollback", "1"),
    ("doctor", "--problems", *PLACE),
]


def test_a_switch_that_hangs_is_told_in_the_same_words_by_every_command(tmp_path):
    names = list(topology.load("leaf-spine-4").switches)
    with socket.create_server(
        ("127.0.0.1", 0), backlog=200
    ) as silent:  # takes connections, and never answers
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        lines = [f"  {name}: {address if name == 'spine1' else '127.0.0.1:1'}" for name in names]
        (tmp_path / "targets.yaml").write_text("\n".join(["tick: 1ns", "switches:", *lines]) + "\n")
        targets = {name: Target(address if name == "spine1" else "127.0.0.1:1") for name in TOPOLOGY.switches}
        committed(tmp_path / "state", targets, config.load("drop_tail"))
        state.StateStore.open(tmp_path / "other")
        started = [
            subprocess.Popen(
                (sys.executable, "-m", "eeon_control", *command),
                env={**os.environ, "EEON_STATE": str(tmp_path / "state"), "COLUMNS": "400"},
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for command in COMMANDS
        ]
        for command, process in zip(COMMANDS, started, strict=True):
            said, _ = process.communicate(timeout=300)
            assert process.returncode == 1, (command, said)
            assert f"spine1 ({address}, device id 3): {NO_ANSWER}" in said, (command, said)
    assert "ps, top" in said, said
