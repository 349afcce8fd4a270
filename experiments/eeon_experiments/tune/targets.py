"""Detection, before the first run, of knobs that have no effect or that the target lacks. Pure functions."""

from collections.abc import Iterator

from eeon_control import config as configs
from eeon_control import plan
from eeon_control.config import FabricConfig
from eeon_control.errors import InputError, Problem, Severity
from eeon_control.sonic.database import Database
from eeon_control.sonic.exporting import export
from eeon_control.topology import Topology
from eeon_control.units import Duration
from eeon_tools.replay.spec import TICK_PS

from eeon_experiments.fabric import spec_of
from eeon_experiments.resolve import Run
from eeon_experiments.tune.files import Tune
from eeon_experiments.tune.knobs import Knob

_BMV2_TICK = Duration.parse("1us")


def told(run: Run) -> object:
    """Returns the input of the engine and the switches, which is equal for two runs that cannot differ."""
    settings, topology, config = run.parts()
    return spec_of(settings, topology, config, 0), plan.intended(topology, config, Duration(TICK_PS))


def lacking(tune: Tune) -> Iterator[Problem]:
    """Yields knobs that no configuration of the target has, regardless of their values."""
    target = tune.file.target
    for knob in tune.space.knobs:
        for path in knob.paths:
            rule = ""
            if path[:2] == ("roles", "host"):
                rule = f"sets hosts' NICs, which only a twin has, not {target}"
            elif path[0] == "classes" and path[-1] == "quantum":
                rule = f"is a queue weight; {target} has only strict priority"
            if rule and target != "twin":
                place = ("knobs", knob.name, "path")
                yield tune.document.problem(place, f"{rule}; leave this knob out", ".".join(path))


def refused(tune: Tune, knob: Knob, value: str, run: Run) -> Iterator[Problem]:
    """Yields the target's objections to a configuration with this value of a knob."""
    _, topology, config = run.parts()
    for problem in _against(tune.file.target, config, topology):
        yield tune.document.problem(
            ("knobs", knob.name, "path"), f"{tune.file.target}: {problem.key}: {problem.rule}", value
        )


def _against(target: str, config: FabricConfig, topology: Topology) -> list[Problem]:
    if target == "bmv2":
        found = configs.check(config, topology, _BMV2_TICK)
        return [one for one in found if one.severity is Severity.ERROR]
    if target == "sonic":
        try:
            for switch in topology.switches.values():
                # A CONFIG_DB with the switch's ports, so that an export can check their queues.
                ports = range(max(port.number for port in switch.ports))
                database = Database("tune", {"PORT": {f"Ethernet{number}": {} for number in ports}})
                export(database, config, switch, source="tune")
        except InputError as error:
            return list(error.problems)
    return []
