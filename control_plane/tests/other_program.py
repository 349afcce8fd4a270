"""Switches that run another program, with the same P4Info and entries of its own; and a write that fails."""

from eeon_control import plan, program
from eeon_control.fabric.diff import Change, ChangeKind
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.plan import Action, Entry, Exact, Lpm
from eeon_control.targets import Target
from programs import another

COOKIE = 7
ENTRIES = (
    Entry(
        "ipv4_route",
        (Lpm("dst", 0xC0000200, 24, 32),),
        (
            Action("forward", (("port", 1), ("src_mac", 1), ("dst_mac", 2))),
            Action("forward", (("port", 2), ("src_mac", 1), ("dst_mac", 3))),
        ),
        selector=True,
    ),
    Entry("port_buffer", (Exact("port", 9),), (Action("set_buffer_limit", (("buffer_bytes", 777),)),)),
    Entry("switch_config", (), (Action("set_ecmp_seed", (("seed", 99),)),), is_default=True),
)


def session(topology, targets, name: str) -> P4RuntimeSession:
    target = Target(Target.parse(targets[name]).address, topology.switches[name].device_id)
    return P4RuntimeSession(name, target, program.load().schema(), election_id=10)


def breaks_once(name: str, monkeypatch) -> None:
    """Interrupts the first write to that switch."""
    send = P4RuntimeSession.write_changes
    failed = []

    async def broken(self, changes):
        if self.name == name and not failed:
            failed.append(self.name)
            await send(self, changes[: len(changes) // 2])
            raise self._error("refused a write: the test says so")
        await send(self, changes)

    monkeypatch.setattr(P4RuntimeSession, "write_changes", broken)


async def run_it(topology, targets) -> None:
    other = another(program.load().schema().get_pipeline_config(), COOKIE)
    for name in topology.switches:
        async with session(topology, targets, name) as one:
            await one.push_pipeline(other)
            await one.write_changes(
                [
                    Change(ChangeKind.MODIFY if entry.is_default else ChangeKind.INSERT, None, entry)
                    for entry in ENTRIES
                ]
            )


async def held(topology, targets) -> dict[str, tuple[int, set[Entry]]]:
    """Returns cookie and entries of every switch, without default actions that the test did not set."""
    found = {}
    for name in topology.switches:
        async with session(topology, targets, name) as one:
            pipeline = await one.pipeline()
            entries = await one.read_entries(plan.TABLES)
            found[name] = (
                pipeline.cookie.cookie,
                {entry for entry in entries if not entry.is_default or entry.table == "switch_config"},
            )
    return found
