"""Every command soon reports a hung or unreachable switch, with the same message."""

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest
from eeon_command import eeon, place
from eeon_control import config, state
from eeon_control.fabric.session import ANSWER_SECONDS, NO_ANSWER
from eeon_control.targets import Target
from supervised import TOPOLOGY, committed

pytestmark = pytest.mark.system

DEAD = dict.fromkeys(TOPOLOGY.switches, "127.0.0.1:1")
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


@contextlib.contextmanager
def a_switch_that_takes_no_connection() -> Iterator[str]:
    """Yields an address whose SYNs are not answered, as behind a firewall that drops them: its queue of
    connections is full."""
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        while True:
            waiting = stack.enter_context(socket.socket())
            waiting.settimeout(0.5)
            try:
                waiting.connect(full.getsockname())
            except TimeoutError:
                break
        yield f"127.0.0.1:{full.getsockname()[1]}"


@pytest.mark.parametrize("command", [("show", "ports"), ("config", "plan", "-c", "drop_tail")])
def test_a_switch_that_nothing_reaches_costs_a_command_one_deadline_and_no_more(tmp_path, command):
    with a_switch_that_takes_no_connection() as address:
        options = place(tmp_path, DEAD | {"spine1": address})
        begun = time.monotonic()
        result = eeon(*command, *options)
        taken_seconds = time.monotonic() - begun
    assert result.exit_code == 1, result.output
    assert f"spine1 ({address}, device id 3): {NO_ANSWER}" in " ".join(result.output.split())
    assert taken_seconds < 2 * ANSWER_SECONDS


def test_a_switch_that_hangs_is_told_in_the_same_words_by_every_command(
    tmp_path, monkeypatch, answers_within
):
    answers_within(0.3)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EEON_STATE", str(tmp_path / "state"))
    # It accepts connections, and never answers.
    with socket.create_server(("127.0.0.1", 0), backlog=200) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        addresses = DEAD | {"spine1": address}
        place(tmp_path, addresses)
        targets = {name: Target(at) for name, at in addresses.items()}
        committed(tmp_path / "state", targets, config.load("drop_tail"))
        state.StateStore.open(tmp_path / "other")
        for command in COMMANDS:
            result = eeon(*command, code=1, columns=400)
            said = f"spine1 ({address}, device id 3): {NO_ANSWER}"
            assert said in result.output, (command, result.output)
    assert "ps, top" in result.output, result.output
