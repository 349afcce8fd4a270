"""The controller's answers to files and command lines: each row of `expected/*.yaml`."""

import contextlib
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import test_netbox
import test_sonic
from click.shell_completion import ShellComplete
from eeon_control import config, energy, plan, sonic, topology, units
from eeon_control.cli import main
from eeon_control.config.pfc import Watchdog
from eeon_control.constants import EEE_STATES, TICK_VALUES, VERDICTS
from eeon_control.controller.metrics import MetricsServer
from eeon_control.controller.metrics.families import of_observation, of_ports, of_storms
from eeon_control.controller.storms import QueueWatch
from eeon_control.entries import Action, Entry, Exact
from eeon_control.errors import Place, Problem, Severity
from eeon_control.fabric import FabricPlan, SwitchPlan
from eeon_control.fabric.describe import describe
from eeon_control.fabric.diff import Change, ChangeKind
from eeon_control.fabric.read import (
    FabricCounters,
    FabricObservation,
    Observation,
    QueueLook,
    ReceivedCount,
    VerdictCount,
)
from eeon_control.operations.gates import CounterGate, Rule
from eeon_control.plan import pfc
from eeon_control.plan.waves import waves
from eeon_control.printable import printable
from eeon_control.routing import Flow
from eeon_control.sources import parse_yaml
from eeon_control.state import Moment, Pending
from eeon_control.targets import Targets, is_loopback, load_targets
from eeon_control.units import Duration
from eeon_control.views import scale
from eeon_control.views.change import restarted
from expected_rows import Messages, Row, command, edited, refused, rows, value
from planned import SIXTEEN, lines
from scraping import exported
from test_config_schema import is_valid
from test_energy import TEN_G, registers
from test_sonic import LEAF1, tables
from test_view_changes import observed

FABRIC = topology.load("leaf-spine-4")
TICK = Duration(1000)


def parsed(read: Callable[[], object]) -> object:
    """Returns a value, or why its text is invalid."""
    try:
        return read()
    except ValueError as error:
        return Messages([error])


def loaded(text: str, over: str | None = None) -> config.FabricConfig:
    """Reads a configuration, or keys that override an example."""
    if over is None:
        return config.from_text(text, "c.yaml")
    return config.overridden(config.load(over), value(text))


def checked(text: str, folder: Path, **how: str) -> Messages:
    return Messages(_problems(text, **how))


def wrong(text: str, folder: Path, **how: str) -> Messages:
    return _all_are(Severity.ERROR, _problems(text, **how))


def unwise(text: str, folder: Path, **how: str) -> Messages:
    return _all_are(Severity.WARNING, _problems(text, **how))


def aqm(text: str, folder: Path, at: list[str]) -> list[str]:
    """Returns the settings of an AQM at some speeds, in the configuration's keys."""
    found = loaded(f"profiles: {{queue: {{q: {{buffer: 1MB, aqm: {text}}}}}}}").profiles.queue["q"].aqm
    return [found.settings_at(units.DataRate.parse(one)).describe() for one in at]


def bmv2_queues(text: str, folder: Path, of: list[str]) -> list[object]:
    """Returns depth and packet rate of BMv2's own queue of some ports in leaf-spine-4."""
    found = [loaded(text).bmv2_queue(FABRIC.port(name)) for name in of]
    return [None if one is None else [one.depth_packets, one.packets_per_second] for one in found]


def unplanned(text: str, folder: Path, over: str) -> Messages:
    """Returns why an example cannot be planned for a topology."""
    return refused(plan.intended, topology.from_text(text), config.load(over), TICK)


def planned_lines(
    text: str, folder: Path, over: str = "mark_threshold", before: str = "{}", on: str = "leaf-spine-4"
) -> list[str]:
    """Returns the lines of a plan from an example with some keys to the example with others."""
    return lines(loaded(before, over), loaded(text, over), fabric(on))


def changed(text: str, folder: Path) -> list[str]:
    """Returns the lines of a plan with changes at leaf1. Each has a table; a field and its number, unless it is
    the default that changes; and the actions before and after, each with its parameters, or null."""

    def entry(table: str, *match: Any, of: dict[str, dict[str, int]] | None) -> Entry | None:
        actions = [Action(name, tuple(params.items())) for name, params in (of or {}).items()]
        exact = (Exact(*match),) if match else ()
        return Entry(table, exact, tuple(actions), is_default=not match) if actions else None

    changes = []
    for *where, before, after in value(text):
        kind = ChangeKind.MODIFY if after else ChangeKind.DELETE
        changes.append(Change(kind, entry(*where, of=before), entry(*where, of=after)))
    found = FabricPlan({"leaf1": SwitchPlan(False, tuple(changes))})
    return [str(line) for line in describe(FABRIC, found, TICK)]


def entries(
    text: str, folder: Path, keep: str = "", switch: str = "leaf1", tick: str = "1ns", over: str | None = None
) -> list[str]:
    """Returns the entries of a switch in leaf-spine-4 whose text matches a pattern."""
    meant = plan.intended(FABRIC, loaded(text, over), Duration.parse(tick))[switch]
    lines = [f"{_entry(one)}: {one.action_text}" for one in meant]
    return [line for line in lines if re.search(keep, line)]


def classes(text: str, folder: Path) -> str:
    """Returns the summary of the classes of a switch in leaf-spine-4."""
    return plan.classes.summary(plan.intended(FABRIC, loaded(text, "mark_threshold"), TICK)["leaf1"])


def _entry(one: Entry) -> str:
    return f"{one.table} {one.match_text}{' group' if one.selector else ''}"


def explanation(text: str, folder: Path, port: str, keep: str = "", over: str | None = None) -> list[str]:
    """Returns what is explained of a port: levels, whether they win, and values with their origin and line."""
    found = config.explain(loaded(text, over), FABRIC.port(port) or FABRIC.hosts[port].port)
    levels = [
        f"{one.key}: {one.profile}, {'wins' if one.wins else 'overruled'}{_line(one.place)}"
        for one in (*found.queue, *found.eee)
    ]
    values = [f"{one.key} = {one.value}: {one.source}{_line(one.place)}" for one in found.settings]
    return [line for line in (*levels, *values) if re.search(keep, line)]


def _line(place: Place | None) -> str:
    return f", line {place.line}" if place and place.line else ""


def fabric(on: str) -> topology.Topology:
    """Reads a topology, or loads a packaged one."""
    return topology.from_text(on, "t.yaml") if "\n" in on else topology.load(on)


def _problems(
    text: str, tick: str = "1ns", on: str = "leaf-spine-4", over: str | None = None
) -> list[Problem]:
    return config.check(loaded(text, over), fabric(on), Duration.parse(tick))


def _all_are(severity: Severity, problems: list[Problem]) -> Messages:
    assert {one.severity for one in problems} <= {severity}
    return Messages(problems)


def refused_by(text: str, folder: Path, kind: str) -> Messages:
    """Returns which of the loader and the published schema refuse a file."""
    path = folder / "x.yaml"
    path.write_text(text)
    load = {"config": config.load, "targets": load_targets}[kind]
    # The schema does not read files: key files need not exist.
    problems = [one for one in refused(load, path) if "No such file" not in one]
    return Messages(["loader"] * bool(problems) + ["schema"] * (not is_valid(kind, text)))


def fabric_of(text: str, folder: Path) -> dict[str, object]:
    """Returns the nodes and links of a topology."""
    found = fabric(text)
    return {
        "switches": {name: switch.role.value for name, switch in found.switches.items()},
        "hosts": {name: host.leaf for name, host in found.hosts.items()},
        "links": [f"{link.a} {link.b} {link.rate} {link.delay}" for link in found.links],
    }


def shape(text: str, folder: Path) -> dict[str, str]:
    """Returns the number of nodes of each role, and the rates and delays of links, by the role of their ports."""
    found = fabric(text)
    roles = Counter(switch.role.value for switch in found.switches.values())
    links = {port.role.value: f"{port.rate} {port.delay}" for port in found.ports()}
    assert len(set(links.items())) == len({(port.role, port.rate, port.delay) for port in found.ports()})
    assert [one.device_id for one in found.switches.values()] == [*range(1, len(found.switches) + 1)]
    nodes = f"{roles['leaf']} leaves, {roles['spine']} spines, {len(found.hosts)} hosts"
    return {found.name: f"{nodes}, {len(found.links)} links"} | links


def addresses(text: str, folder: Path, of: list[str]) -> list[str]:
    """Returns the addresses of some hosts and switches. No address is that of two of them."""
    found = fabric(text)
    every = (*found.hosts.values(), *found.switches.values())
    assert len({one.mac for one in every}) == len(every)
    assert len({one.ipv4 for one in found.hosts.values()}) == len(found.hosts)
    return [
        f"{one.mac} {one.ipv4} {one.ipv6} {one.leaf} {one.gateway_mac}"
        if (one := found.hosts.get(name))
        else found.switches[name].mac
        for name in of
    ]


def netbox(text: str) -> tuple[str, list[str]]:
    """Returns the topology of NetBox's inventory, with changes, and what it leaves out."""
    return test_netbox.imported(edited(test_netbox.inventory(), text))


def sonic_switch(text: str, folder: Path, dscp_class: str | None = None, **how: object) -> Messages:
    """Returns the problems, or notes, of an import of SONiC's switch with changes of its database.
    `dscp_class`: the class of all DSCPs in its map ONE."""
    database = edited(tables(), text)
    if dscp_class is not None:
        database["DSCP_TO_TC_MAP"] = {"ONE": dict.fromkeys(map(str, range(64)), dscp_class)}
    notes: list[str] = []
    refusals = refused(lambda: notes.extend(sonic.import_(test_sonic.read(database), LEAF1, **how)[1]))
    return refusals or Messages(f"note: {note}" for note in notes)


def ports_of_sonic(text: str, folder: Path, **how: object) -> list[str]:
    """Returns the queue of each port of an import of SONiC's switch with changes of its database."""
    found = sonic.import_(test_sonic.read(edited(tables(), text)), LEAF1, **how)[0]
    queues = {name: one["queue"] for name, one in found["ports"].items()}
    profiles = found["profiles"]["queue"]
    return [
        f"{name} {profiles[queue]['buffer']} {profiles[queue]['aqm']['mode']}"
        for name, queue in queues.items()
    ]


def beside_a_patch(text: str, folder: Path) -> Messages:
    """Returns why a patch for SONiC's switch without queues, with changes, is refused."""
    database = edited(tables(QUEUE={}, BUFFER_QUEUE={}), text)
    meant = config.from_text(
        "profiles: {queue: {own: {buffer: 300KB}}}\nroles: {host_facing: {queue: own}, uplink: {queue: own}}"
    )
    return refused(lambda: sonic.export(test_sonic.read(database), meant, LEAF1, source="c"))


def profiles_of_sonic(text: str, folder: Path, **how: str) -> object:
    """Returns the queue profiles of an import of SONiC's switch with changes of its database."""
    return sonic.import_(test_sonic.read(edited(tables(), text)), LEAF1, **how)[0]["profiles"]["queue"]


def targets_file(text: str, folder: Path) -> Messages:
    path = folder / "targets.yaml"
    path.write_text(text)
    return refused(load_targets, path)


def targets_in(text: str, folder: Path) -> dict[str, list[str]]:
    """Returns the switches of a targets file: address, files of TLS, Thrift. A state folder keeps them whole."""
    path = folder / "targets.yaml"
    path.write_text(text)
    found = load_targets(path)
    assert Targets.from_value(found.as_value(), "revision 1") == found
    assert "PRIVATE KEY" not in str(found.as_value())
    return {
        name: [
            str(one),
            *(Path(part).name for part in (vars(one.tls).values() if one.tls else ()) if part),
            *([one.thrift] if one.thrift else []),
        ]
        for name, one in found.switches.items()
    }


def to_sonic(text: str, folder: Path) -> Messages:
    database = test_sonic.read(tables())
    return refused(lambda: sonic.export(database, config.from_text(text), LEAF1, source="my.yaml"))


def yaml_value(text: str, folder: Path) -> str:
    """Returns the value of a key in a YAML file, as Python shows it."""
    return repr(parse_yaml(f"key: {text}", "f.yaml").value["key"])


def column(text: str, folder: Path, of: str) -> list[str]:
    """Returns the texts of a column's numbers."""
    return list(getattr(scale, of)(value(text)))


def completions(text: str, folder: Path) -> list[str]:
    """Returns what a shell offers for the last word of a command line."""
    *words, incomplete = text.split(" ")
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        found = ShellComplete(main, {}, "eeon", "_EEON_COMPLETE").get_completions(words, incomplete)
    assert not said.getvalue()
    return [item.value or item.type for item in found]


LOOK = dict.fromkeys((*energy.REGISTERS, "occupancy_bytes", "occupancy_packets", "held_packets"), 0)
LOOKS = {"w": (1, 0, 1), "q": (1, 0, 0), "l": (1, 1, 1), "r": (1, 0, 1), "n": (0, 0, 1)}


def storms(text: str, folder: Path, pause: str = "1000s", packets: int = 0) -> list[str]:
    """Returns the changes at looks a second apart, after an empty first one, with their numbers."""
    rules = Watchdog(detect="2s", restore="3s")
    watch = QueueWatch(pfc.Watched(rules, Duration.parse(pause), packets))
    watch.look(QueueLook(0, 0, 0), 0)
    departed = pauses = 0
    found = []
    for number, look in enumerate(text.split(), 1):
        if look == "r":
            departed = pauses = 0
        waiting, left, paused = LOOKS.get(look) or (1, *map(int, look.split("/")))
        departed, pauses = departed + left, pauses + paused
        if change := watch.look(QueueLook(waiting, departed, pauses), number):
            found.append(f"{change} {number}")
    return found


def seconds_left(text: str, folder: Path) -> float:
    since = Moment(wall_seconds=1e9, boot_seconds=500.0, boot_id="a")
    pending = Pending(revision=2, back_to=1, since=since, seconds=600)
    return pending.seconds_left(since.model_copy(update=value(text)))


def has_restarted(text: str, folder: Path) -> bool:
    given = value(text)
    before, after = (
        observed(packets, elapsed_us=seconds[0] * 10**6 if seconds else None)
        for packets, *seconds in given["looks"]
    )
    passed_us = given["passed"] * 10**6 if "passed" in given else None
    return restarted(before, after, passed_us=passed_us) == ["leaf1"]


def gate(text: str, folder: Path, rules: list[str]) -> list[str]:
    """Returns what closes a gate at the second of two looks at leaf1: packets by verdict, cells as
    `pauses_sent 11`, and `ports`."""
    looks = []
    for look in value(text):
        ports = {int(number): up for number, up in look.pop("ports").items()} if "ports" in look else None
        verdicts = [VerdictCount("leaf1", 1, "data", *of, 0) for of in look.items() if of[0] in VERDICTS]
        cells = {tuple(name.split()): count for name, count in look.items() if name not in VERDICTS}
        one = Observation(0, counters=FabricCounters((), tuple(verdicts)), ports=ports, cells=cells)
        looks.append(FabricObservation({"leaf1": one}, {}))
    closing = CounterGate(FABRIC, {}, [])
    return [why for rule in rules for why in closing._broken(Rule.parse(rule), *looks)]


def metrics(text: str, folder: Path) -> dict[str, float]:
    """Returns the samples of one look at leaf1: received packets; verdicts; registers by port; cells, as
    `pauses_sent 11`; storms; the buffers that are meant; and the ports that are down."""
    given = value(text)
    received = tuple(ReceivedCount("leaf1", *of) for of in given.get("received", ()))
    verdicts = tuple(VerdictCount("leaf1", *of) for of in given.get("verdicts", ()))
    registers = {int(port): LOOK | of for port, of in given.get("registers", {}).items()}
    named = [(name.split(), of) for name, of in given.get("cells", {}).items()]
    cells = {(name, int(index)): of for (name, index), of in named}
    counters = FabricCounters(received, verdicts)
    seen = Observation(0, counters=counters, registers=registers or None, cells=cells)
    storms = {int(queue): tuple(of) for queue, of in given.get("storms", {}).items()}
    buffers = {int(port): of for port, of in given.get("buffers", {}).items()}
    down = frozenset(given["down"]) if "down" in given else None
    rows = [
        *of_observation("leaf1", seen, zeros=given.get("zeros", True)),
        *of_storms("leaf1", storms),
        *of_ports(FABRIC.switches["leaf1"], buffers, down),
    ]
    return {" ".join(key).removeprefix("eeon_port_"): number for key, number in exported(rows).items()}


def switches_of_waves(
    text: str, folder: Path, on: str = "sixteen", among: list[str] | None = None
) -> list[str]:
    found = waves(SIXTEEN if on == "sixteen" else topology.load(on), text, among)
    return [" ".join(wave) for wave in found]


def ticks_in_lpi(text: str, folder: Path) -> int:
    given = value(text)
    now, state = given.pop("now"), EEE_STATES.index(given.pop("state", "active"))
    held = {name: number % TICK_VALUES for name, number in given.items()}
    return energy.lpi_ticks(registers(eee_state=state, **held), TEN_G, now)


# Besides the functions above, which tables name, too.
READERS = {
    "eeon": command,
    "topology": lambda text, folder: refused(topology.from_text, text, "f.yaml"),
    "ports": lambda text, folder: [port.number for port in topology.from_text(text).ports()],
    "name of a fabric": lambda text, folder: topology.from_text(text).name,
    "assumed": lambda text, folder: Messages(topology.from_text(text).assumed.splitlines()),
    "round trip": lambda text, folder: str(topology.base_rtt(topology.from_text(text))),
    "netbox": lambda text, folder: refused(netbox, text),
    "fabric of NetBox": lambda text, folder: fabric_of(netbox(text)[0], folder),
    "notes of NetBox": lambda text, folder: netbox(text)[1],
    "loopback": lambda text, folder: is_loopback(text),
    "printable": lambda text, folder: printable(json.loads(f'"{text}"')),
    "SONiC": lambda text, folder: refused(
        lambda: sonic.import_(sonic.parse(text.encode(), "config_db.json"), LEAF1)
    ),
    "waves": lambda text, folder: refused(waves, FABRIC, text),
    "flow": lambda text, folder: refused(Flow.parse, text),
    "quantity": lambda text, folder, kind: parsed(lambda: int(getattr(units, kind).parse(value(text)))),
    "printed": lambda text, folder, kind: str(getattr(units, kind).parse(text)),
    "size": lambda text, folder: parsed(lambda: repr(units.parse_size(text))),
    "probability": lambda text, folder: parsed(lambda: str(units.parse_probability(value(text)))),
    "read": lambda text, folder, over=None: refused(loaded, text, over),
    "planned": lambda text, folder: refused(plan.intended, FABRIC, loaded(text, "mark_threshold"), TICK),
    "metrics address": lambda text, folder: parsed(
        lambda: "{0.host} {0.port}".format(MetricsServer.parse(text))
    ),
    "rule of a gate": lambda text, folder: parsed(lambda: list(vars(Rule.parse(text)).values())),
}
TABLES = sorted((Path(__file__).parent / "expected").glob("*.yaml"))


@pytest.mark.parametrize("row", [row for file in TABLES for row in rows(file)])
def test_answer_is_the_expected_one(row: Row, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue("keys") if "targets" in row.reads else tmp_path
    row.check(globals() | READERS, folder)
