"""The adversary: the smallest traffic that breaks a promise of a configuration.

It draws sets of flows from a seed until one breaks a promise, removes all flows that can be left out (delta
debugging: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002), and makes each
flow smaller. Virtual time makes runs repeatable, so the result always breaks the promise.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from eeon_control.errors import InputError
from eeon_control.model_base import Strict
from eeon_control.sources import Document, read_yaml
from eeon_control.units import Bytes, Duration
from eeon_control.validation import checked, did_you_mean
from eeon_tools.errors import ReplayError
from pydantic import Field

from eeon_experiments import overlay
from eeon_experiments.expand import config_warnings
from eeon_experiments.files import Name, Overlay
from eeon_experiments.quantities import PositiveDurationText, SizeText
from eeon_experiments.resolve import Resolver, Run
from eeon_experiments.results import Row
from eeon_experiments.store import Outcome, Store
from eeon_experiments.tune import scores
from eeon_experiments.tune.bench import Work
from eeon_experiments.versions import Versions
from eeon_experiments.workloads.flows import ListedFlow

_LOTS = 4
"""Number of sets drawn or shrunk at a time; the first in order that breaks a promise counts."""
_HOT = 0.6
"""Share of flows that go to one host."""
_LEAST_BYTES = 1000


class Promise(Strict):
    """A condition on a column that must hold in every run."""

    at_most: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Largest value that the column may have."""


class AttackFile(Strict):
    """An attack of `eeon tune attack`: its fabric, promises and traffic."""

    name: Name
    """Name of the attack, and of its folder of results."""
    base: Overlay
    """Settings of every run, as for an experiment, but without the workload."""
    promises: Annotated[dict[str, Promise], Field(min_length=1)] = {"drops": Promise(at_most=0)}  # noqa: RUF012
    """Conditions that must hold, by column."""
    flows: Annotated[int, Field(strict=True, ge=2, le=1000)] = 12
    """Maximum number of flows in a random set."""
    sizes: Annotated[list[SizeText], Field(min_length=1)] = [Bytes(30_000), Bytes(300_000), Bytes(1_000_000)]  # noqa: RUF012
    """Sizes of the flows."""
    within: PositiveDurationText = Duration(200_000_000)
    """Time within which all flows start."""
    runs: Annotated[int, Field(strict=True, ge=1, le=100_000)] = 200
    """Number of runs of a twin, shrinking included."""
    seed: Annotated[int, Field(strict=True, ge=0, le=2**32 - 1)] = 1
    """Seed of the draws."""


Lot = tuple[ListedFlow, ...]


@dataclass(frozen=True)
class Found:
    """A set of flows that breaks a promise, its run, and the violations. `is_least`: no flow can be left out;
    if false, the runs were used up before this was known."""

    lot: Lot
    run: Run
    broken: Sequence[str]
    is_least: bool


@dataclass
class Attack:
    """One attack. `work` executes runs, `store` keeps outcomes, and `ended` is called after each run."""

    file: AttackFile
    document: Document
    path: Path
    store: Store
    versions: Versions
    work: Work
    ended: Callable[[], None] = lambda: None
    runs: int = 0
    _known: dict[str, Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._resolver = Resolver(self.path.parent, self.versions)
        self._base = overlay.part(self.document, ("base",))

    def checked(self) -> tuple[list[str], list[str]]:
        """Checks everything, and returns the hosts that may send, and the warnings about the configuration.
        Raises InputError if it cannot be run."""
        document = self.document
        problems = [
            document.problem(("promises", name), f"is not a column{did_you_mean(name, scores.COLUMNS)}", "")
            for name in self.file.promises
            if name not in scores.COLUMNS
        ]
        if "workload" in self._base.value:
            problems.append(
                document.problem(("base", "workload"), "is what the attack searches; leave it out", "")
            )
        if problems:
            raise InputError(problems)
        # Any workload can check the rest of the settings, and gives the hosts.
        some = {"kind": "flows", "sizes": {"constant": "1KB"}, "load": "1%", "duration": "1ms"}
        run = self._run_of(some)
        _, topology, _ = run.parts()
        if len(topology.hosts) < 2:
            raise InputError([document.problem(("base", "topology"), "has fewer than two hosts", "")])
        return list(topology.hosts), config_warnings([run])

    def run(self, hosts: Sequence[str]) -> Found | None:
        """Draws sets of flows, and shrinks the first that breaks a promise; returns None if no set does.
        Raises ReplayError if no run ends."""
        draws = random.Random(self.file.seed)
        while self.runs < self.file.runs:
            found = self._first([self._drawn(draws, hosts) for _ in range(_LOTS)])
            if found is not None:
                return self._shrunk(found)
            if not any(one.finished for one in self._known.values()):
                errors = (str(one.measured.get("error")) for one in self._known.values())
                raise ReplayError(f"no run finishes: {next(errors, '')}")
        return None

    def _drawn(self, draws: random.Random, hosts: Sequence[str]) -> Lot:
        hot = draws.choice(hosts)
        flows = []
        for _ in range(draws.randint(2, self.file.flows)):
            source, destination = draws.sample(list(hosts), 2)
            if draws.random() < _HOT and source != hot:
                destination = hot
            size, start = draws.choice(self.file.sizes), draws.randrange(int(self.file.within))
            flows.append(ListedFlow(source=source, destination=destination, bytes=int(size), at_ps=start))
        return tuple(flows)

    def _shrunk(self, found: Found) -> Found:
        parts = 2
        while len(found.lot) > 1:
            size = -(-len(found.lot) // parts)
            starts = range(0, len(found.lot), size)
            smaller = self._any([found.lot[:at] + found.lot[at + size :] for at in starts])
            if smaller is not None:
                found, parts = smaller, max(parts - 1, 2)
            elif size == 1:
                break
            else:
                parts = min(2 * parts, len(found.lot))
        is_changed = True
        while is_changed and self.runs < self.file.runs:
            is_changed = False
            for index in range(len(found.lot)):
                smaller = self._any(_smaller(found.lot, index))
                if smaller is not None:
                    found, is_changed = smaller, True
        return replace(found, is_least=self.runs < self.file.runs)

    def _any(self, lots: Sequence[Lot]) -> Found | None:
        batches = (lots[at : at + _LOTS] for at in range(0, len(lots), _LOTS))
        return next((found for batch in batches if (found := self._first(batch)) is not None), None)

    def _first(self, lots: Sequence[Lot]) -> Found | None:
        """Returns the first set that breaks a promise. Runs at most as many sets as runs are left."""
        runs = {}
        for lot in lots:
            run = self._run_of({"kind": "flows", "listed": [one.model_dump() for one in lot]})
            if run.id in self._known or self.runs < self.file.runs:
                runs[lot] = run
                outcome = None if run.id in self._known else self.store.of_run(run, self.versions)
                if outcome is not None and outcome.finished:
                    self._keep(outcome)
        todo = {run.id: run for run in runs.values() if run.id not in self._known}
        for outcome in self.work(list(todo.values())[: self.file.runs - self.runs]):
            self.store.write(outcome)
            self._keep(outcome)
            self.ended()
        for lot, run in runs.items():
            broken = self._broken(run)
            if broken:
                return Found(lot, run, broken, False)
        return None

    def _keep(self, outcome: Outcome) -> None:
        self._known[outcome.run_id] = outcome
        self.runs += 1

    def _broken(self, run: Run) -> list[str]:
        outcome = self._known.get(run.id)
        if outcome is None or not outcome.finished:
            return []
        row = Row(outcome.measured)
        return [
            f"{column} {number:g}, at most {promise.at_most:g}"
            for column, promise in self.file.promises.items()
            if (number := scores.value(row, column)) is not None and number > promise.at_most
        ]

    def _run_of(self, application: Mapping[str, object]) -> Run:
        over = Document.of_value(
            {"workload": {"applications": {"attack": dict(application)}}}, str(self.path)
        )
        laid = overlay.overlaid([self._base, over])
        return self._resolver.resolve(laid, [self.file.seed], str(self.path))[0]


def _smaller(lot: Lot, index: int) -> list[Lot]:
    """Returns the set with a smaller flow at this place: with an eighth of its bytes, with half of them, and
    with a start at time 0."""
    flow = lot[index]
    changes = [{"bytes": flow.bytes // by} for by in (8, 2) if flow.bytes // by >= _LEAST_BYTES]
    changes += [{"at_ps": 0}] if flow.at_ps else []
    return [(*lot[:index], flow.model_copy(update=one), *lot[index + 1 :]) for one in changes]


def load(path: Path) -> tuple[AttackFile, Document]:
    """Reads an attack file. Raises DataNotFound or InputError."""
    document = read_yaml(path)
    return checked(document, AttackFile), document


def scenario(file: AttackFile, found: Found) -> dict[str, object]:
    """Returns an experiment whose single run is the found one; it needs no other file."""
    settings = {**found.run.settings, "topology": found.run.topology, "config": [found.run.config]}
    title = f"eeon tune attack {file.name}: {'; '.join(found.broken)}"
    return {"name": file.name, "title": title, "base": settings, "seeds": [found.run.seed]}
