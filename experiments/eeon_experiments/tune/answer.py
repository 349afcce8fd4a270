"""The answer in words, as a table, as JSON, and as a configuration file. Pure functions."""

import math
from collections.abc import Iterator
from dataclasses import asdict

from eeon_control.sources import yaml_text

from eeon_experiments.report import points
from eeon_experiments.results import Spread
from eeon_experiments.tune import knobs
from eeon_experiments.tune.confidence import Difference
from eeon_experiments.tune.files import BASELINE
from eeon_experiments.tune.tuning import Answer, Judged, Scanned

BEST = "best"


def sentences(answer: Answer) -> list[str]:
    """Returns sentences about the recommendation and its confidence; the answer itself comes first."""
    today = answer.tune.today
    return [
        _recommendation(answer),
        *_rules(answer),
        *_alone(answer),
        *map(_about_knob, answer.scanned),
        *_edges(answer),
        *([] if today is None else [today.sentence()]),
    ]


def _recommendation(answer: Answer) -> str:
    best, same = answer.of(answer.best.name), answer.tune.file.same
    found = knobs.words(answer.best.setting)
    seeds = f"{best.against.seeds} held-back seeds"
    if answer.recommended == answer.best.name:
        several = len(answer.tune.file.objectives) > 1
        at = ", in the mean of the objectives," if several else ""
        return f"Recommended: {found}. {percent(best.against)} better{at} than the {BASELINE} on {seeds}."
    if best.failed:
        return f"Keep the {BASELINE}: the best found ({found}) fails on {seeds}: {best.failed}."
    if best.broken:
        return f"Keep the {BASELINE}: the best found ({found}) breaks a limit on {seeds}: {best.broken[0]}."
    verdict = best.against.verdict(same)
    if verdict == "worse":
        return f"Keep the {BASELINE}: the best found ({found}) is worse on {seeds}: {percent(best.against)}."
    why = f"more than {share(same)}" if verdict == "same" else "more than the spread"
    better = [one for one in answer.judged[2:] if _beats(one, same)]
    who = "The search does not beat" if better else "Nothing beats"
    rule = max(better, key=lambda one: one.against.mean, default=None)
    keep = f"Keep what runs, or take {rule.name}." if rule else "Keep what runs."
    return (
        f"{who} the {BASELINE} here by {why}: the best found ({found}) gains {percent(best.against)} on "
        f"{seeds}. {keep}"
    )


def _beats(one: Judged, same: float) -> bool:
    """Returns whether a setting is better than the baseline, and holds every limit."""
    return not one.failed and not one.broken and one.against.verdict(same) == "better"


def _rules(answer: Answer) -> Iterator[str]:
    same = answer.tune.file.same
    if answer.judged[0].broken:
        yield f"The {BASELINE} breaks a limit: {answer.judged[0].broken[0]}."
    for one in answer.judged[2:]:
        if one.failed:
            yield f"{one.name} fails: {one.failed}."
        elif one.broken:
            yield f"{one.name} breaks a limit: {one.broken[0]}."
        elif one.best_beats.verdict(same) == "worse":
            yield f"{one.name} is better than the best found: give the search more runs, or other ranges."
        elif answer.recommended == BASELINE and _beats(one, same):
            yield f"{one.name} is {percent(one.against)} better than the {BASELINE}."
        elif answer.recommended != BASELINE and one.best_beats.verdict(same) != "better":
            yield f"{one.name} does as well, as far as these seeds can tell ({percent(one.best_beats)})."


def _alone(answer: Answer) -> Iterator[str]:
    same = answer.tune.file.same
    for workload, one in answer.alone().items():
        gain = answer.best.alone[workload] - one.alone[workload]
        if gain > same:
            yield (
                f"{workload} alone would have {knobs.words(one.setting)}: {share(gain)} better there in the "
                "search."
            )


def _about_knob(one: Scanned) -> str:
    better = _of(one, "better")
    verb = "are" if len(better) > 1 else "is"
    more = f" {', '.join(better)} {verb} better on these seeds: give the search more seeds." if better else ""
    return f"{one.knob.name}: {_alike(one)}{more}"


def _alike(one: Scanned) -> str:
    """Returns the values that are the same as the best, and the effect of the knob."""
    if len(one.values) < 2:
        return "no other value was run."
    best = knobs.text(one.values[one.best])
    if one.flat is None:
        also = [
            f"; {said}: {', '.join(others)}"
            for verdict, said in (("same", "no different"), ("unclear", "these seeds cannot tell it from"))
            if (others := _of(one, verdict))
        ]
        return f"{best}{''.join(also)}. {_matters(one)}"
    low, high = one.flat
    if low == high:
        return f"{best}; no other value that was scanned is the same. {_matters(one)}"
    values = f"any value from {knobs.text(one.values[low])} to {knobs.text(one.values[high])} is the same"
    if all(verdict == "same" for verdict in one.verdicts[low : high + 1]):
        is_all = (low, high) == (0, len(one.values) - 1)
        return f"{values}." + ("" if is_all else f" {_matters(one)}")
    return f"{values} as far as these seeds can tell; the best found is {best}. {_matters(one)}"


def _of(one: Scanned, verdict: str) -> list[str]:
    """Returns the values with a verdict, without the best value."""
    return [
        knobs.text(value)
        for index, (value, found) in enumerate(zip(one.values, one.verdicts, strict=True))
        if found == verdict and index != one.best
    ]


def _matters(one: Scanned) -> str:
    return f"It changes the result by {share(one.sensitivity)}."


def _edges(answer: Answer) -> Iterator[str]:
    for one in answer.scanned:
        ends = (one.knob.values[0], one.knob.values[-1])
        value = one.values[one.best]
        flat = one.flat or (0, 0)
        is_end = one.knob.is_ordered and len(one.values) > 1 and value in ends and flat[0] == flat[1]
        if is_end and answer.recommended != BASELINE:
            yield f"{one.knob.name}: {knobs.text(value)} is an end of its range; a wider one may have better."


def cost(answer: Answer) -> str:
    """Returns the part of the space that the search tried, and its cost."""
    tried, size = len(answer.tried) + answer.dropped, answer.tune.space.size()
    seen = f"all {size}" if answer.is_whole_grid else f"{tried} of {size:,}"
    after = "small form" if answer.tune.file.small else "first seed"
    dropped = f", {answer.dropped} dropped after their {after}" if answer.dropped else ""
    refused = f", {answer.impossible} not possible" if answer.impossible else ""
    return (
        f"{seen} settings tried{dropped}{refused}; {answer.search_runs} runs of the search, "
        f"{answer.runs - answer.search_runs} with held-back seeds; {answer.cpu_seconds:.0f} s of processor "
        "time"
    )


def percent(difference: Difference) -> str:
    """Returns the mean and its 95 % interval, such as `+12.3 % (+11.0 to +13.5)`."""
    if not math.isfinite(difference.mean):
        return "not comparable"
    shown = f"{100 * difference.mean:+.1f} %"
    if not math.isfinite(difference.low):
        return shown
    return f"{shown} ({100 * difference.low:+.1f} to {100 * difference.high:+.1f})"


def share(number: float) -> str:
    """Returns a share in percent, such as `1.5 %` or `890 %`."""
    percent = 100 * number
    return f"{percent:.2g} %" if percent < 99.5 else f"{percent:,.0f} %"


def table(answer: Answer, most: int | None = None) -> tuple[list[str], list[list[str]]]:
    """Returns headings and rows for a reader: baseline, best and rules on the held-back seeds, with at most
    `most` objectives."""
    file = answer.tune.file
    shown = list(file.objectives)[:most]
    several = len(file.workloads) > 1
    head = ["setting", *(["workload"] if several else []), *map(points.words, shown), "better than baseline"]
    rows = []
    for one in answer.judged:
        for number, workload in enumerate(file.workloads):
            rows.append(
                [
                    label(answer, one) if not number else "",
                    *([workload] if several else []),
                    *(points.text(one.numbers.get((workload, column))) for column in shown),
                    _gain(one) if not number else "",
                ]
            )
    return head, rows


def label(answer: Answer, one: Judged) -> str:
    """Returns the name of a setting for a reader."""
    if one.name == BASELINE and answer.tune.today is not None:
        return f"{BASELINE} (runs today)"
    return BEST if one.name == answer.best.name else one.name


def _gain(one: Judged) -> str:
    if one.failed or one.broken:
        return "failed" if one.failed else "breaks a limit"
    return "-" if one.name == BASELINE else percent(one.against)


def as_values(answer: Answer) -> dict[str, object]:
    return {
        "name": answer.tune.file.name,
        "recommended": label(answer, answer.of(answer.recommended)),
        "answer": sentences(answer),
        "best": {"name": answer.best.name, "setting": dict(answer.best.setting)},
        "alone": {
            workload: {"setting": dict(one.setting), "loss": one.alone[workload]}
            for workload, one in answer.alone().items()
        },
        "configuration": _described(answer),
        "held_back": [_judged_values(answer, one) for one in answer.judged],
        "knobs": [_scanned_values(one) for one in answer.scanned],
        "front": list(answer.front),
        "tried": [
            {key: getattr(one, key) for key in ("name", "setting", "losses", "broken")}
            for one in answer.tried
        ],
        "refused": list(answer.refused),
        "warnings": list(answer.warnings),
        "load": None if answer.tune.today is None else dict(answer.tune.today.load.hosts),
        "dropped_early": answer.dropped,
        "runs": {"search": answer.search_runs, "all": answer.runs},
        "cpu_seconds": answer.cpu_seconds,
    }


def _judged_values(answer: Answer, one: Judged) -> dict[str, object]:
    return {
        "setting": label(answer, one),
        "numbers": [
            {"workload": workload, "column": column, **_finite_values(spread)}
            for (workload, column), spread in one.numbers.items()
        ],
        "better_than_baseline": _finite_values(one.against),
        "best_is_better_by": _finite_values(one.best_beats),
        "broken": list(one.broken),
        "failed": one.failed or None,
    }


def _scanned_values(one: Scanned) -> dict[str, object]:
    flat = one.flat
    return {
        "knob": one.knob.name,
        "best": one.values[one.best],
        "values": [
            {"value": value, "loss": _finite(loss), "is": verdict}
            for value, loss, verdict in zip(one.values, one.losses, one.verdicts, strict=True)
        ],
        "same_from_to": [one.values[flat[0]], one.values[flat[1]]] if flat is not None else None,
        "sensitivity": one.sensitivity,
    }


def _finite_values(one: Spread | Difference) -> dict[str, object]:
    return {name: _finite(value) for name, value in asdict(one).items()}


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def configuration(answer: Answer) -> str:
    """Returns the recommended configuration as the text of a file that `eeon config apply` takes."""
    return yaml_text(_described(answer))


def _described(answer: Answer) -> dict[str, object]:
    return {"description": "", **answer.configuration} | {"description": description(answer)}


def description(answer: Answer) -> str:
    """Returns the description of the configuration in one line."""
    name = answer.tune.file.name
    if answer.recommended == BASELINE:
        return f"eeon tune {name}: the {BASELINE}, which the search does not beat"
    return f"eeon tune {name}: {knobs.words(answer.best.setting)}"
