"""What happens to fake switches of leaf-spine-4, or to a folder with files, between the commands of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eeon_command import place
from eeon_control import constants, fabric, program, topology
from eeon_control.config import Bmv2QueueValues
from eeon_control.errors import FabricError
from eeon_control.fabric import sync
from eeon_control.fabric.diff import Change, ChangeKind
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.undo import Snapshot
from eeon_control.plan import Action, Entry, Exact
from eeon_control.state import Draft, Journal, StateStore
from eeon_control.targets import Target
from fake_p4runtime import FakeFabric, FakeSwitch
from finsy.proto import p4r
from programs import another, commented, without_table

Step = dict[str, Any]
Deed = Callable[["World", Any], None]
DEEDS: dict[str, Deed] = {}
FABRIC = topology.load("leaf-spine-4")
_SCHEMA = program.load().schema()


def deed(name: str) -> Callable[[Deed], Deed]:
    """Makes a function a step with this name."""

    def add(function: Deed) -> Deed:
        DEEDS[name] = function
        return function

    return add


class RealSwitches:
    """Switches at these addresses; only few deeds are for them."""

    def __init__(self, targets: Mapping[str, str]) -> None:
        self.targets = targets

    def state(self) -> object:
        """Returns all entries, to compare before and after."""

        async def held() -> object:
            status = await fabric.read_status(FABRIC, self.targets)
            has_program = set(status.values()) == {"ready"}
            return await fabric.read_entries(FABRIC, self.targets) if has_program else status

        return sync.run(held())


class World:
    """Switches, if any, a folder with files, and what happens while a command waits. `more`: keys of the targets
    file."""

    def __init__(self, folder: Path, switches: FakeFabric | RealSwitches | None, **more: object) -> None:
        self.folder = folder
        self.fakes = switches
        self.meanwhile: list[Step] | None = None
        self.waited: list[float] = []
        self.targets = more
        self.queues_set: list[tuple[str, dict[int, Bmv2QueueValues]]] = []
        self.thrift_away = ""
        if switches is not None:
            self.place()

    def place(self) -> None:
        """Writes the targets file."""
        place(self.folder, self.fakes.targets, **self.targets)

    async def set_queues(self, name: str, target: Target, settings: dict[int, Bmv2QueueValues]) -> None:
        """Takes settings of BMv2's queues, instead of Thrift."""
        if name == self.thrift_away:
            raise FabricError(f"{name}: Thrift server {target.thrift} does not answer")
        self.queues_set.append((name, settings))

    def switches(self, name: str) -> list[FakeSwitch]:
        """Returns a fake switch, or all for `*`."""
        return [*self.fakes.switches.values()] if name == "*" else [self.fakes.switches[name]]


@deed("counts")
def _counts(world: World, counts: dict[str, list[int]]) -> None:
    """Sets packets and bytes of counters: `SWITCH PORT CLASS VERDICT`; received packets have `received`."""
    for name, count in counts.items():
        switch, port, packet_class, verdict = name.split()
        cell = int(port) << 3 | constants.CLASSES.index(packet_class)
        counter = "received"
        if verdict != "received":
            counter, cell = "verdicts", cell << 4 | constants.VERDICTS.index(verdict)
        world.fakes.switches[switch].counters[_SCHEMA.counters[counter].id, cell] = (count[0], count[1])


@deed("registers")
def _registers(world: World, registers: dict[str, int]) -> None:
    """Sets registers: `SWITCH PORT NAME`."""
    for name, number in registers.items():
        switch, port, register = name.split()
        world.fakes.switches[switch].registers[_SCHEMA.registers[register].id, int(port)] = number


@deed("counters restart")
def _counters_restart(world: World, names: list[str]) -> None:
    for name in names:
        world.fakes.switches[name].counters.clear()


@deed("stop")
def _stop(world: World, name: str) -> None:
    sync.run(world.fakes.switches[name].stop())


@deed("move")
def _move(world: World, names: list[str]) -> None:
    """Serves switches at other addresses, which the targets file then has."""
    for name in names:
        _stop(world, name)
        sync.run(world.fakes.switches[name].__aenter__())
    world.place()


@deed("set")
def _set(world: World, attributes: dict[str, Any]) -> None:
    """Sets attributes of fake switches: `SWITCH ATTRIBUTE`, or of all with `*`."""
    for name, new in attributes.items():
        switch, attribute = name.split()
        for one in world.switches(switch):
            assert hasattr(one, attribute), attribute
            setattr(one, attribute, new)


@deed("targets")
def _targets(world: World, more: dict[str, object]) -> None:
    world.targets = more
    world.place()


@deed("Thrift servers of")
def _thrift_servers(world: World, names: list[str]) -> None:
    """Gives switches Thrift servers, which only take settings of queues."""
    world.targets = {
        "switches": {
            name: {"address": at} | ({"thrift": "127.0.0.1:9090"} if name in names else {})
            for name, at in world.fakes.targets.items()
        }
    }
    world.place()


@deed("Thrift server is away")
def _thrift_is_away(world: World, name: str) -> None:
    world.thrift_away = name


@deed("queues were set")
def _queues_were_set(world: World, expected: list[dict[str, dict[str, list[int]]]]) -> None:
    """Checks the queues that were set since the last such check: for each port, depth and packets a second."""
    found = [
        {name: {str(port): [one.depth_packets, one.packets_per_second] for port, one in of.items()}}
        for name, of in world.queues_set
    ]
    assert found == expected, found
    world.queues_set.clear()


@deed("thrift")
def _thrift(world: World, address: str) -> None:
    """Gives all switches the address of a Thrift server in the targets file."""
    switches = {name: {"address": at, "thrift": address} for name, at in world.fakes.targets.items()}
    place(world.folder, switches)


@deed("permissions")
def _permissions(world: World, modes: dict[str, int]) -> None:
    """Sets the permissions of files, in octal digits."""
    for name, mode in modes.items():
        (world.folder / name).chmod(int(str(mode), 8))


@deed("link")
def _link(world: World, links: dict[str, str]) -> None:
    for name, to in links.items():
        (world.folder / name).symlink_to(world.folder / to)


@deed("while it waits")
def _waits(world: World, steps: list[Step]) -> None:
    world.meanwhile = steps


@deed("it has waited")
def _waited(world: World, seconds: list[float]) -> None:
    assert world.waited == seconds


def _route(world: World, name: str, prefix: str) -> tuple[bytes, p4r.TableEntry]:
    """Returns key and entry of a switch's IPv4 route of a prefix's first address."""
    address = bytes(map(int, prefix.split(".")))
    table = _SCHEMA.tables["ipv4_route"].id
    (found,) = [
        (key, entry)
        for key, entry in world.fakes.switches[name].entries.items()
        if entry.table_id == table and entry.match[0].lpm.value == address
    ]
    return found


@deed("remove entries")
def _remove_entries(world: World, of: str) -> None:
    """Removes all entries of a table: `SWITCH TABLE`."""
    name, table = of.split()
    entries = world.fakes.switches[name].entries
    gone = [key for key, entry in entries.items() if entry.table_id == _SCHEMA.tables[table].id]
    assert gone
    for key in gone:
        del entries[key]


@deed("default action")
def _default_action(world: World, actions: dict[str, str]) -> None:
    """Sets default actions of tables, `SWITCH TABLE`, with the values of their parameters."""
    for of, text in actions.items():
        name, table = of.split()
        action, *values = text.split()
        default = world.fakes.switches[name].defaults[_SCHEMA.tables[table].id].action.action
        default.action_id = _SCHEMA.actions[action].id
        for param, number in zip(default.params, values, strict=True):
            param.value = bytes([int(number)])


@deed("program")
def _program(world: World, programs: dict[str, str]) -> None:
    """Gives switches, or all with `*`, a variant of the program that they run."""
    for name, variant in programs.items():
        for one in world.switches(name):
            assert one.config is not None
            match variant.split():
                case ["commented"]:
                    one.config.p4_device_config = commented(one.config.p4_device_config)
                    one.config.cookie.cookie = 7
                case ["other", "bytes"]:
                    one.config.p4_device_config = another(one.config, 0).p4_device_config
                case ["other", "P4Info"]:
                    one.config.p4info.tables[0].size += 1
                case ["no", "bytes"]:
                    one.config.ClearField("p4_device_config")
                case ["without", table]:
                    one.config = without_table(one.config, table)
                    one.defaults.pop(_SCHEMA.tables[table].id)
            one.updates.clear()


@deed("switches are")
def _are(world: World, attributes: dict[str, int]) -> None:
    """Checks attributes of fake switches, `SWITCH ATTRIBUTE`, or of all with `*`; of a collection, its size."""
    for name, expected in attributes.items():
        switch, attribute = name.split()
        for one in world.switches(switch):
            found = getattr(one, attribute)
            assert (found if isinstance(found, int) else len(found)) == expected, f"{name}: {found}"


@deed("another controller sets the buffer of port 1")
def _write_behind_its_back(world: World, name: str) -> None:
    """Sets the buffer of port 1 of a switch to 5 bytes, as another controller."""
    entry = Entry("port_buffer", (Exact("port", 1),), (Action("set_buffer_limit", (("buffer_bytes", 5),)),))
    target = Target(world.fakes.targets[name], FABRIC.switches[name].device_id)

    async def write() -> None:
        async with P4RuntimeSession(name, target, _SCHEMA, election_id=10) as session:
            await session.write_changes([Change(ChangeKind.MODIFY, None, entry)])

    sync.run(write())


@deed("an apply was killed")
def _kill_apply(world: World, name: str) -> None:
    """Leaves the journal of an apply of the present revision that wrote to one switch."""
    store = StateStore.open(world.folder / "state")
    with store.lock("a killed apply") as lock:
        draft = Draft(
            made="2026-11-22T00:00:00+00:00", by="me", action="apply", intent=store.current().intent
        )
        number = store.current_number() + 1
        store.begin(
            lock, Journal(revision=number, draft=draft, holder=lock.holder, before={name: Snapshot(False)})
        )


@deed("leave the state folder")
def _leave(world: World, new: str) -> None:
    """Moves the state folder away."""
    (world.folder / "state").rename(world.folder / new)


@deed("remove route")
def _remove_route(world: World, of: str) -> None:
    name, prefix = of.split()
    del world.fakes.switches[name].entries[_route(world, name, prefix)[0]]


def _group(world: World, of: str) -> Any:
    return _route(world, *of.split())[1].action.action_profile_action_set.action_profile_actions


@deed("remove next hop")
def _remove_next_hop(world: World, of: str) -> None:
    """Removes the first next hop of a route's group."""
    del _group(world, of)[0]


@deed("next hops")
def _next_hops(world: World, routes: dict[str, list[dict[str, int]]]) -> None:
    """Changes the members of routes' groups: as many remain as are given; `port` and `weight` are set."""
    for of, members in routes.items():
        group = _group(world, of)
        ports = [one.action.params[0].value[0] for one in group]
        for member, new in zip(list(group), members, strict=False):
            member.action.params[0].value = bytes([new.get("port", ports.pop(0))])
            member.weight = new.get("weight", 1)
        del group[len(members) :]


@deed("route to")
def _route_to(world: World, routes: dict[str, str]) -> None:
    """Gives routes another prefix of the same length."""
    for of, prefix in routes.items():
        name, old = of.split()
        key, entry = _route(world, name, old)
        del world.fakes.switches[name].entries[key]
        entry.match[0].lpm.value = bytes(map(int, prefix.split(".")))
        again = p4r.TableEntry(table_id=entry.table_id, match=entry.match)
        world.fakes.switches[name].entries[again.SerializeToString(deterministic=True)] = entry
