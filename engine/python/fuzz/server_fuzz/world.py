"""Parts that every target needs: programs with their P4Info, new switches, frames, and the conditions that
hold for a switch after any calls."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from logging.handlers import BufferingHandler
from pathlib import Path
from random import Random
from typing import Any

from eeon_engine import Program, Switch
from eeon_engine.exceptions import InvalidValueError
from eeon_engine.p4runtime.program.pipeline import Pipeline, config_from_files

from differential import program as programs
from differential.frames import Choices, Frames, Subject
from differential.subjects import OVER_P4RUNTIME

from .draws import Draws

_RESOURCES = Subject(
    name="resources",
    path=Path(__file__).resolve().parents[2] / "tests/programs/resources.json",
    p4info=Path(__file__).resolve().parents[2] / "tests/programs/resources.p4info.txtpb",
    values={("key", "value"): (0, 1, 2, 3), ("ethernet", "type"): (0, 1, 0x0800, 0x1234)},
)
_SUBJECTS = {subject.path.stem: subject for subject in (*OVER_P4RUNTIME, _RESOURCES)}
PROGRAMS = tuple(_SUBJECTS)

_FAST_PS = 1_000_000
_SHORT = 32


class Finding(AssertionError):
    """A violated condition."""


def require(holds: bool, what: object) -> None:
    """Raises a `Finding` unless the condition holds. Not an `assert`, which `python -O` would remove."""
    if not holds:
        raise Finding(what)


@dataclass(frozen=True)
class World:
    """A program with its checked P4Info."""

    name: str
    subject: Subject
    layout: programs.Program
    program: Program
    pipeline: Pipeline

    @property
    def info(self) -> Any:
        """The P4Info."""
        return self.pipeline.config.p4info

    def names(self, kind: str) -> list[str]:
        """Returns the full names of the objects of one kind."""
        return [item.preamble.name for item in getattr(self.info, kind)]

    def ids(self, kind: str) -> list[int]:
        """Returns the ids of the objects of one kind."""
        return [item.preamble.id for item in getattr(self.info, kind)]

    def choices(self, draws: Random) -> Choices:
        """Returns choices in which frames usually have the values that the program expects."""
        usual = {field: list(values) for field, values in self.subject.values.items()}
        return Choices(self.layout, self.subject, draws, usual)

    def switch(self) -> Switch:
        """Returns a new switch that runs the program."""
        return Switch(self.program)


@cache
def world(name: str) -> World:
    """Returns one of `PROGRAMS`."""
    subject = _SUBJECTS[name]
    config = config_from_files(subject.path.read_bytes(), subject.p4info.read_bytes())
    pipeline = Pipeline.from_config(config)
    return World(name, subject, programs.load(subject.path), pipeline.program, pipeline)


@contextmanager
def no_bug_logged() -> Iterator[None]:
    """Raises `Finding` if the servers log an error in the block: they answer a bug with a status, and log its
    traceback. Warnings are about clients' mistakes, and are dropped."""
    log = logging.getLogger("eeon_engine")
    caught, propagate = BufferingHandler(10_000), log.propagate
    caught.setLevel(logging.ERROR)
    log.addHandler(caught)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(caught)
        log.propagate = propagate
    for record in caught.buffer:
        cause = record.exc_info[1] if record.exc_info else None
        raise Finding(f"the server logged: {record.getMessage()}: {cause!r}") from cause


def traffic(chosen: World, switch: Switch, draws: Draws) -> None:
    """Injects one to four frames, and lets time pass for them."""
    frames = Frames(chosen.choices(Random(draws.number(2))))
    for _ in range(1 + draws.randrange(4)):
        switch.inject(*frames.frame())
        switch.advance_to(switch.now_ps + draws.choice((0, 1, _FAST_PS, 10**12)))


def check_conservation(switch: Switch) -> None:
    """Requires that no packet is lost or created."""
    stats: dict[str, Any] = switch.stats()
    came = stats["received"] + stats["copies"]
    gone = stats["sent"] + sum(stats["drops"].values()) + stats["in_flight"]
    require(came == gone, f"packets are not conserved: {stats}")


def engine_state(switch: Switch, world: World) -> dict[Any, Any]:
    """Returns the engine's state, with the handles of everything in it."""
    state: dict[Any, Any] = {}
    for name in world.names("action_profiles"):
        groups = []
        with suppress(InvalidValueError):
            # It may have no selector and so no groups.
            groups = switch.mt_act_prof_get_groups(name)
        state["profile", name] = (switch.mt_act_prof_get_members(name), groups)
    for name in world.names("tables"):
        state["table", name] = (switch.mt_get_entries(name), switch.mt_get_default_entry(name))
    for name in world.names("value_sets"):
        state["value set", name] = switch.parse_vset_get(name)
    return {
        **state,
        "registers": _cells(world.info.registers, switch.register_read_range),
        "counters": _cells(world.info.counters, switch.read_counters_range),
        "multicast": switch.mc_get_entries(),
        "clone sessions": switch.mirroring_sessions(),
    }


def _cells(arrays: Any, read: Callable[[str, int, int], Any]) -> Any:
    """Returns arrays by name: short ones whole, and of long ones the cells that targets write most."""
    return {
        (array.preamble.name, start): read(array.preamble.name, start, end)
        for array in arrays
        for start, end in (
            [(0, array.size)] if array.size <= _SHORT else [(0, _SHORT), (array.size - 1, array.size)]
        )
    }
