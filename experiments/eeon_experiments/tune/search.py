"""Choice of the next setting to run, by Optuna's samplers. This module runs nothing.

The same file gives the same questions in the same order, regardless of how long answers take: settings are
requested in rounds of a fixed size, and a round's losses are reported in the order of the requests. An
interrupted search therefore continues when it is started again and reads the answers from the store.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from types import ModuleType
from typing import TYPE_CHECKING

from eeon_tools.errors import UnavailableError

from eeon_experiments.tune.knobs import Space, key

if TYPE_CHECKING:
    import optuna

ROUND = 4
"""Number of settings requested before the first loss is reported."""
_STARTUP = 8
"""Number of random settings before the sampler uses its model."""
_DUPLICATES = 20
"""Number of consecutive repeated draws after which the nearest new setting is taken."""


class Search:
    """A search with an ask-and-tell interface: it returns settings, and receives their losses."""

    def __init__(self, space: Space, objectives: int, seed: int, most: int) -> None:
        """Sets up a search. `most`: number of settings that the budget allows; a space with at most that many
        is searched in order.

        Raises UnavailableError if Optuna is not installed.
        """
        library = _optuna()
        self._space = space
        self._is_small = space.size() <= most
        sampler = library.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=_STARTUP)
        self._study: optuna.Study = library.create_study(
            directions=["minimize"] * objectives, sampler=sampler
        )
        # A separate study, because a study with several objectives cannot have a pruner.
        self._early: optuna.Study = library.create_study(
            pruner=library.pruners.MedianPruner(n_startup_trials=_STARTUP)
        )
        self._pruned = library.trial.TrialState.PRUNED
        self._failed = library.trial.TrialState.FAIL
        self._asked: dict[str, tuple[dict[str, object], optuna.trial.Trial]] = {}
        self._told: dict[str, tuple[list[float] | None, Mapping[str, float]]] = {}

    def ask(self) -> list[dict[str, object]]:
        """Returns the next round of settings not requested before. It is empty when none are left."""
        return list(islice(iter(self._next, None), ROUND))

    def _next(self) -> dict[str, object] | None:
        for _ in range(0 if self._is_small else _DUPLICATES):
            trial = self._study.ask()
            setting = self._suggested(trial)
            if key(setting) not in self._asked:
                self._asked[key(setting)] = setting, trial
                return setting
            # Repeating the known result makes the sampler draw elsewhere.
            self._tell(trial, *self._told.get(key(setting), (None, {})))
        nearest = next(self._nearest(), None)
        if nearest is not None:
            self._asked[key(nearest)] = nearest, self._enqueued(nearest)
        return nearest

    def _suggested(self, trial: optuna.trial.Trial) -> dict[str, object]:
        setting: dict[str, object] = {}
        for knob in self._space.knobs:
            if not knob.counts(setting):
                continue
            last = len(knob.values) - 1
            if knob.is_ordered:
                index = trial.suggest_int(knob.name, 0, last)
            else:
                index = trial.suggest_categorical(knob.name, list(range(last + 1)))
            setting[knob.name] = knob.values[index]
        return setting

    def _enqueued(self, setting: Mapping[str, object]) -> optuna.trial.Trial:
        places = {
            knob.name: knob.values.index(setting[knob.name])
            for knob in self._space.knobs
            if knob.name in setting
        }
        self._study.enqueue_trial(places)
        trial = self._study.ask()
        self._suggested(trial)
        return trial

    def _nearest(self) -> Iterator[dict[str, object]]:
        """Yields new settings: neighbours of the best setting, then of the next best and so on, then all of
        the space; of a small space only the latter, in order."""
        known = [setting for setting, _ in self._asked.values() if self._loss(setting) < math.inf]
        best_first = [] if self._is_small else sorted(known, key=self._loss)
        near = (one for setting in best_first for one in self._space.neighbours(setting))
        yield from (one for one in chain(near, self._space.all()) if key(one) not in self._asked)

    def _loss(self, setting: Mapping[str, object]) -> float:
        losses, broken = self._told.get(key(setting), (None, {}))
        if losses is None or any(one > 0 for one in broken.values()):
            return math.inf
        return math.fsum(losses)

    def is_dropped(self, setting: Mapping[str, object], loss: float) -> bool:
        """Returns whether Optuna's median pruner drops a setting after its first runs, which had `loss`. If
        so, also reports this to the sampler."""
        trial = self._early.ask()
        trial.report(loss, 0)
        if not trial.should_prune():
            self._early.tell(trial, loss)
            return False
        self._early.tell(trial, state=self._pruned)
        self._told[key(setting)] = (None, {})
        self._study.tell(self._asked[key(setting)][1], state=self._pruned)
        return True

    def tell(
        self, setting: Mapping[str, object], losses: Sequence[float] | None, broken: Mapping[str, float]
    ) -> None:
        """Records the result of a setting. Without losses, the setting is impossible or was dropped early."""
        known = None if losses is None or not all(map(math.isfinite, losses)) else list(losses)
        self._told[key(setting)] = (known, dict(broken))
        self._tell(self._asked[key(setting)][1], known, broken)

    def _tell(
        self, trial: optuna.trial.Trial, losses: list[float] | None, broken: Mapping[str, float]
    ) -> None:
        if losses is None:
            self._study.tell(trial, state=self._failed)
            return
        for name, excess in broken.items():
            trial.set_constraint(name, min(excess, 1e300))
        self._study.tell(trial, losses)


def front(losses: Mapping[str, Sequence[float]]) -> list[str]:
    """Returns the names that no other name beats (Pareto front), in the given order: none is better in some
    objective, and at least as good in all."""

    def beaten(one: Sequence[float], by: Sequence[float]) -> bool:
        return by != one and all(b <= a for a, b in zip(one, by, strict=True))

    return [name for name, one in losses.items() if not any(beaten(one, other) for other in losses.values())]


def _optuna() -> ModuleType:
    try:
        import optuna
    except ImportError as error:
        raise UnavailableError(
            f"a search needs Optuna ({error}): `pip install 'eeon-experiments[tune]'`, or "
            "`pip install './experiments[tune]'` in a checkout"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
