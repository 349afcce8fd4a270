"""`eeon tune` on twins: a shuffle that nothing improves, and an optimum known from a whole grid."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from eeon_control import config as configs
from eeon_experiments.run import run_one
from eeon_experiments.store import Store
from eeon_experiments.tune import answer as words
from eeon_experiments.tune import files, knobs
from eeon_experiments.tune.bench import Bench
from eeon_experiments.tune.tuning import Answer, Tuning
from eeon_experiments.versions import versions
from eeon_experiments.workers import Pool

pytestmark = pytest.mark.system

pytest.importorskip("eeon_engine", reason="the engine is not installed; `make setup` builds it")
pytest.importorskip("optuna", reason="eeon-experiments[tune] is not installed")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "tune"


@contextmanager
def bench_for(tune: files.Tune, folder: Path) -> Iterator[Bench]:
    pool = Pool(run_one, os.cpu_count() or 1)
    store = Store(folder, tune.file.name, quick=False)
    store.claim()
    try:
        yield Bench(tune, store, versions(), pool.run)
    finally:
        pool.stop()


def answered(folder: Path, text: str) -> Answer:
    path = folder / "tune.yaml"
    path.write_text(text, encoding="utf-8")
    tune = files.load(path)
    with bench_for(tune, folder / "out") as bench:
        tuning = Tuning(tune, bench)
        tuning.check()
        answer = tuning.run()
        bench.collect()
    return answer


@pytest.mark.nightly
def test_a_shuffle_without_delay_does_not_care_about_the_threshold_and_says_so(tmp_path: Path) -> None:
    text = (EXAMPLES / "shuffle.yaml").read_text(encoding="utf-8")
    small = text.replace("112MB", "28MB").replace("maps: 112", "maps: 28")
    small = small.replace("steps: 12", "steps: 5").replace("limits:", "scan: 3\nlimits:")
    answer = answered(tmp_path, small)
    said = words.sentences(answer)
    assert said[0].startswith("Nothing beats the baseline here by more than")
    assert any(one.startswith("threshold: any value from 1.5KB to 270KB is the same") for one in said)
    kept = configs.from_text(words.configuration(answer))
    assert kept.profiles.queue["fabric"].aqm.mode == "drop_tail"


@pytest.mark.nightly
def test_a_search_of_64_runs_comes_within_3_percent_of_the_best_of_the_whole_grid(tmp_path: Path) -> None:
    text = (EXAMPLES / "shuffle.yaml").read_text(encoding="utf-8")
    text = text[: text.index("knobs:")] + (
        "knobs:\n"
        "  threshold:\n"
        "    {path: profiles.queue.fabric.aqm.threshold, from: 1.5KB, to: 90KB, log: true, steps: 12}\n"
        "  buffer: {path: profiles.queue.fabric.buffer, from: 100KB, to: 300KB, steps: 4}\n"
        "  sleep: {path: roles.host_facing.eee, choices: [off, standard, 12us10, 120us100]}\n"
        "objectives: {runtime_seconds: least, latency_data_p99_us: least, energy_used_joules: least}\n"
        "budget: {runs: 64}\nheld_back: [101, 102, 103]\nscan: 0\n"
    )
    answer = answered(tmp_path, text)
    assert answer.search_runs == 64
    searched = min(math.fsum(one.losses) / 3 for one in answer.tried)
    # The grid has the same baseline and seed, so that its losses have the same scale.
    whole = answered(tmp_path, text.replace("runs: 64", "runs: 193"))
    assert whole.is_whole_grid and len(whole.tried) == 192
    best = min(math.fsum(one.losses) / 3 for one in whole.tried)
    assert searched <= 1.03 * best, knobs.words(answer.best.setting)
