"""The whole process: baseline, search, held-back seeds, a scan of each knob, and the answer."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from eeon_control.errors import InputError, Problem
from eeon_control.sources import Document, Places
from eeon_tools.errors import ReplayError

from eeon_experiments import overlay
from eeon_experiments.expand import advice
from eeon_experiments.report.runs import over
from eeon_experiments.resolve import Run
from eeon_experiments.results import Spread
from eeon_experiments.tune import bench, knobs, rules, scores, targets, today
from eeon_experiments.tune.bench import Bench
from eeon_experiments.tune.confidence import Difference, Verdict, flat_range
from eeon_experiments.tune.files import BASELINE, Tune
from eeon_experiments.tune.knobs import Knob, Setting
from eeon_experiments.tune.scores import Rows, Scale
from eeon_experiments.tune.search import Search, front

_SHOWN_REASONS = 3
_CHECK = "check"
"""Name of a setting that is only checked and not run."""


@dataclass(frozen=True)
class Tried:
    """One setting of the search: its losses over the search's seeds, those of each single workload, and the
    limits that it violates."""

    name: str
    setting: Setting
    losses: Sequence[float]
    broken: Sequence[str] = ()
    alone: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """One setting on the held-back seeds. `numbers`: by workload and objective. `against`: its improvement
    over the baseline, as a share; `best_beats`: the improvement of the best found setting over it."""

    name: str
    numbers: Mapping[tuple[str, str], Spread]
    broken: Sequence[str]
    against: Difference
    best_beats: Difference
    failed: str = ""


@dataclass(frozen=True)
class Scanned:
    """One knob around the best setting: values that were run with the held-back seeds, their losses (infinite
    if a limit is violated or a run failed), and how they compare with the best."""

    knob: Knob
    values: Sequence[object]
    losses: Sequence[float]
    verdicts: Sequence[Verdict]
    best: int

    @property
    def sensitivity(self) -> float:
        """The range of the loss over the possible values of the knob, as a share of the baseline's loss."""
        known = [one for one in self.losses if math.isfinite(one)]
        return max(known) - min(known) if known else 0.0

    @property
    def flat(self) -> tuple[int, int] | None:
        """The first and last of an ordered knob's values around the best that are the same; else None."""
        return flat_range(self.verdicts, self.best) if self.knob.is_ordered else None


@dataclass(frozen=True)
class Answer:
    """The result of a search. `recommended`: a name in `judged`, or the baseline."""

    tune: Tune
    tried: Sequence[Tried]
    front: Sequence[str]
    best: Tried
    recommended: str
    judged: Sequence[Judged]
    scanned: Sequence[Scanned]
    configuration: Mapping[str, object]
    refused: Sequence[str]
    """Distinct reasons why settings could not be run, in words."""
    dropped: int
    """Number of settings that were dropped after their small form, or after their first seed."""
    search_runs: int
    runs: int
    cpu_seconds: float
    is_whole_grid: bool
    impossible: int
    """Number of settings that the configuration's checks refuse, or with a failed run."""
    warnings: Sequence[str]
    """Warnings about the configurations of the best setting and of the baseline."""

    def of(self, name: str) -> Judged:
        """Returns the setting with this name from `judged`."""
        return next(one for one in self.judged if one.name == name)

    def alone(self) -> dict[str, Tried]:
        """Returns the setting that was best in the search for each single workload; empty if there is only
        one workload."""
        if len(self.tune.file.workloads) == 1:
            return {}
        held = [one for one in self.tried if not one.broken]
        return {name: min(held, key=lambda one: one.alone[name]) for name in self.best.alone}


@dataclass
class Tuning:
    """One search on one bench. `says` is called with messages about the progress."""

    tune: Tune
    bench: Bench
    says: Callable[[str], None] = lambda text: None
    compared: list[str] = field(default_factory=list)
    """Names of rules that are compared with the best setting."""
    _reasons: dict[str, int] = field(default_factory=dict)
    _tried: list[Tried] = field(default_factory=list)
    _dropped: int = 0

    def check(self) -> None:
        """Checks everything that can be checked without a run. Raises InputError with all mistakes."""
        problems = list(targets.lacking(self.tune))
        self.bench.add(BASELINE, *([] if self.tune.held is None else [self.tune.held]))
        if self.tune.today is not None:
            today.check(self._run(BASELINE), self.tune.today)
        if self.tune.file.small:
            self.bench.points(BASELINE, self.tune.file.seeds[0], small=True)
        self._rules()
        for knob in self.tune.space.knobs:
            try:
                problems += self._check_knob(knob)
            except InputError as error:
                problems += error.problems
        if problems:
            raise InputError(problems)

    def run(self) -> Answer:
        """Searches after `check`, and judges the found settings. Raises InputError, or ReplayError if the
        baseline fails."""
        file = self.tune.file
        cost = len(file.workloads) * len(file.seeds)
        most = 0 if file.budget.runs is None else file.budget.runs // cost - 1
        search = Search(self.tune.space, len(file.objectives), file.sampler_seed, most)
        self.says("baseline")
        scale = Scale.of(file, self._needed(BASELINE, file.seeds))
        self._search(search, scale)
        search_runs = self.bench.runs
        possible = [one for one in self._tried if not one.broken]
        if not possible:
            raise ReplayError(self._nothing_holds())
        best = min(possible, key=lambda one: scale.together(one.losses))
        self.says("held-back seeds")
        judged, scale, of_best = self._judged(best)
        self.says("scan of each knob")
        active = [knob for knob in self.tune.space.knobs if knob.name in best.setting]
        scanned = [self._scanned(knob, best, scale, of_best) for knob in active]
        recommended = best.name if _is_confirmed(judged[0], judged[1], file.same) else BASELINE
        points = self.bench.points(recommended, file.seeds[0])
        impossible = sum(self._reasons.values())
        return Answer(
            tune=self.tune,
            tried=self._tried,
            front=front({one.name: one.losses for one in possible}),
            best=best,
            recommended=recommended,
            judged=judged,
            scanned=scanned,
            configuration=points[0].run.config,
            refused=[f"{count} x {why}" if count > 1 else why for why, count in self._reasons.items()],
            dropped=self._dropped,
            search_runs=search_runs,
            runs=self.bench.runs,
            cpu_seconds=self.bench.cpu_seconds,
            is_whole_grid=len(self._tried) + self._dropped + impossible >= self.tune.space.size(),
            impossible=impossible,
            warnings=self._warnings(best.name),
        )

    def expected(self) -> int:
        """Returns the approximate total number of runs, as far as it is known."""
        file = self.tune.file
        workloads, held = len(file.workloads), len(file.held_back)
        search = (self.tune.space.size() + 1) * workloads * len(file.seeds)
        if file.budget.runs is not None:
            search = min(search, file.budget.runs)
        if file.budget.minutes is not None and self.bench.cpu_seconds:
            search = min(
                search, math.ceil(60 * file.budget.minutes * self.bench.runs / self.bench.cpu_seconds)
            )
        scanned = sum(min(len(knob.values), file.scan) for knob in self.tune.space.knobs)
        return search + (len(self.compared) + 2 + scanned) * workloads * held

    def _warnings(self, best: str) -> list[str]:
        names = {best: "the best found", BASELINE: f"the {BASELINE}"}
        seed = self.tune.file.seeds[0]
        told = {one: who for name, who in names.items() for one in advice(self.bench.points(name, seed))}
        return [f"{who}: {one}" for one, who in told.items()]

    # Alternatives.

    def _rules(self) -> None:
        """Adds the rules that can be run here. Raises InputError if a rule of the file cannot."""
        # With the file's own baseline: today's settings have profiles with other names.
        self.bench.add(_CHECK)
        settings, topology, config = self._run(_CHECK).parts()
        self.bench.forget(_CHECK)
        for name in self.tune.file.rules:
            self.bench.add(name, overlay.part(self.tune.document, ("rules", name)))
        found = list(self.tune.file.rules)
        at_knobs = Places(self.tune.document.place(("knobs",)))
        for name, rule in rules.rules(self.tune.space, settings, topology, config).items():
            if name in found:
                continue
            with suppress(InputError):  # does not match the rest of the file; the user did not request it
                self.bench.add(name, bench.candidate(self.tune), Document({"config": [rule]}, at_knobs))
                found.append(name)
        self.compared = found

    def _run(self, name: str) -> Run:
        return self.bench.points(name, self.tune.file.seeds[0])[0].run

    # Effects of knobs.

    def _check_knob(self, knob: Knob) -> list[Problem]:
        """Checks that each end of a range, and each choice, is possible with the first or the last values of
        the others, and that two of them give the switches different input. Returns the problems; raises
        InputError for a value that is not possible."""
        file = self.tune.file
        ends = (knob.values[0], knob.values[-1]) if knob.is_ordered else knob.values
        against: list[Problem] = []
        is_felt = False
        refusals: dict[str, list[InputError]] = {knobs.text(value): [] for value in ends}
        for end in (0, -1):
            told: list[object] = []
            for value in knob.values if file.target != "twin" else ends:
                found = self._checked(knob, value, end)
                if isinstance(found, InputError):
                    refusals.setdefault(knobs.text(value), []).append(found)
                    continue
                against += targets.refused(self.tune, knob, knobs.text(value), found)
                told.append(targets.told(found))
            is_felt = is_felt or any(one != told[0] for one in told[1:])
        for value in ends:
            if len(refusals[knobs.text(value)]) == 2:
                raise refusals[knobs.text(value)][0]
        if not against and not is_felt:
            return [
                self.tune.document.problem(
                    ("knobs", knob.name, "path"),
                    f"{knobs.text(ends[0])} and {knobs.text(ends[-1])} configure every switch and "
                    "host alike: no port uses what it sets; attach the profile, or leave the knob out",
                )
            ]
        return against[:1]

    def _checked(self, knob: Knob, value: object, end: int) -> Run | InputError:
        """Returns a run with this value and the first (0) or last (-1) values of the other knobs, or the
        error if there is none."""
        setting = {one.name: one.values[end] for one in self.tune.space.knobs} | {knob.name: value}
        for name, wanted in knob.when.items():
            setting[name] = wanted[0]
        try:
            self._add(_CHECK, self.tune.space.completed(setting))
            return self._run(_CHECK)
        except InputError as error:
            return error
        finally:
            self.bench.forget(_CHECK)

    def _add(self, name: str, setting: Setting) -> None:
        self.bench.add(name, bench.candidate(self.tune), bench.of_setting(self.tune, setting))

    # The search.

    def _search(self, search: Search, scale: Scale) -> None:
        file, number, early = self.tune.file, 0, scale
        if file.small:
            early = Scale.of(file, self._needed(BASELINE, file.seeds[:1], small=True))
        while not self._is_spent():
            asked = search.ask()
            if not asked:
                return
            named: dict[str, Setting] = {}
            for setting in asked:
                number += 1
                try:
                    self._add(knobs.name(number), setting)
                except InputError as error:
                    self._refuse(error.problems[0].rule)
                    search.tell(setting, None, {})
                    continue
                named[knobs.name(number)] = setting
            left = list(self._affordable(named))
            if file.small or len(file.seeds) > 1:
                left = self._drop(search, early, left, named)
            found = self.bench.rows(left, file.seeds)
            for name in left:
                self._tell(search, scale, name, named[name], found[name])

    def _is_spent(self) -> bool:
        budget = self.tune.file.budget
        cost = len(self.tune.file.workloads) * len(self.tune.file.seeds)
        # The remaining seeds of a dropped setting are not run, and leave their budget to others.
        over = budget.runs is not None and self.bench.runs + cost > budget.runs
        return over or (budget.minutes is not None and self.bench.cpu_seconds >= 60 * budget.minutes)

    def _affordable(self, named: Mapping[str, Setting]) -> Sequence[str]:
        """Returns as many names as the budget allows, with all seeds of each."""
        cost = len(self.tune.file.workloads) * len(self.tune.file.seeds)
        runs = self.tune.file.budget.runs
        return list(named)[: None if runs is None else max(0, (runs - self.bench.runs) // cost)]

    def _drop(
        self, search: Search, scale: Scale, names: Sequence[str], named: Mapping[str, Setting]
    ) -> list[str]:
        """Runs the first seed alone, in the small form if there is one. Returns the names that the pruner
        keeps."""
        seed = self.tune.file.seeds[0]
        found = self.bench.rows(names, [seed], small=bool(self.tune.file.small))
        left = []
        for name in names:
            rows = found[name]
            loss = math.inf if isinstance(rows, str) else scale.together(scale.losses(rows, seed))
            if math.isfinite(loss) and search.is_dropped(named[name], loss):
                self._dropped += 1
            else:
                left.append(name)
        return left

    def _tell(self, search: Search, scale: Scale, name: str, setting: Setting, rows: Rows | str) -> None:
        if isinstance(rows, str):
            self._refuse(f"a run failed: {rows}")
            search.tell(setting, None, {})
            return
        seeds = self.tune.file.seeds
        losses, broken = scale.mean(rows, seeds), scale.broken(rows, seeds)
        search.tell(setting, losses, broken)
        if all(map(math.isfinite, losses)):
            found = [key for key, one in broken.items() if one > 0]
            self._tried.append(Tried(name, setting, losses, found, scale.alone(rows, seeds)))

    def _refuse(self, why: str) -> None:
        self._reasons[why] = self._reasons.get(why, 0) + 1

    def _nothing_holds(self) -> str:
        broken = [rule for one in self._tried for rule in one.broken]
        if broken:
            most = min(set(broken), key=lambda rule: (-broken.count(rule), rule))
            return (
                f"no setting of {len(self._tried)} satisfies all limits; {broken.count(most)} break {most}: "
                "loosen it, widen a knob's range, or give a larger budget"
            )
        reasons = "; ".join(list(self._reasons)[:_SHOWN_REASONS])
        return f"no setting finished its runs: {reasons or 'the budget is too small'}"

    # Results on held-back seeds.

    def _needed(self, name: str, seeds: Sequence[int], *, small: bool = False) -> Rows:
        rows = self.bench.rows([name], seeds, small=small)[name]
        if isinstance(rows, str):
            raise ReplayError(f"the {name} does not finish its runs: {rows}")
        return rows

    def _judged(self, best: Tried) -> tuple[list[Judged], Scale, dict[int, float]]:
        """Judges the baseline, the best and the rules on held-back seeds. Returns also the scale of losses on
        these seeds, and the best setting's losses by seed."""
        file = self.tune.file
        found = self.bench.rows([BASELINE, best.name, *self.compared], file.held_back)
        scale = Scale.of(file, self._needed(BASELINE, file.held_back))
        of_best = self._together(scale, found[best.name])
        judged = []
        for name, rows in found.items():
            losses = self._together(scale, rows)
            against = Difference.of(losses, dict.fromkeys(file.held_back, 1.0))
            best_beats = Difference.of(of_best, losses)
            if isinstance(rows, str):
                judged.append(Judged(name, {}, [], against, best_beats, failed=rows))
            else:
                broken = self._violated(scale, rows)
                judged.append(Judged(name, self._numbers(rows), broken, against, best_beats))
        return judged, scale, of_best

    def _violated(self, scale: Scale, rows: Rows) -> list[str]:
        return [key for key, excess in scale.broken(rows, self.tune.file.held_back).items() if excess > 0]

    def _together(self, scale: Scale, rows: Rows | str) -> dict[int, float]:
        """Returns all objectives as one number by held-back seed; infinite if a run failed."""
        if isinstance(rows, str):
            return dict.fromkeys(self.tune.file.held_back, math.inf)
        return {seed: scale.together(scale.losses(rows, seed)) for seed in self.tune.file.held_back}

    def _numbers(self, rows: Rows) -> dict[tuple[str, str], Spread]:
        found = {}
        for workload in self.tune.file.workloads:
            for column in self.tune.file.objectives:
                known = [scores.value(rows[workload, seed], column) for seed in self.tune.file.held_back]
                spread = over(one for one in known if one is not None)
                if spread is not None:
                    found[workload, column] = spread
        return found

    def _scanned(self, knob: Knob, best: Tried, scale: Scale, of_best: Mapping[int, float]) -> Scanned:
        file, count = self.tune.file, len(knob.values)
        at = knob.values.index(best.setting[knob.name])
        chosen = _spread_over(count, file.scan, at) if knob.is_ordered else range(count)
        names = {at: best.name}
        for index in chosen if file.scan else ():
            if index != at:
                setting = self.tune.space.completed({**best.setting, knob.name: knob.values[index]})
                with suppress(InputError):  # for example, a minimum above the best setting's maximum
                    self._add(f"{knob.name}.{index}", setting)
                    names[index] = f"{knob.name}.{index}"
        names = dict(sorted(names.items()))
        found = self.bench.rows(list(names.values()), file.held_back)
        losses: list[float] = []
        verdicts: list[Verdict] = []
        for index, name in names.items():
            rows = found[name]
            by_seed = self._together(scale, rows)
            is_out = isinstance(rows, str) or bool(self._violated(scale, rows))
            losses.append(math.inf if is_out else math.fsum(by_seed.values()) / len(by_seed))
            if is_out:
                verdicts.append("worse")
            else:
                of_value = Difference.of(by_seed, of_best)
                verdicts.append("same" if index == at else of_value.verdict(file.same))
        values = [knob.values[index] for index in names]
        return Scanned(knob, values, losses, verdicts, list(names).index(at))


def _spread_over(count: int, most: int, at: int) -> list[int]:
    """Returns at most `most` indices below `count`, evenly spread: `at`, both ends if `most` exceeds 2."""
    if most < 2 or count <= most:
        return list(range(count)) if count <= most else [at]
    even = {round(step * (count - 1) / (most - 1)) for step in range(most)}
    if at not in even:
        inner = [one for one in even if one not in (0, count - 1)] or [0]
        even.discard(min(inner, key=lambda one: abs(one - at)))
        even.add(at)
    return sorted(even)


def _is_confirmed(baseline: Judged, best: Judged, same: float) -> bool:
    """Returns whether the best holds every limit on held-back seeds, and beats the baseline there or replaces
    one that breaks a limit."""
    holds = not best.broken and not best.failed
    return holds and (bool(baseline.broken) or best.against.verdict(same) == "better")
