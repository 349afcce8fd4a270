"""Plans in words: many ports and routes, or no configuration. For texts, see `expected/plan.yaml`."""

from eeon_control import config, topology
from eeon_control.config.qcn import Qcn
from eeon_control.fabric.describe import describe
from eeon_control.fabric.diff import Change, ChangeKind, difference
from eeon_control.fabric.planning import FabricPlan, SwitchPlan
from eeon_control.plan import Entry, Exact, intended, qcn
from eeon_control.units import Duration
from planned import lines

TICK = Duration(1000)
FABRIC = topology.load("leaf-spine-4")


def said(*changes: Change, push: bool = False, **options) -> list[str]:
    """Returns the lines of a plan that makes these changes at leaf1."""
    plan = FabricPlan({"leaf1": SwitchPlan(push, changes, **options)})
    return [str(line) for line in describe(FABRIC, plan, TICK)]


def test_a_line_about_many_switches_stays_short():
    big = topology.from_text(
        "name: big\ndefaults: {rate: 10Gbps, delay: 500ns}\n"
        "leaf_spine: {leaves: 128, hosts_per_leaf: 4, spines: 2}\n"
    )
    before = config.load("mark_threshold")
    odd = {f"switches.leaf{number}.eee": "standard" for number in range(1, 129, 2)}
    (line,) = lines(before, config.overridden(before, odd), big)
    assert line == (
        ", ".join(f"leaf{number}:1-6" for number in range(1, 25, 2))
        + " and 52 more (384 ports): EEE off -> standard"
    )
    every_second = {f"ports.spine1:{number}.eee": "standard" for number in range(1, 129, 2)}
    assert lines(before, config.overridden(before, every_second), big) == [
        "spine1:1,3,5,7,9,11,13,15,17,19,21,23 and 52 more (spine, 64 ports): EEE off -> standard"
    ]
    fresh = intended(big, before, TICK)
    plan = FabricPlan({name: SwitchPlan(True, tuple(difference([], of))) for name, of in fresh.items()})
    found = describe(big, plan, TICK)
    assert max(len(str(line)) for line in found) < 200
    assert max(len(line.switches) for line in found) == 130


def test_routes_are_counted_when_they_are_many():
    fresh = intended(FABRIC, config.load("drop_tail"), TICK)["leaf1"]
    routes = [entry for entry in fresh if entry.table.endswith("_route")]
    assert said(*difference([], routes), push=True) == [
        "leaf1: the E-EON program is loaded; it replaces another program, or none",
        "leaf1: 6 routes added",
    ]


def test_a_program_with_the_same_tables_is_not_said_to_add_any():
    assert said(push=True, keep_entries=True) == [
        "leaf1: the E-EON program is loaded; it has all tables of the running program, and entries are kept"
    ]


def test_a_qcn_entry_with_another_scale_alone_is_shown_with_its_numbers():
    own = qcn.action(Qcn())
    theirs = own._replace(params=tuple((name, value + (name == "scale_q56")) for name, value in own.params))
    changed = Change(
        ChangeKind.MODIFY, *(Entry("port_qcn", (Exact("queue", 8),), (one,)) for one in (theirs, own))
    )
    (line,) = said(changed)
    before, after = line.split(" -> ")
    assert "scale_q56=" in before and "scale_q56=" in after and not before.endswith(after)
