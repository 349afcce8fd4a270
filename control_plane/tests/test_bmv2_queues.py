"""BMv2's own queues (`target_settings.bmv2`): in an apply that works, fails or is killed, and in drift.

Thrift itself is replaced; `test_thrift.py` sets queues over it.
"""

import json

import pytest
from eeon_command import eeon, place
from eeon_control import config, operations, state, topology
from eeon_control.config import Bmv2QueueValues
from eeon_control.errors import ApplyError, FabricError
from eeon_control.fabric import sync, thrift
from revisions import done, meant

pytestmark = pytest.mark.system

FABRIC = topology.load("leaf-spine-4")
SETTINGS = """
target_settings:
  bmv2:
    queue_depth: 1024pkt
    packet_rate: unlimited
    ports: {"leaf1:3": {packet_rate: 8000pps}}
"""


class ThriftServers:
    """The settings, in the order in which they arrived, and the switch whose server is away."""

    def __init__(self) -> None:
        self.was_set: list[tuple[str, dict[int, Bmv2QueueValues]]] = []
        self.away = ""

    async def set_queues(self, name, target, settings):
        if name == self.away:
            raise FabricError(f"{name}: Thrift server {target.thrift} does not answer")
        self.was_set.append((name, settings))

    @property
    def depths(self) -> list[tuple[str, int]]:
        """Returns the switches, and the depths of port 1's queue."""
        return [(name, settings[1].depth_packets) for name, settings in self.was_set]


@pytest.fixture
def servers(monkeypatch):
    found = ThriftServers()
    monkeypatch.setattr(thrift, "set_queues", found.set_queues)
    return found


def with_thrift(fakes, *names: str) -> dict[str, dict[str, str]]:
    """Returns the switches of a targets file, in which these have Thrift servers."""
    return {
        name: {"address": address} | ({"thrift": "127.0.0.1:9090"} if name in names else {})
        for name, address in fakes.targets.items()
    }


def command(tmp_path, fakes, *more: str, names: tuple[str, ...] = ("leaf1", "leaf2", "spine1")):
    (tmp_path / "bmv2.yaml").write_text(SETTINGS)
    options = ["-c", "drop_tail", "-c", str(tmp_path / "bmv2.yaml")]
    return eeon("config", "apply", *options, *place(tmp_path, with_thrift(fakes, *names)), *more)


def test_every_linked_port_gets_its_settings_and_a_switch_without_thrift_is_told(tmp_path, fakes, servers):
    result = command(tmp_path, fakes)
    assert result.exit_code == 0
    assert [name for name, _ in servers.was_set] == ["leaf1", "leaf2", "spine1"]
    assert servers.was_set[0][1] == {
        port: Bmv2QueueValues(1024, 8000 if port == 3 else 0) for port in (1, 2, 3, 4)
    }
    assert (
        "warning: the entries are in force, but BMv2's queues were not set: spine2: no Thrift server is known"
        in result.stderr
    )
    assert "applied; " in result.stdout
    # Nobody can read them, so an apply without changes sets them again.
    again = command(tmp_path, fakes, "-o", "json")
    assert servers.was_set[3:] == servers.was_set[:3]
    assert list(json.loads(again.stdout)["queues_not_set"]) == ["spine2"]


def test_first_apply_that_a_thrift_server_fails_says_whose_queues_nobody_can_put_back(
    tmp_path, fakes, servers
):
    servers.away = "spine2"
    result = command(tmp_path, fakes, names=tuple(fakes.targets))
    assert result.exit_code == 1
    assert "spine2: Thrift server" in result.stderr and "every switch is as it was before" in result.stderr
    assert (
        "leaf1: BMv2's queues may keep their new settings; no revision records the earlier ones"
        in result.stderr
    )
    assert not any(entries for entries, _ in fakes.state().values())


def apply(store, fakes, name: str, depth: str):
    """Applies an example with this depth of queues; only the leaves have Thrift servers."""
    queues = {"target_settings.bmv2": {"queue_depth": depth, "packet_rate": "100pps"}}
    wanted = config.overridden(config.load(name), queues)
    return done(store, operations.apply, meant(FABRIC, wanted, with_thrift(fakes, "leaf1", "leaf2"), "1us"))


@pytest.fixture
def store(fakes, servers, state_folder):
    """Returns the store of a fabric whose first revision has a depth of 1000 packets."""
    found = state.StateStore.open(state_folder)
    apply(found, fakes, "drop_tail", "1000pkt")
    servers.was_set.clear()
    return found


def test_thrift_server_that_is_away_undoes_the_entries_and_puts_the_queues_back(fakes, servers, store):
    before = fakes.state()
    servers.away = "leaf2"
    with pytest.raises(ApplyError, match=r"leaf2: Thrift server 127.0.0.1:9090 does not answer") as error:
        apply(store, fakes, "mark_threshold", "2000pkt")
    assert fakes.state() == before
    assert servers.depths == [("leaf1", 2000), ("leaf1", 1000)]
    assert set(error.value.not_undone) == {"leaf2"}  # the state of its queues is unknown
    assert store.journal() is not None and store.current_number() == 1
    servers.away = ""
    assert done(store, operations.recover).direction == "back"
    assert servers.depths[-2:] == [("leaf1", 1000), ("leaf2", 1000)]
    assert store.journal() is None and fakes.state() == before


def test_killed_apply_whose_entries_are_all_there_sets_the_queues_before_it_goes_forward(
    fakes, servers, store, monkeypatch
):
    async def die(name, target, settings):
        raise RuntimeError("as good as killed: nothing is undone")

    with monkeypatch.context() as patch, pytest.raises((RuntimeError, TypeError)):
        patch.setattr("eeon_control.fabric.transaction.undo", die)
        patch.setattr(thrift, "set_queues", die)
        apply(store, fakes, "mark_threshold", "2000pkt")
    assert store.journal() is not None
    assert done(store, operations.recover).direction == "forward"
    assert servers.depths == [("leaf1", 2000), ("leaf2", 2000)]
    assert store.current_number() == 2


def test_drift_names_what_cannot_be_read_back(store):
    found = sync.run(operations.drift(store))
    assert found.plan.is_empty
    assert found.not_read_back == (
        "BMv2's queue depths and packet rates, set over Thrift, of leaf1, leaf2, spine1, spine2",
        "(they were not set on spine1, spine2: their targets have no `thrift`)",
    )
