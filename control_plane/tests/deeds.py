"""What happens to switches of leaf-spine-4, or to a folder with files, between the commands of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eeon_command import place
from eeon_control import constants, fabric, program, topology
from eeon_control.config import Bmv2QueueValues
from eeon_control.errors import FabricError
from eeon_control.fabric import sync
from eeon_control.fabric.diff import Change, ChangeKind
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.undo import Snapshot
from eeon_control.plan import Action, Entry, Exact
from eeon_control.state import StateStore
from eeon_control.targets import Target
from finsy.proto import p4r
from programs import another, beside_a_tenant, commented, without_table
from revisions import begin, draft

if TYPE_CHECKING:
    from engine_switches import LocalFabric, LocalSwitch

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

    def __init__(self, folder: Path, switches: LocalFabric | RealSwitches | None, **more: object) -> None:
        self.folder = folder
        self.fabric = switches
        self.meanwhile: list[Step] | None = None
        self.waited: list[float] = []
        self.targets = more
        self.queues_set: list[tuple[str, dict[int, Bmv2QueueValues]]] = []
        self.thrift_away = ""
        if switches is not None:
            self.place()

    def place(self) -> None:
        """Writes the targets file."""
        place(self.folder, self.fabric.targets, **self.targets)

    async def set_queues(self, name: str, target: Target, settings: dict[int, Bmv2QueueValues]) -> None:
        """Takes settings of BMv2's queues, instead of Thrift."""
        if name == self.thrift_away:
            raise FabricError(f"{name}: Thrift server {target.thrift} does not answer")
        self.queues_set.append((name, settings))

    def switches(self, name: str) -> list[LocalSwitch]:
        """Returns a switch, or all for `*`."""
        return [*self.fabric.switches.values()] if name == "*" else [self.fabric.switches[name]]


@deed("counts")
def _counts(world: World, counts: dict[str, list[int]]) -> None:
    """Sets packets and bytes of counters: `SWITCH PORT CLASS VERDICT`; received packets have `received`."""
    for name, count in counts.items():
        switch, port, packet_class, verdict = name.split()
        cell = int(port) << 3 | constants.CLASSES.index(packet_class)
        counter = "received"
        if verdict != "received":
            counter, cell = "verdicts", cell << 4 | constants.VERDICTS.index(verdict)
        world.fabric.switches[switch].set_counter(counter, cell, *count)


@deed("registers")
def _registers(world: World, registers: dict[str, int]) -> None:
    """Sets registers: `SWITCH PORT NAME`."""
    for name, number in registers.items():
        switch, port, register = name.split()
        world.fabric.switches[switch].set_register(register, int(port), number)


@deed("counters restart")
def _counters_restart(world: World, names: list[str]) -> None:
    for name in names:
        for counter in ("received", "verdicts"):
            world.fabric.switches[name].engine.reset_counters(_SCHEMA.counters[counter].name)


@deed("links")
def _links(world: World, links: dict[str, bool]) -> None:
    """Restores the links of ports, `SWITCH:PORT`, or removes them."""
    for port, up in links.items():
        name, number = port.split(":")
        world.fabric.switches[name].engine.port_set_link(int(number), up)


@deed("stop")
def _stop(world: World, name: str) -> None:
    world.fabric.switches[name].stop()


@deed("move")
def _move(world: World, names: list[str]) -> None:
    """Serves switches at other addresses, which the targets file then has."""
    for name in names:
        _stop(world, name)
        world.fabric.switches[name].start("127.0.0.1:0")
    world.place()


@deed("set")
def _set(world: World, attributes: dict[str, Any]) -> None:
    """Sets attributes of switches: `SWITCH ATTRIBUTE`, or of all with `*`."""
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
    """Gives switches Thrift servers, which take settings of queues and answer nothing else."""
    world.targets = {
        "switches": {
            name: {"address": at} | ({"thrift": "127.0.0.1:1"} if name in names else {})
            for name, at in world.fabric.targets.items()
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


def _address(text: str) -> bytes:
    return bytes(map(int, text.split(".")))


def _route(world: World, of: str) -> tuple[LocalSwitch, p4r.TableEntry]:
    """Returns a switch and its IPv4 route of a prefix's first address: `SWITCH ADDRESS`."""
    name, prefix = of.split()
    switch = world.fabric.switches[name]
    routes = switch.of_table("ipv4_route")
    (found,) = (entry for entry in routes if entry.match[0].lpm.value == _address(prefix))
    return switch, found


@deed("remove entries")
def _remove_entries(world: World, of: str) -> None:
    """Removes all entries of a table: `SWITCH TABLE`."""
    name, table = of.split()
    switch = world.fabric.switches[name]
    gone = switch.of_table(table)
    assert gone
    switch.remove(*gone)


@deed("default action")
def _default_action(world: World, actions: dict[str, str]) -> None:
    """Sets default actions of tables, `SWITCH TABLE`, with the values of their parameters."""
    for of, text in actions.items():
        name, table = of.split()
        action, *values = text.split()
        default = p4r.TableEntry(table_id=_SCHEMA.tables[table].id, is_default_action=True)
        default.action.action.action_id = _SCHEMA.actions[action].id
        for number, one in enumerate(values, 1):
            default.action.action.params.add(param_id=number, value=bytes([int(one)]))
        world.fabric.switches[name].modify(default)


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
            one.updates.clear()


@deed("a tenant's program")
def _of_a_tenant(world: World, role: str) -> None:
    """Loads a program with a tenant's table; the controller's tables belong to a role."""
    for one in world.switches("*"):
        one.load(beside_a_tenant(_SCHEMA.get_pipeline_config(), role))


@deed("switches are")
def _are(world: World, attributes: dict[str, int]) -> None:
    """Checks attributes of switches, `SWITCH ATTRIBUTE`, or of all with `*`; of a collection, its size."""
    for name, expected in attributes.items():
        switch, attribute = name.split()
        for one in world.switches(switch):
            found = getattr(one, attribute)
            assert (found if isinstance(found, int) else len(found)) == expected, f"{name}: {found}"


@deed("another controller sets the buffer of")
def _write_behind_its_back(world: World, port: str) -> None:
    """Sets the buffer of a port to 5 bytes, as another controller; one without a link has no entry before."""
    name, number = port.split(":")
    match = (Exact("port", int(number)),)
    entry = Entry("port_buffer", match, (Action("set_buffer_limit", (("buffer_bytes", 5),)),))
    kind = ChangeKind.INSERT if FABRIC.port(port) is None else ChangeKind.MODIFY
    target = Target(world.fabric.targets[name], FABRIC.switches[name].device_id)

    async def write() -> None:
        async with P4RuntimeSession(name, target, _SCHEMA, election_id=10) as session:
            await session.write_changes([Change(kind, None, entry)])

    sync.run(write())


@deed("an apply was killed")
def _kill_apply(world: World, name: str) -> None:
    """Leaves the journal of an apply of the present revision that wrote to one switch."""
    store = StateStore.open(world.folder / "state")
    with store.lock("a killed apply") as lock:
        begin(store, lock, draft(store.current().intent), {name: Snapshot(False)})


@deed("leave the state folder")
def _leave(world: World, new: str) -> None:
    """Moves the state folder away."""
    (world.folder / "state").rename(world.folder / new)


@deed("remove route")
def _remove_route(world: World, of: str) -> None:
    switch, route = _route(world, of)
    switch.remove(route)


@deed("next hops")
def _next_hops(world: World, routes: dict[str, list[dict[str, int]]]) -> None:
    """Changes the members of routes' groups: as many remain as are given. `port` and `weight` are set, and `watch:
    false` lets a member watch no port."""
    for of, members in routes.items():
        switch, route = _route(world, of)
        group = route.action.action_profile_action_set.action_profile_actions
        ports = [one.action.params[0].value[0] for one in group]
        for member, new in zip(list(group), members, strict=False):
            member.action.params[0].value = bytes([new.get("port", ports.pop(0))])
            member.weight = new.get("weight", 1)
            member.watch_port = member.watch_port if new.get("watch", True) else b""
        del group[len(members) :]
        switch.modify(route)


@deed("route to")
def _route_to(world: World, routes: dict[str, str]) -> None:
    """Gives routes another prefix of the same length."""
    for of, prefix in routes.items():
        switch, route = _route(world, of)
        switch.remove(route)
        route.match[0].lpm.value = _address(prefix)
        switch.insert(route)
