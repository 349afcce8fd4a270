"""Three switches in a ring with circular routes: full lossless buffers wait for each other indefinitely, and
the watchdog's rules end that. In virtual time, on a twin."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from eeon_control import config, fabric, plan, program, topology
from eeon_control.constants import PRIORITY_BITS
from eeon_control.controller.storms import QueueWatch
from eeon_control.entries import Entry
from eeon_control.fabric.diff import difference
from eeon_control.fabric.read import look_at_queues
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.plan import pfc
from eeon_control.targets import Target
from eeon_control.units import Duration
from eeon_tools.replay.feed import Offer
from eeon_tools.replay.spec import TICK_PS, fabric_spec
from eeon_tools.replay.twin import RunningTwin, running_twin
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

pytestmark = pytest.mark.system

NAMES = ("s1", "s2", "s3")
NEXT = 2
"""The port towards the next switch of the ring."""
RING = topology.from_text("""
name: ring
defaults: {rate: 1Gbps, delay: 500ns}
nodes:
  {s1: {kind: switch}, s2: {kind: switch}, s3: {kind: switch},
   h1: {kind: host}, h2: {kind: host}, h3: {kind: host}}
links:
  - endpoints: ["s1:1", "h1:0"]
  - endpoints: ["s2:1", "h2:0"]
  - endpoints: ["s3:1", "h3:0"]
  - endpoints: ["s1:2", "s2:3"]
  - endpoints: ["s2:2", "s3:3"]
  - endpoints: ["s3:2", "s1:3"]
""")
MS = 10**9
DETECT_MS = RESTORE_MS = 200
PRIORITY, DSCP = 3, 26
CONFIG = config.overridden(
    config.load("drop_tail"),
    {
        "profiles": {"pfc": {"p": {"limit": "30KB", "watchdog": {}}}},
        "classes": {"gold": {"priority": PRIORITY, "dscp": [DSCP], "pfc": "p"}, "default": {"priority": 0}},
    },
)
FULL_FRAMES_A_MS = 81


def forced_round(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Returns the entries with every route, except those to the switch's own host, to the next switch."""

    def is_way(entry: Entry) -> bool:
        return entry.table in ("ipv4_route", "ipv6_route") and any(
            dict(action.params)["port"] != 1 for action in entry.actions
        )

    towards = next(
        action
        for entry in entries
        if is_way(entry)
        for action in entry.actions
        if dict(action.params)["port"] == NEXT
    )
    return tuple(entry._replace(actions=(towards,)) if is_way(entry) else entry for entry in entries)


@dataclass
class Ring:
    """The running twin, its controller's sessions, and the watchdog's findings."""

    twin: RunningTwin
    sessions: dict[str, P4RuntimeSession]
    held: dict[str, tuple[Entry, ...]]
    watches: dict[str, dict[int, QueueWatch]]
    storms: dict[str, dict[int, pfc.Watched]] = field(default_factory=lambda: {name: {} for name in NAMES})
    changes: list[tuple[int, str, str]] = field(default_factory=list)
    """Milliseconds, switch, change."""

    def send(self, at_ms: int, for_ms: int, load: float) -> int:
        """Sends full frames from each host to the one two switches further. Returns their number."""
        hosts = list(RING.hosts.values())
        frames = [
            bytes(
                Ether(src=host.mac, dst=host.gateway_mac)
                / IP(src=str(host.ipv4), dst=str(hosts[(number + 2) % 3].ipv4), tos=DSCP << 2)
                / UDP()
                / bytes(1472)
            )
            for number, host in enumerate(hosts)
        ]
        gap = int(MS / FULL_FRAMES_A_MS / load)
        offers = [
            Offer(number, at_ms * MS + at, len(frame), frame)
            for at in range(0, for_ms * MS, gap)
            for number, frame in enumerate(frames)
        ]
        self.twin.send(offers)
        return len(offers)

    def delivered(self) -> int:
        return sum(one["delivered"]["packets"] for one in self.twin.report()["classes"].values())

    async def waiting(self) -> int:
        """Returns the packets of the class that wait in any switch."""
        found = 0
        for name in NAMES:
            looks = await self._look(name)
            found += sum(one.waiting for one in looks.values())
        return found

    async def _look(self, name: str):
        target = Target(self.twin.targets[name].address, device_id=RING.switches[name].device_id)
        return await look_at_queues(self.sessions[name], target, list(self.watches[name]), program.load())

    async def watch(self, now_ms: int) -> None:
        """Does what the supervisor does at each check, without its clock."""
        for name, session in self.sessions.items():
            storms = self.storms[name]
            before = self._around(name)
            for queue, seen in (await self._look(name)).items():
                watch = self.watches[name][queue]
                change = watch.look(seen, now_ms / 1000)
                if change == "storm":
                    storms[queue] = watch.watched
                elif change == "over":
                    del storms[queue]
                if change is not None:
                    self.changes.append((now_ms, f"{name}:{queue >> PRIORITY_BITS}", change))
            after = self._around(name)
            await session.write_changes(list(difference(before, after)))

    def _around(self, name: str) -> tuple[Entry, ...]:
        rules = {queue: watched.rules for queue, watched in self.storms[name].items()}
        return pfc.around_storms(self.held[name], rules)


@asynccontextmanager
async def running() -> AsyncIterator[Ring]:
    schema = program.load().schema()
    with running_twin(RING, program.load(), fabric_spec(RING, CONFIG, 1)) as twin:
        await fabric.apply(RING, CONFIG, twin.targets, TICK_PS)
        planned = plan.intended(RING, CONFIG, Duration(TICK_PS))
        held = {name: forced_round(entries) for name, entries in planned.items()}
        async with AsyncExitStack() as stack:
            sessions = {}
            for name, target in twin.targets.items():
                at = replace(target, device_id=RING.switches[name].device_id)
                session = P4RuntimeSession(name, at, schema, election_id=20)
                sessions[name] = await stack.enter_async_context(session)
                await session.write_changes(list(difference(planned[name], held[name])))
            watches = {
                name: {queue: QueueWatch(one) for queue, one in pfc.watchdogs(CONFIG, switch).items()}
                for name, switch in RING.switches.items()
            }
            yield Ring(twin, sessions, held, watches)


def test_a_ring_stops_until_the_watchdog_acts_within_detect_and_restore_and_then_takes_packets_again():
    asyncio.run(stop_and_resolve())


async def stop_and_resolve() -> None:
    async with running() as ring:
        ring.send(0, 60, 1.0)
        stopped = empty_at = None
        for now_ms in range(0, 1_000, DETECT_MS // 4):
            ring.twin.engine.run_until(now_ms * MS)
            await ring.watch(now_ms)
            waiting = await ring.waiting()
            if now_ms >= DETECT_MS // 2 and not ring.changes:
                # Each pause is repeated before its 34 ms are over.
                assert waiting > 50 and stopped in (None, (ring.delivered(), waiting))
                stopped = ring.delivered(), waiting
            if empty_at is None and now_ms and waiting == 0:
                empty_at = now_ms
        found = [(where, what) for _, where, what in ring.changes]
        around = [f"{name}:{NEXT}" for name in NAMES]
        assert sorted(found) == sorted((where, what) for where in around for what in ("storm", "over"))
        assert empty_at is not None and empty_at <= DETECT_MS + RESTORE_MS
        before = ring.delivered()
        # Two of them share each link, which is too little to close the circle again.
        sent = ring.send(1_000, 20, 0.3)
        ring.twin.engine.run_until(1_100 * MS)
        assert ring.delivered() - before == sent
