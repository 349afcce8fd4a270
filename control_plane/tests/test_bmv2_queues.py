"""`target_settings.bmv2` in `eeon config apply`: set over Thrift on all switches; failures are reported."""

import json

import pytest
from eeon_command import eeon, place
from eeon_control.config import Bmv2QueueValues
from eeon_control.fabric.thrift import ThriftClient

pytestmark = pytest.mark.system

SETTINGS = """
target_settings:
  bmv2:
    queue_depth: 1024pkt
    packet_rate: unlimited
    ports: {"leaf1:3": {packet_rate: 8000pps}}
"""


@pytest.fixture
def calls(monkeypatch):
    """Returns Thrift calls by address, without a network: the server of port 4 does not answer."""
    made: dict[str, dict[int, Bmv2QueueValues]] = {}

    def enter(self):
        if self.address.endswith(":4"):
            raise self._error("Connection refused")
        return self

    monkeypatch.setattr(ThriftClient, "__enter__", enter)
    monkeypatch.setattr(ThriftClient, "__exit__", lambda *_: None)
    monkeypatch.setattr(ThriftClient, "check_identity", lambda self: None)
    monkeypatch.setattr(
        ThriftClient,
        "set_queue",
        lambda self, port, settings: made.setdefault(self.address, {}).update({port: settings}),
    )
    return made


def apply(tmp_path, fakes, *more: str, spine2: str = ""):
    """`spine2`: its Thrift server, none if empty."""
    (tmp_path / "bmv2.yaml").write_text(SETTINGS)
    servers = {name: f"127.0.0.1:{number}" for number, name in enumerate(fakes.targets, 1)} | {
        "spine2": spine2
    }
    switches = {
        name: {"address": address} | ({"thrift": servers[name]} if servers[name] else {})
        for name, address in fakes.targets.items()
    }
    options = ["-c", "drop_tail", "-c", str(tmp_path / "bmv2.yaml"), *place(tmp_path, switches)]
    return eeon("config", "apply", *options, *more)


def test_every_linked_port_gets_its_settings_and_a_switch_without_thrift_is_told(tmp_path, fakes, calls):
    result = apply(tmp_path, fakes)
    assert result.exit_code == 0
    assert set(calls) == {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}
    assert calls["127.0.0.1:1"] == {
        1: Bmv2QueueValues(1024, 0),
        2: Bmv2QueueValues(1024, 0),
        3: Bmv2QueueValues(1024, 8000),
        4: Bmv2QueueValues(1024, 0),
    }
    assert (
        "warning: the entries are in force, but BMv2's queues were not set: spine2: no Thrift server is known"
        in result.stderr
    )
    assert "applied; " in result.stdout


def test_an_apply_without_changes_sets_them_again_because_nobody_can_read_them(tmp_path, fakes, calls):
    apply(tmp_path, fakes)
    calls.clear()
    again = apply(tmp_path, fakes, "-o", "json")
    assert set(calls) == {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}
    assert list(json.loads(again.stdout)["queues_not_set"]) == ["spine2"]


def test_a_switch_whose_thrift_server_does_not_answer_fails_the_apply(tmp_path, fakes, calls):
    result = apply(tmp_path, fakes, spine2="127.0.0.1:4")
    assert result.exit_code == 1
    assert (
        "spine2 (Thrift 127.0.0.1:4)" in result.stderr and "every switch is as it was before" in result.stderr
    )
    assert (
        "leaf1: BMv2's queues may keep their new settings; no revision records the earlier ones"
        in result.stderr
    )
    assert not any(entries for entries, _ in fakes.state().values())
