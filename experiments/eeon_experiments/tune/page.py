"""The answer as a web page: recommendation, front, sensitivity to each knob, all settings. Pure functions."""

import math
from collections.abc import Iterator, Sequence

from eeon_tools import svg
from eeon_tools.svg import BLUE, GREEN, GREY, INK, VERMILION
from matplotlib.figure import Figure

from eeon_experiments.report import draw, points, webpage
from eeon_experiments.report.blocks import (
    Block,
    Bullets,
    Cell,
    Code,
    Document,
    Fold,
    Heading,
    Link,
    Paragraph,
    Picture,
    Status,
    Table,
)
from eeon_experiments.report.drawing import Drawing, Panel, Series
from eeon_experiments.results import Spread
from eeon_experiments.tune import answer as words
from eeon_experiments.tune import knobs
from eeon_experiments.tune.files import BASELINE
from eeon_experiments.tune.tuning import Answer, Scanned

_WIDTH, _HEIGHT = 5.6, 3.6


def render(answer: Answer, pages: Sequence[tuple[str, str]] = ()) -> str:
    """Returns the page's text. `pages`: (setting, file) for each page about a single run beside it."""
    return webpage.render(Document(_title(answer), list(_blocks(answer, pages))))


def _title(answer: Answer) -> str:
    return answer.tune.file.title or f"Tuning {answer.tune.file.name}"


def _blocks(answer: Answer, pages: Sequence[tuple[str, str]]) -> Iterator[Block]:
    first, *others = words.sentences(answer)
    yield Paragraph(first)
    yield Bullets(others)
    head, rows = words.table(answer)
    yield Table(head, rows)
    yield Paragraph(
        f"Means over {len(answer.tune.file.held_back)} seeds that the search did not see (lowest to "
        "highest). Better than baseline: the mean of the differences seed by seed, and its 95 % interval."
    )
    if pages:
        yield Table(
            ["what happened in one run"], [[Link(name, "", file)] for name, file in pages], numeric=False
        )
    yield Heading("The recommended configuration")
    yield Code(words.configuration(answer))
    if answer.warnings:
        yield Bullets([f"warning: {one}" for one in answer.warnings])
    if len(answer.tune.file.objectives) > 1:
        yield Heading("What can be had together")
        yield Picture(
            "front.svg",
            svg.element(_front(answer)),
            "losses of all settings",
            "Every setting that was tried, by its first two objectives, as multiples of the baseline's: left "
            "and below is better. Nothing is better in all objectives than those of the front.",
        )
    yield Heading("What each knob matters")
    for one in answer.scanned:
        yield Heading(one.knob.name, 3)
        if one.knob.is_ordered and len(one.values) > 1:
            figure = draw.draw(_along(one))
            yield Picture(f"{one.knob.name}.svg", svg.element(figure), f"loss along {one.knob.name}", "")
        yield Table(["value", "of the baseline", "beside the best"], list(_scan_rows(one)))
    yield Heading("All settings of the search")
    yield Paragraph(words.cost(answer))
    yield Fold(f"{len(answer.tried)} settings", [_tried_table(answer)])
    if answer.refused:
        yield Fold("what could not be run", [Bullets(answer.refused)])


def _scan_rows(one: Scanned) -> Iterator[list[Cell]]:
    kinds = {"better": "good", "same": "none", "unclear": "none", "worse": "bad"}
    for index, (value, loss, verdict) in enumerate(zip(one.values, one.losses, one.verdicts, strict=True)):
        shown = "the best" if index == one.best else verdict
        yield [knobs.text(value), _loss(loss), Status(shown, kinds[verdict])]


def _loss(loss: float) -> str:
    return f"{100 * loss:.1f} %" if math.isfinite(loss) else "cannot be had"


def _along(one: Scanned) -> Drawing:
    means = [Spread(loss, loss, loss, 1) if math.isfinite(loss) else None for loss in one.losses]
    panel = Panel(
        title="held-back seeds, as a multiple of the baseline",
        positions=[knobs.text(value) for value in one.values],
        series=[Series("loss", means, BLUE)],
    )
    return Drawing(
        one.knob.name, one.knob.name, "", "", one.knob.name, "less is better", [panel], from_zero=False
    )


def _tried_table(answer: Answer) -> Table:
    objectives = list(answer.tune.file.objectives)
    best_first = sorted(answer.tried, key=lambda one: (bool(one.broken), math.fsum(one.losses)))
    rows = [
        [one.name, knobs.words(one.setting), *map(_loss, one.losses), "; ".join(one.broken) or "hold"]
        for one in best_first
    ]
    return Table(["setting", "", *map(points.words, objectives), "limits"], rows)


def _front(answer: Answer) -> Figure:
    x, y = list(answer.tune.file.objectives)[:2]
    held = [one for one in answer.tried if not one.broken]
    groups = (
        ("breaks a limit", [one for one in answer.tried if one.broken], GREY, "x"),
        ("tried", [one for one in held if one.name not in answer.front], BLUE, "o"),
        ("front", [one for one in held if one.name in answer.front], GREEN, "o"),
    )
    with svg.styled():
        figure = svg.new_figure(_WIDTH, _HEIGHT)
        axis = figure.subplots()
        for name, found, colour, marker in groups:
            if found:
                across, up = zip(*(one.losses[:2] for one in found), strict=True)
                axis.scatter(across, up, s=22, c=colour, marker=marker, label=name)
        axis.scatter([1], [1], s=60, c=INK, marker="+", label=BASELINE)
        best = answer.best.losses
        axis.scatter([best[0]], [best[1]], s=70, facecolors="none", edgecolors=VERMILION, label=words.BEST)
        axis.set_xlabel(points.words(x))
        axis.set_ylabel(points.words(y))
        figure.legend(loc="outside lower center", ncols=5, fontsize=8.5)
        return figure
