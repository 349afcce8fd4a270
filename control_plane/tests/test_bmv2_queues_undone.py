"""BMv2's own queues in an apply that fails or is killed, and in drift. Thrift itself is replaced."""

import pytest
from eeon_control import config, operations, state, topology
from eeon_control.errors import ApplyError, FabricError
from eeon_control.fabric import sync, thrift
from revisions import done, meant

pytestmark = pytest.mark.system

FABRIC = topology.load("leaf-spine-4")


def load(name: str, depth: str):
    return config.overridden(
        config.load(name), {"target_settings.bmv2": {"queue_depth": depth, "packet_rate": "100pps"}}
    )


@pytest.fixture
def server(monkeypatch):
    """The settings, as (switch, depth of port 1's queue), and a switch whose Thrift server is away."""

    class ThriftServer:
        def __init__(self) -> None:
            self.was_set: list[tuple[str, int]] = []
            self.away = ""

        async def set_queues(self, name, target, settings):
            if name == self.away:
                raise FabricError(f"{name}: Thrift server {target.thrift} does not answer")
            self.was_set.append((name, settings[1].depth_packets))

    server = ThriftServer()
    monkeypatch.setattr(thrift, "set_queues", server.set_queues)
    return server


def apply(store, fakes, wanted):
    switches = {
        name: {"address": address} | ({"thrift": "127.0.0.1:9090"} if name.startswith("leaf") else {})
        for name, address in fakes.targets.items()
    }
    return done(store, operations.apply, meant(FABRIC, wanted, switches, "1us"))


def test_thrift_server_that_is_away_undoes_the_entries_and_puts_the_queues_back(fakes, server, state_folder):
    store = state.StateStore.open(state_folder)
    apply(store, fakes, load("drop_tail", "1000pkt"))
    before = fakes.state()
    server.was_set.clear()
    server.away = "leaf2"
    with pytest.raises(ApplyError, match=r"leaf2: Thrift server 127.0.0.1:9090 does not answer") as error:
        apply(store, fakes, load("mark_threshold", "2000pkt"))
    assert fakes.state() == before
    assert server.was_set == [("leaf1", 2000), ("leaf1", 1000)]
    assert set(error.value.not_undone) == {"leaf2"}  # the state of its queues is unknown
    assert store.journal() is not None and store.current_number() == 1
    server.away = ""
    assert done(store, operations.recover).direction == "back"
    assert server.was_set[-2:] == [("leaf1", 1000), ("leaf2", 1000)]
    assert store.journal() is None and fakes.state() == before


def test_killed_apply_whose_entries_are_all_there_sets_the_queues_before_it_goes_forward(
    fakes, server, state_folder, monkeypatch
):
    store = state.StateStore.open(state_folder)
    apply(store, fakes, load("drop_tail", "1000pkt"))

    async def die(name, target, settings):
        raise RuntimeError("as good as killed: nothing is undone")

    monkeypatch.setattr("eeon_control.fabric.transaction.undo", die)
    monkeypatch.setattr(thrift, "set_queues", die)
    with pytest.raises((RuntimeError, TypeError)):
        apply(store, fakes, load("mark_threshold", "2000pkt"))
    assert store.journal() is not None
    server.was_set.clear()
    monkeypatch.setattr(thrift, "set_queues", server.set_queues)
    assert done(store, operations.recover).direction == "forward"
    assert server.was_set == [("leaf1", 2000), ("leaf2", 2000)]
    assert store.current_number() == 2


def test_drift_names_what_cannot_be_read_back(fakes, server, state_folder):
    store = state.StateStore.open(state_folder)
    apply(store, fakes, load("drop_tail", "1000pkt"))
    found = sync.run(operations.drift(store))
    assert found.plan.is_empty
    assert found.not_read_back == (
        "BMv2's queue depths and packet rates, set over Thrift, of leaf1, leaf2, spine1, spine2",
        "(they were not set on spine1, spine2: their targets have no `thrift`)",
    )
