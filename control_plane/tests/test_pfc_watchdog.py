"""The PFC watchdog: what it writes, a neighbour that pauses forever, and all short histories;
`expected/controller.yaml` has more of the detection."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from itertools import product

import pytest
import yaml
from eeon_control import config, plan, topology, views
from eeon_control.config.pfc import Watchdog
from eeon_control.controller import Supervisor
from eeon_control.controller.machine import what_is_new
from eeon_control.controller.messages import Intended
from eeon_control.fabric.read import Wanted, observe
from eeon_control.plan import Action, pfc
from eeon_control.routing import Flow
from eeon_control.targets import Target
from eeon_control.units import Duration
from engine_switches import serving
from supervised import committed, in_sync, until
from test_expected import LOOKS, storms

from ptf_tests.lib.packets import of_flow

FABRIC = topology.load("leaf-spine-4")
TICK = Duration(1000)
DETECT, RESTORE = 2, 3  # seconds, as in `storms`


def with_watchdog(watchdog: str = "{}", *, silver: bool = False):
    """Returns a configuration with lossless priority 3 with this watchdog; with `silver`, also priority 4."""
    values = {
        "profiles": {"pfc": {"p": {"limit": "20KB", "watchdog": yaml.safe_load(watchdog)}}},
        "classes": {
            "gold": {"priority": 3, "dscp": [26], "pfc": "p"},
            "silver": {"priority": 4, "dscp": [34], "pfc": "p"},
            "default": {"priority": 0},
        }
        if silver
        else {"gold": {"priority": 3, "dscp": [26], "pfc": "p"}, "default": {"priority": 0}},
    }
    return config.overridden(config.load("drop_tail"), values)


def expected(looks: list[tuple[int, int, int]]) -> list[str]:
    """Returns the changes at looks by the text of the rule, from all looks so far."""
    found: list[str] = []
    changed, storm = 0, False
    for now in range(1, len(looks) + 1):
        since_change = looks[changed:now]
        change = None
        if storm:
            quiet = since_change[-RESTORE:]
            if len(quiet) == RESTORE and not any(pause for _, _, pause in quiet):
                change = "over"
        else:
            first, *stuck = [(0, 0, 0), *since_change][-(DETECT + 1) :]
            heard = looks[max(0, now - 1 - DETECT // 2) : now]
            if (
                len(stuck) == DETECT
                and first[0]
                and all(waits and not leaves for waits, leaves, _ in stuck)
                and any(pause for _, _, pause in heard)
            ):
                change = "storm"
        if change is not None:
            storm, changed = change == "storm", now
            found.append(f"{change} {now}")
    return found


@pytest.mark.slow
def test_every_short_history_is_judged_as_the_rule_says(tmp_path):
    """Checks all 65,536 sequences of eight looks: packets wait, leave or are gone; with pauses or without."""
    for looks in product("wqln", repeat=8):
        assert storms(" ".join(looks), tmp_path) == expected([LOOKS[one] for one in looks]), looks


def entries_of(storms: dict[int, Watchdog], switch: str = "leaf1"):
    held = plan.intended(FABRIC, with_watchdog(), TICK)[switch]
    return held, pfc.around_storms(held, storms)


@pytest.mark.parametrize(
    ("action", "changes"),
    [("drop", ["port_pfc", "pausable_queue"]), ("forward", ["port_pfc"]), ("alert", [])],
)
def test_in_a_storm_pauses_are_not_obeyed_and_with_drop_nothing_more_comes_in(action, changes):
    held, around = entries_of({3 << 3 | 3: Watchdog(action=action)})
    changed = {one.table: (one, other) for one, other in zip(held, around, strict=True) if one != other}
    assert list(changed) == changes
    for before, after in changed.values():
        assert before.match[0].value == (3 if before.table == "port_pfc" else 3 << 3 | 3)
        if before.table == "port_pfc":
            obeyed = [dict(one.actions[0].params)["priorities"] for one in (before, after)]
            assert obeyed == [1 << 3, 0]
        else:
            assert after.actions == (Action("discard"),)


def test_the_log_says_a_storm_and_not_links():
    held, around = entries_of({3 << 3 | 3: Watchdog()})
    of = [Intended(1, tuple(entries)) for entries in (held, around)]
    assert what_is_new(of[0], of[1]) == what_is_new(of[1], of[0]) == "a pause storm has begun or ended"
    one_table = Intended(1, tuple(entries_of({3 << 3 | 3: Watchdog(action="forward")})[1]))
    assert what_is_new(of[0], one_table) == "a pause storm has begun or ended"
    assert what_is_new(of[0], Intended(1, tuple(held)[:-1])) == "links of the fabric have changed"
    assert what_is_new(of[0], Intended(2, of[1].entries)) == "revision 2"


def test_every_lossless_queue_of_a_switch_is_looked_after_and_only_where_the_profile_says_so():
    leaf1 = FABRIC.switches["leaf1"]
    found = pfc.watchdogs(with_watchdog(), leaf1)
    assert {queue: one.rules for queue, one in found.items()} == {
        port.number << 3 | 3: Watchdog() for port in leaf1.ports
    }
    # At 1 Gbit/s: 65,535 quanta of 512 ns, and the 4,924 bytes of docs/models/pfc.md in frames of 84.
    assert (found[QUEUE].pause, found[QUEUE].packets_a_pause) == (Duration(65_535 * 512_000), 59)
    assert pfc.watchdogs(with_watchdog("null"), leaf1) == {}


QUEUE, GROUP = 1 << 3 | 3, 2 << 3 | 3
DETECT_SECONDS = RESTORE_SECONDS = 0.3
# IEEE 802.1Q-2022 36: priority 3 is paused for 65,535 quanta.
STORM_FRAME = bytes.fromhex("0180c2000001020000000009880801010008000000000000ffff").ljust(60, b"\0")
STORM_OF_TWO = bytes.fromhex("0180c2000001020000000009880801010018000000000000ffffffff").ljust(60, b"\0")


def _frame(to: str) -> bytes:
    """Returns a full frame of the lossless class, from h2."""
    return of_flow(FABRIC.hosts["h2"], FABRIC.hosts[to], Flow(17, 53, 53), 4, payload=1454, dscp=26)


# h1 is at port 1 of leaf1, h3 behind port 3.
FRAMES = {1: _frame("h1"), 3: _frame("h3")}


class _Leaf1:
    """An engine switch, with a host that pauses priority 3 of port 1 while `storming` is set, and another
    host that sends to that port and to port 3 while not paused. Virtual time follows real time."""

    def __init__(self, switch) -> None:
        self.switch = switch
        self.storming = False
        self.says = STORM_FRAME
        self.sent = {1: 0, 3: 0}

    @property
    def paused(self) -> bool:
        """Whether leaf1 has paused the sender."""
        return any(self.switch.register_read("pause_sent_at", GROUP))

    async def run(self) -> None:
        begin = time.monotonic()
        while True:
            now_ps = max(self.switch.now_ps + 1, int((time.monotonic() - begin) * 1e12))
            if self.storming:
                self.switch.inject(1, self.says, now_ps)
            # The sender's PFC: it obeys leaf1's pauses.
            if not self.paused:
                for port in (1, 3):
                    self.switch.inject(2, FRAMES[port], now_ps + 20_000_000 * port)
            for _, port, frame in self.switch.advance_to(now_ps + 100_000_000):
                if len(frame) > len(STORM_FRAME):
                    self.sent[port] += 1
            await asyncio.sleep(0.002)


@contextlib.asynccontextmanager
async def kept(tmp_path, watchdog: str, *, silver: bool = False):
    """Yields the engine's leaf1 among four switches, kept by a supervisor with this watchdog."""
    with serving(FABRIC, priorities=8, class_gate_register="class_gate_open_at") as (switches, addresses):
        targets = {name: Target(address) for name, address in addresses.items()}
        leaf1 = _Leaf1(switches["leaf1"])
        store = committed(tmp_path / "state", targets, with_watchdog(watchdog, silver=silver))
        async with in_sync(store) as supervisor:
            task = asyncio.create_task(leaf1.run())
            try:
                yield supervisor, leaf1
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


A_CONTROLLER_ABOVE = "another controller watches"
RULES_TEXT = f"{{detect: {DETECT_SECONDS}s, restore: {RESTORE_SECONDS}s}}"


@contextlib.asynccontextmanager
async def storm(supervisor: Supervisor, leaf1: _Leaf1) -> AsyncIterator[None]:
    """Checks that the storm is found, that others are served meanwhile, and that the queue recovers."""
    await until(lambda: leaf1.sent[1] > 10 and leaf1.sent[3] > 10)
    leaf1.storming = True
    # The sender is paused, and the other port starves as well. On a busy machine, the storm is found first.
    found = supervisor.storm_watch.storms
    await until(lambda: leaf1.paused or found.get("leaf1") is not None)
    starved = leaf1.sent[3]
    await until(lambda: found.get("leaf1") is not None)
    assert list(supervisor.storm_watch.storms["leaf1"]) == [QUEUE]
    machine = supervisor.links["leaf1"].machine
    await until(lambda: (Action("discard"),) in {entry.actions for entry in machine.intended.entries})
    await until(lambda: leaf1.sent[3] > starved + 50)
    yield
    leaf1.storming = False
    await until(lambda: not supervisor.storm_watch.storms["leaf1"])
    served = leaf1.sent[1]
    await until(lambda: leaf1.sent[1] > served + 10)
    assert supervisor.storm_watch.found == {("leaf1", QUEUE): 1}


@pytest.mark.system
async def test_a_host_that_pauses_for_ever_stops_its_port_alone_and_is_served_again_when_it_stops(tmp_path):
    async with kept(tmp_path, RULES_TEXT) as (supervisor, leaf1), storm(supervisor, leaf1):
        targets = {name: link.target for name, link in supervisor.links.items()}
        seen = await observe(FABRIC, targets, Wanted(entries=True, queues=(pfc.GROUPS,)))
        storms = {row["port"]: row["storm"] for row in views.pfc.pfc(FABRIC, seen).rows}
        assert {port: storm for port, storm in storms.items() if storm} == {"leaf1:1": "drop"}


@pytest.mark.system
async def test_a_storm_of_two_classes_of_which_one_has_no_packets_is_one_storm(tmp_path):
    """The other class's pauses are always obeyed."""
    async with kept(tmp_path, RULES_TEXT, silver=True) as (supervisor, leaf1):
        leaf1.says = STORM_OF_TWO
        async with storm(supervisor, leaf1):
            until_ps = leaf1.switch.now_ps + int(4 * RESTORE_SECONDS * 1e12)
            await until(lambda: leaf1.switch.now_ps > until_ps)
            assert list(supervisor.storm_watch.storms["leaf1"]) == [QUEUE]


@pytest.mark.system
@pytest.mark.parametrize("then", ["null", "{detect: 60s, restore: 60s}", A_CONTROLLER_ABOVE])
async def test_a_storm_ends_with_the_rules_under_which_it_was_found(tmp_path, then: str):
    async with kept(tmp_path, RULES_TEXT) as (supervisor, leaf1):
        before = supervisor.links["leaf1"].machine.intended.entries
        leaf1.storming = True
        await until(lambda: supervisor.links["leaf1"].machine.intended.entries != before)
        targets = {name: link.target for name, link in supervisor.links.items()}
        with contextlib.ExitStack() as above:
            if then == A_CONTROLLER_ABOVE:
                above.enter_context(supervisor.store.controller_lock(99))
            else:
                committed(tmp_path / "state", targets, with_watchdog(then))
            await until(lambda: supervisor.links["leaf1"].machine.intended.entries == before)
            await until(lambda: not supervisor.storm_watch.storms.get("leaf1"))
