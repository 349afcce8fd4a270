"""`eeon tune` without a twin: files, knobs, the search on made-up landscapes, and the answer's sentences."""

import json
import math
import re
import sys
from collections.abc import Callable, Generator, Iterable
from pathlib import Path

import pytest
from eeon_control import config as configs
from eeon_control.errors import InputError
from eeon_control.port_settings import MarkThreshold
from eeon_control.sources import yaml_text
from eeon_experiments.resolve import Run
from eeon_experiments.results import Row
from eeon_experiments.store import Outcome, Store
from eeon_experiments.tune import answer as words
from eeon_experiments.tune import files, knobs, page
from eeon_experiments.tune.bench import Bench, Work
from eeon_experiments.tune.confidence import Difference, flat_range
from eeon_experiments.tune.scores import Scale
from eeon_experiments.tune.search import Search, front
from eeon_experiments.tune.tuning import Answer, Tuning
from eeon_experiments.versions import Versions
from eeon_tools.errors import ReplayError, ToolsError, UnavailableError
from made_experiments import TEXTS
from made_work import VERSIONS, outcome

from control_plane.tests.eeon_command import eeon
from control_plane.tests.expected_rows import bases

FILE = bases(Path(__file__).parent / "expected" / "search.yaml")["small"]
TWO_KNOBS = FILE.replace(
    "objectives",
    "  buffer: {path: profiles.queue.fabric.buffer, from: 100KB, to: 300KB, steps: 12}\nobjectives",
)

Landscape = Callable[[Run, float], dict[str, float]]
"""From a run and its leaves' threshold in bytes (0 for none) to columns."""


def write(folder: Path, text: str = FILE) -> Path:
    path = folder / "tune.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def made(landscape: Landscape, asked: list[str] | None = None):
    """Returns a replacement for runs of twins."""

    def work(runs: Iterable[Run]) -> Generator[Outcome, None, None]:
        for run in runs:
            if asked is not None:
                asked.append(run.id)
            _, topology, config = run.parts()
            port = topology.port("leaf1:1")
            assert port is not None
            aqm = config.settings_of(port).queue.aqm
            is_marking = isinstance(aqm, MarkThreshold)
            threshold = float(aqm.settings_at(port.rate).threshold) if is_marking else 0.0
            yield outcome(run, cpu_seconds=1.0, **landscape(run, threshold))

    return work


def valley(run: Run, threshold: float) -> dict[str, float]:
    """Returns columns that are best at 30 KB, 10 without a threshold; seeds add up to 6 % to all of them."""
    off = abs(math.log(threshold / 30e3)) if threshold else 6.0
    return {"runtime_seconds": (4 + off) * (1 + run.seed % 7 / 100)}


def tuned(folder: Path, text: str, landscape: Landscape, asked: list[str] | None = None) -> Answer:
    return searched(folder, text, made(landscape, asked))


def searched(folder: Path, text: str, work: Work, versions: Versions = VERSIONS) -> Answer:
    tune = files.load(write(folder, text))
    store = Store(folder / "out", tune.file.name, quick=False)
    tuning = Tuning(tune, Bench(tune, store, versions, work))
    tuning.check()
    store.claim()
    return tuning.run()


def refusal(folder: Path, text: str) -> str:
    """Returns the error before the first run."""
    asked: list[str] = []
    with pytest.raises((InputError, ToolsError)) as error:
        tuned(folder, text, valley, asked)
    assert not asked
    return str(error.value)


def test_the_best_of_a_valley_is_found_and_confirmed_and_written_as_a_configuration(tmp_path):
    answer = tuned(tmp_path, FILE, valley)
    assert answer.recommended == answer.best.name
    threshold = str(answer.best.setting["threshold"])
    assert threshold == "28.1KB"  # the nearest of the twelve values to 30 KB by ratio
    text = words.configuration(answer)
    assert yaml_text(words.as_values(answer)["configuration"]) == text
    read = configs.from_text(text)
    assert read.description == words.description(answer) != answer.configuration["description"]
    aqm = read.profiles.queue["fabric"].aqm
    assert isinstance(aqm, MarkThreshold) and str(aqm.threshold) == threshold
    assert read.profiles.queue["fabric"].buffer == 300_000
    assert words.sentences(answer)[0].startswith("Recommended: threshold 28.1KB. +5")


def test_where_nothing_changes_anything_every_value_is_the_same_and_what_runs_is_kept(tmp_path):
    answer = tuned(tmp_path, FILE, lambda run, threshold: {"runtime_seconds": 1.0 + run.seed / 100})
    said = words.sentences(answer)
    assert said[0].startswith("Nothing beats the baseline here by more than 1 %")
    assert "threshold: any value from 1.5KB to 150KB is the same." in said
    assert answer.recommended == "baseline"
    assert configs.from_text(words.configuration(answer)).profiles.queue["fabric"].aqm.mode == "drop_tail"


def test_warnings_about_the_best_setting_and_the_baseline_are_part_of_the_answer(tmp_path):
    text = FILE.replace("from: 1.5KB, to: 150KB", "from: 400KB, to: 900KB")
    assert text != FILE
    answer = tuned(tmp_path, text, valley)
    assert words.as_values(answer)["warnings"] == answer.warnings
    assert any(
        one.startswith("the best found: ") and "so nothing is ever marked" in one for one in answer.warnings
    )
    assert "so nothing is ever marked" in page.render(answer)
    over_buffer = "config: [drop_tail, {profiles: {queue: {fabric: {buffer: 1KB}}}}]"
    kept = tuned(tmp_path, text.replace("config: [drop_tail]", over_buffer), valley)
    assert any(one.startswith("the baseline: ") for one in kept.warnings)


def test_a_gain_within_the_spread_of_the_seeds_is_none(tmp_path):
    def noisy(run: Run, threshold: float) -> dict[str, float]:
        return {"runtime_seconds": 1.0 if not threshold or run.seed == 1 else (0.7, 1.3, 0.9)[run.seed % 3]}

    answer = tuned(tmp_path, FILE, noisy)
    assert "by more than the spread" in words.sentences(answer)[0]
    assert answer.recommended == "baseline"


@pytest.mark.slow
def test_a_search_that_was_interrupted_goes_on_to_the_same_answer(tmp_path):
    class Stop(Exception):
        pass

    left = [17]

    def stopping(run: Run, threshold: float) -> dict[str, float]:
        left[0] -= 1
        if not left[0]:
            raise Stop
        return valley(run, threshold)

    with pytest.raises(Stop):
        tuned(tmp_path, TWO_KNOBS, stopping)
    asked: list[str] = []
    resumed = tuned(tmp_path, TWO_KNOBS, valley, asked)
    assert len(asked) == resumed.runs - 16
    (tmp_path / "anew").mkdir()
    anew = json.dumps(words.as_values(tuned(tmp_path / "anew", TWO_KNOBS, valley)))
    assert anew.replace("/anew/", "/") == json.dumps(words.as_values(resumed))


def test_no_setting_is_asked_for_twice_and_a_small_space_is_gone_through(tmp_path):
    space = files.load(write(tmp_path)).space
    search = Search(space, 1, 1, most=5)
    seen = []
    while asked := search.ask():
        for setting in asked:
            seen.append(knobs.key(setting))
            search.tell(setting, [1.0], {})
    assert len(seen) == len(set(seen)) == space.size() == 12


def test_the_budget_counts_every_run_of_the_search(tmp_path):
    answer = tuned(tmp_path, TWO_KNOBS.replace("runs: 30", "runs: 20"), valley)
    assert answer.search_runs == 20 and len(answer.tried) == 19


def test_minutes_of_processor_time_end_a_search(tmp_path):
    answer = tuned(tmp_path, TWO_KNOBS.replace("{runs: 30}", "{minutes: 0.1}"), valley)
    assert answer.search_runs == 9  # the baseline, and rounds of four until six seconds are used


def test_settings_far_behind_are_dropped_after_their_first_seed(tmp_path):
    text = TWO_KNOBS.replace("budget: {runs: 30}", "budget: {runs: 90}\nseeds: [1, 2, 3]")
    answer = tuned(tmp_path, text, valley)
    assert answer.dropped > 0
    assert answer.search_runs <= 90
    assert "dropped after their first seed" in words.cost(answer)


def test_settings_far_behind_in_the_small_form_are_never_run_whole(tmp_path):
    ran: dict[bool, list[str]] = {True: [], False: []}

    def noted(run: Run, threshold: float) -> dict[str, float]:
        is_small = "77KB" in json.dumps(run.settings)
        ran[is_small].append(run.id)
        # Twice as fast, and as good: only runs of the same form are compared.
        seconds = valley(run, threshold)["runtime_seconds"] / (1 + is_small)
        return {"runtime_seconds": seconds, "fct_mean_seconds": seconds}

    small = "small: {workload: {applications: {flows: {size_per_server: 77KB}}}}\n"
    text = TWO_KNOBS.replace("least}", "least, fct_mean_seconds: least}") + small
    answer = tuned(tmp_path, text, noted)
    assert answer.dropped > 0
    assert answer.search_runs <= 30
    # The baseline and the settings that were not dropped.
    assert len(ran[True]) == 1 + answer.dropped + len(answer.tried)
    assert len(set(ran[False])) == answer.runs
    assert "dropped after their small form" in words.cost(answer)
    assert answer.best.setting["threshold"] == "28.1KB"


def test_a_limit_that_the_best_value_breaks_leaves_the_next_one(tmp_path):
    def lossy(run: Run, threshold: float) -> dict[str, float]:
        return valley(run, threshold) | {"tail_dropped_data": 5 if 20e3 < threshold < 40e3 else 0}

    answer = tuned(tmp_path, FILE + "limits: {drops: {at_most: 0}}\n", lossy)
    assert answer.best.setting["threshold"] in ("18.5KB", "42.7KB")

    nowhere = FILE + "limits: {runtime_seconds: {at_most: 1}}\n"
    with pytest.raises(ReplayError, match="12 break runtime_seconds at most 1"):
        tuned(tmp_path, nowhere, valley)


def test_a_run_without_the_number_of_a_limit_breaks_it(tmp_path):
    limits = "{at_most: 10, at_least: 1, above_baseline: 0%, below_baseline: 0%}"
    file = files.load(write(tmp_path, f"{FILE}limits: {{slowdown_p99: {limits}}}\n")).file
    known, unknown = (
        {("base", 1): Row({"runtime_seconds": 1.0, "slowdown_p99": number})} for number in (9.0, None)
    )
    scale = Scale.of(file, known)
    assert list(scale.broken(known, [1]).values()) == [-1, -8, 0, 0]
    assert list(scale.broken(unknown, [1]).values()) == [math.inf] * 4


def test_a_rule_that_does_as_well_is_named(tmp_path):
    said = words.sentences(tuned(tmp_path, FILE, valley))
    # DCTCP's threshold at 1 Gbps is 30 KB.
    assert any(one.startswith("mark_auto does as well") for one in said)
    assert not any(one.startswith("sonic_azure") for one in said)


def test_with_two_objectives_the_front_has_what_nothing_is_better_than(tmp_path):
    assert front({"a": (1, 2), "b": (2, 1), "c": (2, 2), "d": (1, 2)}) == ["a", "b", "d"]

    def trade(run: Run, threshold: float) -> dict[str, float]:
        return {"runtime_seconds": 1 + 1e4 / (threshold + 1e4), "latency_mean_us": 10 + threshold / 1e3}

    answer = tuned(tmp_path, FILE.replace("least}", "least, latency_mean_us: least}"), trade)
    assert len(answer.front) == 12
    shown = page.render(answer, [("best", "a #1.html")])
    assert '<a href="a%20%231.html">best</a>' in shown
    assert "What can be had together" in shown and "http" not in shown.replace("http://www.w3.org", "")


def test_workloads_count_by_their_weights(tmp_path):
    def two(run: Run, threshold: float) -> dict[str, float]:
        has_many = "h4" in json.dumps(run.settings)
        good = threshold > 100e3 if has_many else 0 < threshold < 2e3
        return {"runtime_seconds": 1.0 if good else 2.0}

    many = "{applications: {flows: {servers: [h1, h2, h4]}}}"
    text = FILE + f"workloads: {{few: {{}}, many: {{workload: {many}}}}}\n"
    few = tuned(tmp_path, text + "weights: {few: 3}\n", two)
    assert few.best.setting["threshold"] == "1.5KB"
    # The cost of the compromise: 2.0, as with the baseline, although 1.0 is possible.
    assert few.alone()["many"].setting["threshold"] == "150KB"
    said = "many alone would have threshold 150KB: 50 % better there in the search."
    assert said in words.sentences(few)
    assert not any(one.startswith("few alone") for one in words.sentences(few))
    (tmp_path / "other").mkdir()
    assert tuned(tmp_path / "other", text + "weights: {many: 3}\n", two).best.setting["threshold"] == "150KB"


def test_a_knob_counts_only_where_its_condition_holds(tmp_path):
    modes = "[{mode: drop_tail}, {mode: mark_threshold}]"
    mode = f"knobs:\n  mode: {{path: profiles.queue.fabric.aqm, choices: {modes}}}\n"
    text = FILE.replace("knobs:\n", mode).replace(
        "steps: 12}", "steps: 12, when: {mode: [{mode: mark_threshold}]}}"
    )
    answer = tuned(tmp_path, text, valley)
    assert answer.tune.space.size() == 13
    assert answer.best.setting == {"mode": {"mode": "mark_threshold"}, "threshold": "28.1KB"}


def test_a_baseline_that_only_a_rule_beats_is_not_said_to_be_beaten_by_nothing(tmp_path):
    # DCTCP's threshold at 1 Gbps is 30 KB, which the knob does not have.
    def alone(run: Run, threshold: float) -> dict[str, float]:
        is_rule = threshold == 30_000
        seconds = (1 - 0.5 * is_rule) * (1 + run.seed % 7 / 100)
        return {"runtime_seconds": seconds, "tail_dropped_data": is_rule}

    answer = tuned(tmp_path, FILE, alone)
    said = words.sentences(answer)
    assert answer.recommended == "baseline"
    assert said[0].startswith("The search does not beat the baseline here by more than 1 %")
    assert said[0].endswith("Keep what runs, or take mark_auto.")
    assert "mark_auto is better than the best found: give the search more runs, or other ranges." in said
    assert "nothing beats" not in words.configuration(answer)
    limited = words.sentences(tuned(tmp_path, FILE + "limits: {drops: {at_most: 0}}\n", alone))
    assert limited[0].startswith("Nothing beats the baseline"), "the rule breaks the limit"


def test_a_baseline_that_breaks_a_limit_is_told_and_not_kept_where_the_best_holds_it(tmp_path):
    def lossy(run: Run, threshold: float) -> dict[str, float]:
        seconds = 1 + run.seed % 7 / 100 + (run.seed % 2 if not threshold else 0.5)
        return {"runtime_seconds": seconds, "tail_dropped_data": 0 if threshold else 30}

    answer = tuned(tmp_path, FILE + "limits: {drops: {at_most: 5}}\n", lossy)
    said = words.sentences(answer)
    assert answer.recommended == answer.best.name and said[0].startswith("Recommended: threshold ")
    assert said[1] == "The baseline breaks a limit: drops at most 5."
    assert words.table(answer)[1][0][-1] == "breaks a limit"


def test_the_best_of_several_rules_that_beat_the_baseline_is_the_one_to_take(tmp_path):
    def alone(run: Run, threshold: float) -> dict[str, float]:
        gains = {6_000: 0.5, 30_000: 0.2}  # C x RTT / 7 and DCTCP's: the knob has neither
        gain = gains.get(int(threshold), 0.0)
        return {"runtime_seconds": (1 - gain) * (1 + run.seed % 7 / 100)}

    said = words.sentences(tuned(tmp_path, FILE, alone))
    assert said[0].endswith("Keep what runs, or take c_rtt_7."), said


def test_a_rule_that_beats_the_baseline_is_named_beside_a_best_that_breaks_a_limit(tmp_path):
    def late(run: Run, threshold: float) -> dict[str, float]:
        is_good = 20e3 < threshold < 40e3
        is_lossy = is_good and threshold != 30_000 and run.seed > 100  # only on held-back seeds
        return {"runtime_seconds": 1 - 0.5 * is_good, "tail_dropped_data": is_lossy}

    said = words.sentences(tuned(tmp_path, FILE + "limits: {drops: {at_most: 0}}\n", late))
    assert said[0].startswith("Keep the baseline: the best found (threshold ") and "breaks a limit" in said[0]
    assert any(re.match(r"mark_auto is .* better than the baseline\.$", one) for one in said), said


def test_scanned_values_that_beat_the_best_found_are_named(tmp_path):
    # The search's seed prefers a lower threshold than the held-back seeds.
    def shifted(run: Run, threshold: float) -> dict[str, float]:
        off = abs(math.log(threshold / (80e3 if run.seed > 100 else 20e3))) if threshold else 6.0
        return {"runtime_seconds": 1 + off}

    assert (
        "threshold: 18.5KB; no other value that was scanned is the same. It changes the result by 54 %. "
        "28.1KB, 64.9KB, 150KB are better on these seeds: give the search more seeds."
    ) in words.sentences(tuned(tmp_path, FILE, shifted))


def test_the_95_percent_interval_is_students():
    # Differences 1, 2, 3: mean 2, standard error 1/sqrt(3), t with two degrees of freedom 4.303.
    found = Difference.of({1: 0.0, 2: 0.0, 3: 0.0}, {1: 1.0, 2: 2.0, 3: 3.0})
    assert found.mean == 2.0
    assert found.low == pytest.approx(2 - 4.303 / math.sqrt(3))
    assert found.verdict(0.01) == "unclear"
    assert flat_range(["worse", "same", "same", "unclear", "worse"], 2) == (1, 3)


def test_without_optuna_the_extra_is_named_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    asked: list[str] = []
    with pytest.raises(UnavailableError, match=r"pip install 'eeon-experiments\[tune\]'"):
        tuned(tmp_path, FILE, valley, asked)
    assert not asked


def test_a_dry_run_checks_and_says_what_would_be_searched(tmp_path):
    done = eeon("tune", str(write(tmp_path)), "--dry-run", "-o", str(tmp_path / "out"), code=0)
    assert done.stdout == (
        "small: valid; 12 settings of 1 knob; 30 runs, 1 per setting; the best is compared with the "
        "baseline, mark_auto, c_rtt_7, sonic_azure on 3 seeds\n"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["shuffle", "bottleneck", "websearch-100g", "sonic", "league"])
def test_the_examples_are_valid(name):
    example = Path(__file__).resolve().parents[2] / "examples" / "tune" / f"{name}.yaml"
    tune = files.load(example)
    Tuning(tune, Bench(tune, Store(Path("unused"), name, quick=False), VERSIONS, made(valley))).check()


def test_a_knob_that_matters_only_beside_some_values_of_others_is_no_mistake(tmp_path):
    text = FILE.replace("{mode: mark_threshold}", "{mode: red, min: 30KB, max: 90KB, max_probability: 10%}")
    # A probability has no room between equal thresholds, for example with the first values of both.
    text = re.sub("knobs:.*(?=objectives)", TEXTS["knobs of RED"], text, flags=re.DOTALL)
    answer = tuned(tmp_path, text, lambda run, threshold: {"runtime_seconds": 1.0})
    assert answer.tune.space.size() == 18
    # min 76.5KB or 150KB above max 3KB, and 150KB above 127KB: the configuration's own checks refuse them.
    assert answer.impossible == 6
    assert len(answer.tried) == 12 and answer.is_whole_grid
