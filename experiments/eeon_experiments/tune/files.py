"""The tune file: a fabric, workloads, knobs, objectives, and a budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from eeon_control.errors import InputError, Problem
from eeon_control.model_base import Strict
from eeon_control.sources import Document, read_yaml
from eeon_control.validation import checked, did_you_mean
from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from eeon_experiments.files import MAX_FILE_BYTES, MAX_FILE_VALUES, AxisName, Name, Overlay, Overlays, Seeds
from eeon_experiments.quantities import ShareText
from eeon_experiments.tune import knobs, scores

if TYPE_CHECKING:
    from eeon_experiments.tune.today import Today

MAX_STEPS = 1000
BASELINE = "baseline"
_FEWEST_HELD_BACK = 3


Value = Annotated[
    object, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "object"}]})
]


def _paths(value: object) -> object:
    return [value] if isinstance(value, str) else value


class KnobEntry(Strict):
    """One thing that may vary. Either `from` and `to`, or `choices`."""

    path: Annotated[
        list[Annotated[str, Field(pattern=r"^[a-z_]+(\.[^.\s]+)+$")]],
        Field(min_length=1),
        BeforeValidator(_paths),
    ]
    """Dotted path of the configuration key that the knob sets, such as `profiles.queue.fabric.aqm.threshold`;
    a list sets several keys to one value."""
    low: str | float | None = Field(default=None, alias="from")
    """The smallest value, in the configuration's units."""
    high: str | float | None = Field(default=None, alias="to")
    """The largest value."""
    steps: Annotated[int, Field(strict=True, ge=2, le=MAX_STEPS)] = 16
    """Maximum number of values, from the smallest to the largest, that the search tries."""
    log: Annotated[bool, Field(strict=True)] = False
    """Whether the values are spaced logarithmically instead of linearly."""
    choices: list[Value] | None = None
    """Values without an order, such as names of profiles, or mappings."""
    when: dict[str, list[Value]] = Field(default_factory=dict)
    """The knob applies only if other knobs have one of these values: `{mode: [red]}`."""

    @model_validator(mode="after")
    def _range_or_choices(self) -> Self:
        ranged = {"low", "high"} & self.model_fields_set
        if self.choices is not None and (ranged or {"steps", "log"} & self.model_fields_set):
            raise ValueError("has choices, so from, to, steps and log have no effect; leave them out")
        if self.choices is None and ranged != {"low", "high"}:
            raise ValueError("needs from and to, or choices")
        if self.choices is not None and len(self.choices) < 2:
            raise ValueError("has fewer than two choices, so nothing varies; add one or leave the knob out")
        choices = self.choices or []
        if any(choices.count(one) > 1 for one in choices):
            raise ValueError("has a choice twice; leave one out")
        return self


class LimitEntry(Strict):
    """Upper or lower limit of a column."""

    at_most: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """For every seed."""
    at_least: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """For every seed."""
    above_baseline: ShareText | None = None
    """Maximum increase over the baseline, in the mean over seeds: `2%`."""
    below_baseline: ShareText | None = None
    """Maximum decrease below the baseline."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"give one of {', '.join(type(self).model_fields)}")
        if self.at_most is not None and self.at_least is not None and self.at_least > self.at_most:
            raise ValueError(
                f"at_least {self.at_least:g} is above at_most {self.at_most:g}: no setting can satisfy both"
            )
        return self


class Budget(Strict):
    """Limits on the cost of the search. The runs of held-back seeds and scans are additional."""

    runs: Annotated[int, Field(strict=True, ge=1, le=100_000)] | None = None
    """Number of runs of a twin: each setting takes one per workload and seed."""
    minutes: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Processor time of the runs in minutes."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.runs is None and self.minutes is None:
            raise ValueError("give runs, minutes or both")
        return self


Goal = Literal["least", "most"]


class TuneFile(Strict):
    """A search of `eeon tune`: its settings, objectives and limits."""

    name: Name
    """Name of the search, and of its folder of results."""
    title: str = ""
    """Purpose of the search, in one line."""
    base: Overlay
    """Settings of every run; its keys are those of a run of an experiment. `config` is the baseline, the
    settings that run today. The default is `drop_tail`."""
    workloads: Overlays = {"base": {}}  # noqa: RUF012
    """Workloads by name, each an overlay on `base`. The default is the workload of `base`."""
    weights: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(default_factory=dict)
    """Weights of workloads and objectives, by name. The default is 1."""
    candidate: Overlay = Field(default_factory=dict)
    """Overlay on `base` for every setting that is tried, below the values of its knobs, but not for the
    baseline: for example the AQM whose threshold varies, and the TCP that reacts to it."""
    small: Overlay = Field(default_factory=dict)
    """Overlay on every workload, such as a shorter duration, for a first, cheap run of each setting with the
    first seed: the search drops a setting that is worse than the median of the settings before it. These runs
    do not count as `runs` of the budget."""
    knobs: Annotated[dict[AxisName, KnobEntry], Field(min_length=1)]
    """The knobs, which may vary, by name."""
    objectives: Annotated[dict[str, Goal], Field(min_length=1)]
    """Objectives, as columns of a row: `runtime_seconds: least`, `throughput_per_node_bps: most`; also
    `drops`, the packets that switches and NICs dropped."""
    limits: dict[str, LimitEntry] = Field(default_factory=dict)
    """Conditions that must hold, by column."""
    budget: Budget = Budget(runs=64)
    """Limits on the cost of the search."""
    seeds: Seeds = [1]  # noqa: RUF012
    """Seeds of the search."""
    held_back: Seeds = [101, 102, 103, 104, 105]  # noqa: RUF012
    """Seeds that the search does not use, to measure the confidence of the answer; at least three."""
    same: ShareText = 0.01
    """Largest difference that does not matter."""
    scan: Annotated[int, Field(strict=True, ge=0, le=MAX_STEPS)] = 7
    """Number of values of each knob, around the best setting, that run with the held-back seeds to find those
    without a difference; 0 for none."""
    rules: Overlays = Field(default_factory=dict)
    """Settings to compare with, each an overlay on `base`. Rules of thumb for the knobs' queue profiles are
    included automatically."""
    target: Literal["twin", "bmv2", "sonic"] = "twin"
    """The target on which the configuration is to run. A knob that the target lacks is refused."""
    sampler_seed: Annotated[int, Field(strict=True, ge=0, le=2**32 - 1)] = 1
    """Seed of the sampler's draws."""


@dataclass(frozen=True)
class Tune:
    """A file whose own keys are checked, with its knobs' values; its runs are not checked yet.

    `today`: the settings and load of a running fabric; `held` overlays them on the baseline, and `measured`
    overlays the load on workloads.
    """

    file: TuneFile
    document: Document
    path: Path
    space: knobs.Space
    today: Today | None = None
    held: Document | None = None
    measured: Mapping[str, Document] = field(default_factory=dict)


def load(path: Path) -> Tune:
    """Reads a tune file. Raises DataNotFound or InputError, with every mistake of its own keys."""
    document = read_yaml(path, MAX_FILE_BYTES, MAX_FILE_VALUES)
    file = checked(document, TuneFile)
    problems = list(_problems(file, document))
    found: dict[str, knobs.Knob] = {}
    for name, entry in file.knobs.items():
        try:
            found[name] = _knob(name, entry)
        except ValueError as error:
            problems.append(document.problem(("knobs", name), str(error), ""))
    problems += [
        document.problem(("knobs", name, "when"), rule)
        for name, rule in knobs.broken_conditions(found.values())
        if len(found) == len(file.knobs)
    ]
    if problems:
        raise InputError(problems)
    return Tune(file, document, path, knobs.Space(tuple(found.values())))


def _knob(name: str, entry: KnobEntry) -> knobs.Knob:
    if entry.choices is not None:
        values, is_ordered = tuple(entry.choices), False
    else:
        values, is_ordered = knobs.values(entry.low, entry.high, entry.steps, log=entry.log), True
    paths = tuple(tuple(path.split(".")) for path in entry.path)
    return knobs.Knob(name, paths, values, is_ordered, {key: tuple(one) for key, one in entry.when.items()})


def _problems(file: TuneFile, document: Document) -> Iterator[Problem]:
    for key in ("objectives", "limits"):
        for column in getattr(file, key):
            if column not in scores.COLUMNS:
                near = did_you_mean(column, scores.COLUMNS)
                yield document.problem((key, column), f"is not a column of numbers{near}", "")
    for name in file.weights:
        if name not in {*file.workloads, *file.objectives}:
            near = did_you_mean(name, [*file.workloads, *file.objectives])
            yield document.problem(("weights", name), f"is neither a workload nor an objective{near}")
    both = sorted(set(file.seeds) & set(file.held_back))
    if both:
        yield document.problem(
            ("held_back",),
            f"seed {both[0]} is also a seed of the search, which it cannot confirm; choose another",
            "",
        )
    for key in ("seeds", "held_back"):
        seeds = getattr(file, key)
        if len(set(seeds)) < len(seeds):
            yield document.problem((key,), "has a seed twice", "")
    if len(file.held_back) < _FEWEST_HELD_BACK:
        yield document.problem(
            ("held_back",), f"has {len(file.held_back)} seeds; their spread needs at least three", ""
        )
    cost = len(file.workloads) * len(file.seeds)
    if file.budget.runs is not None and file.budget.runs < 2 * cost:
        yield document.problem(
            ("budget", "runs"),
            f"the baseline and one setting take {2 * cost} runs ({len(file.workloads)} workloads, "
            f"{len(file.seeds)} seeds each); give at least that many, or fewer seeds",
        )
    for name in file.rules:
        if name == BASELINE or knobs.is_setting_name(name):
            yield document.problem(("rules", name), "is a name that the search uses; choose another", "")
