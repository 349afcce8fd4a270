"""The text of the report: all claims in one table, then each experiment with set-up, claims, figures and
conditions."""

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import metadata

from eeon_tools import svg

from eeon_experiments import store
from eeon_experiments.claims.model import DIFFERS, NOT_MEASURED, REPRODUCED, Judgment
from eeon_experiments.quantities import rough_time
from eeon_experiments.report import points
from eeon_experiments.report.blocks import (
    Block,
    Bullets,
    Cell,
    ClaimOutcome,
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
from eeon_experiments.report.elsewhere import Elsewhere
from eeon_experiments.report.family import DATA, FULL, QUICK, Family, Judged, without_claims
from eeon_experiments.report.headlines import headlines
from eeon_experiments.report.numbers import drawing_table
from eeon_experiments.report.rendered import Rendered

_KINDS = {REPRODUCED: "good", DIFFERS: "bad", NOT_MEASURED: "none"}
_TITLE = "What the papers say, and what we measured"
_UNEXPLAINED = "not yet explained"
_BETTER, _WORSE = "better", "worse"
_SCALED_DOWN = "†"
_ALIKE = "‡"
CLAIMS = f"{DATA}/claims.json"
_DRAWN_WITH = ("eeon-engine", "eeon-control", "eeon-tools", "eeon-experiments", "matplotlib")
_PAPERS = (
    "Thesis: R. Fischer e Silva, E-EON: Energy-Efficient and Optimized Networks for Hadoop, PhD thesis, "
    "Universitat Politècnica de Catalunya.",
    "Marking paper: the journal version of the thesis' chapter 6; it extends R. Fischer e Silva, P. "
    "Carpenter, IEEE CLUSTER 2017.",
    "EEE paper, also EEE-MapReduce paper: R. Fischer e Silva, P. Carpenter, Exploring Interconnect "
    "Energy Savings Under East-West Traffic Pattern of MapReduce Clusters, 2015.",
    "Flow-chasing paper: C. Ren, S. Wang, KSII Trans. on Internet and Information Systems 10(4), 2016.",
    "Short-and-fat paper: D. Crisan et al., Short and Fat: TCP Performance in CEE Datacenter Networks, HotI "
    "2011, known from a reader's notes.",
)


def document(families: Sequence[Family], command: str, inline: bool = False) -> Document:
    """Returns the whole report as one page. An `inline` page contains the drawings, otherwise it links to
    them. `command` rebuilds the page."""
    blocks = _front(families, command, lambda family: "")
    for family in families:
        title = Heading(family.title or family.name, anchor=f"experiment-{family.name}")
        blocks += [title, *_family(family, families, inline)]
    return Document(_title(families), blocks)


def overview(families: Sequence[Family], command: str) -> Document:
    """Returns the first of several pages: the main findings, all claims in one table, how to rebuild it."""
    return Document(_title(families), _front(families, command, page_of))


def of_experiment(family: Family, families: Sequence[Family]) -> Document:
    """Returns the page of one experiment beside the overview. `families`: all experiments of the report."""
    blocks = list(_family(family, families, inline=False, level=2))
    return Document(family.title or family.name, blocks)


def _title(families: Sequence[Family]) -> str:
    return _TITLE if not without_claims(families) else "What was measured"


def page_of(family: Family) -> str:
    """Returns the file of an experiment's page, beside the overview."""
    return f"{family.name}.md"


def _front(families: Sequence[Family], command: str, page: Callable[[Family], str]) -> list[Block]:
    """Returns the blocks before the experiments. `page` returns the page of an experiment, empty for this
    page."""
    rows = f"{DATA}/NAME{QUICK if all(family.quick for family in families) else FULL}"
    if without_claims(families):
        return _front_of_numbers(families, command, rows, page)
    every = [one for family in families for claim in family.claims for one in _full(claim)]
    same = f"; {_ALIKE}: the published set-up has the same result at those points"
    alike = same if any(map(_alike, every)) else ""
    told = headlines(families)
    return [
        Paragraph(_lead(families)),
        Paragraph(
            "A claim has parts: the sign of an effect, the order of alternatives, or a size within a band. "
            "The bands were written down before the results were seen. A claim is reproduced (✔) when all "
            "its parts are; otherwise it differs (✘), and its page gives the reason. The twin uses the "
            "paper's parameters; none was fitted to a claim."
        ),
        Paragraph(
            "“Other registered set-ups” are runs that vary our assumptions. They were registered before they "
            "ran and have the same judges and bands; they change no outcome. “worse”: fewer parts are "
            f"reproduced there than in the published set-up at the same points{alike}."
        ),
        *_quick_warning(families),
        *_scaled_down(families),
        *([Heading("Main findings", anchor="findings"), Bullets(told)] if told else ()),
        Heading("Claims", anchor="claims"),
        _overview(families, page),
        *_worse(families),
        *_experiments(families, page),
        Heading("How to reproduce it", anchor="again"),
        Paragraph("To rebuild this page from its data:"),
        Code(command),
        *_data_again(families, page),
        Paragraph(
            f"Machine-readable data: `{rows}/{store.ROWS}` has one row per run, `manifest.json` beside it "
            f"names the commits, program and engine, and `{CLAIMS}` has every claim's outcome and numbers. "
            "The same seeds, program and engine give the same numbers on any machine; only the times and "
            "memory of the runs differ."
        ),
        Heading("Papers", anchor="papers"),
        Bullets(_PAPERS),
    ]


def _front_of_numbers(
    families: Sequence[Family], command: str, rows: str, page: Callable[[Family], str]
) -> list[Block]:
    return [
        Paragraph(f"{_runs_in_words(families)}."),
        *_experiments(families, page),
        Heading("How to reproduce it", anchor="again"),
        Code("\n".join([*map(_run, families), command])),
        Paragraph(
            f"Machine-readable data: `{rows}/{points.FILE}` has one row per point, `{rows}/{store.ROWS}` one "
            "per run, and `manifest.json` beside them names the commits, program and engine."
        ),
    ]


def _runs_in_words(families: Sequence[Family]) -> str:
    runs = sum(len(family.runs) for family in families)
    passes = sum(int(row.get("p4_passes") or 0) for family in families for row in family.rows)
    return (
        f"{runs:,} runs of the twin in virtual time, with real TCP behaviour at the hosts and the P4 program "
        f"in every switch ({passes:,} passes of packets)"
    )


def _data_again(families: Sequence[Family], page: Callable[[Family], str]) -> list[Block]:
    """Returns the commands that rebuild the data, except those that the table of experiments already has."""
    if any(map(page, families)):
        told = "To make the data, which takes hours, run each experiment, then `eeon experiment report`."
        return [Paragraph(told)]
    return [
        Paragraph("To make the data, which takes hours, and then the page:"),
        Code("\n".join([*(_run(one) for one in families), "eeon experiment report"])),
    ]


def _count(family: Family) -> str:
    """Returns how many of the file's points were run; points beyond the file are counted separately."""
    if family.planned is None:
        return f"{len(family.runs):,}"
    beyond = f" and {family.beyond:,} more" if family.beyond else ""
    return f"{len(family.runs) - family.beyond:,} of {family.planned:,}{beyond}"


def _experiments(families: Sequence[Family], page: Callable[[Family], str]) -> list[Block]:
    """Returns a table of the experiments' pages; nothing if all experiments are on this page."""
    if not any(map(page, families)):
        return []
    rows: list[list[Cell]] = [
        [
            Link(family.name, f"experiment-{family.name}", page(family)),
            family.title,
            _count(family),
            _reproduced(family),
            *_taken(family),
        ]
        for family in families
    ]
    quick = " --quick" if all(family.quick for family in families) else ""
    return [
        Heading("Experiments", anchor="experiments"),
        Paragraph(
            f"`eeon experiment run NAME{quick}` runs an experiment. `eeon experiment report NAME{quick}` "
            "judges it, and must then reproduce as many claims as this table has. Processor time is the sum "
            "over all runs, memory the maximum of one run."
        ),
        Table(
            ("experiment", "subject", "points", "claims reproduced", "processor time", "memory"),
            rows,
            numeric=False,
        ),
    ]


def _reproduced(family: Family) -> str:
    """Returns the number of reproduced claims, and the number of claims."""
    came = sum(claim.outcome == REPRODUCED for claim in family.claims)
    return f"{came} of {len(family.claims)}" if family.claims else ""


def _taken(family: Family) -> tuple[str, str]:
    """Returns the processor time and the memory of its runs; empty if no row has them."""
    seconds = [taken for row in family.rows if (taken := row.number("cpu_seconds")) is not None]
    peaks = [peak for row in family.rows if (peak := row.number("peak_rss_bytes")) is not None]
    return rough_time(math.fsum(seconds)) if seconds else "", f"{max(peaks) / 1e6:.0f} MB" if peaks else ""


def _run(family: Family) -> str:
    return f"eeon experiment run {shlex.quote(family.given or family.name)}{' --quick' * family.quick}"


def _lead(families: Sequence[Family]) -> str:
    claims = [claim for family in families for claim in family.claims]
    counts = {outcome: sum(claim.outcome == outcome for claim in claims) for outcome in _KINDS}
    return (
        f"{len(claims)} claims of the papers behind E-EON, compared with {_runs_in_words(families)}. "
        f"Reproduced: {counts[REPRODUCED]}; different: {counts[DIFFERS]}; not measured: "
        f"{counts[NOT_MEASURED]}."
    )


def _quick_warning(families: Sequence[Family]) -> list[Block]:
    quick = [family.name for family in families if family.quick]
    if not quick:
        return []
    return [
        Paragraph(
            f"This page shows the scaled-down form of {', '.join(quick)}, which is smaller than the papers' "
            "set-up. Its outcomes apply to that form only."
        )
    ]


def _scaled_down(families: Sequence[Family]) -> list[Block]:
    names = [family.name for family in families if family.scaled_down is not None]
    if not names:
        return []
    without = [family.name for family in families if family.scaled_down is None]
    if len(names) > 1 >= len(without):
        which = f"all experiments{f' but {without[0]}' if without else ''}"
    else:
        which = ", ".join(names)
    quick = any(one.is_quick for family in families for claim in family.claims for one in _full(claim))
    alone = f"; {_SCALED_DOWN} marks a set-up that was run in that form only" if quick else ""
    return [
        Paragraph(
            f"The quick forms of {which} were run as well. They ask the same questions on a smaller fabric "
            f"with a smaller job, and take minutes. “Scaled down” is their result{alone}."
        )
    ]


def _overview(families: Sequence[Family], page: Callable[[Family], str]) -> Block:
    claims = [claim for family in families for claim in family.claims]
    if not claims:
        return Paragraph("None of the experiments shown here has claims.")
    columns: dict[str, Callable[[Judged], Cell]] = {
        "what the paper says": lambda claim: claim.statement,
        "parts reproduced": _outcome,
    }
    if any(claim.scaled_down for claim in claims):
        columns["scaled down"] = lambda claim: _outcome(claim.scaled_down) if claim.scaled_down else ""
    if any(claim.elsewhere for claim in claims):
        columns["other registered set-ups"] = _tried
    rows = [
        [Link(claim.id, anchor(claim), page(family)), *(cell(claim) for cell in columns.values())]
        for family in families
        for claim in family.claims
    ]
    return Table(("claim", *columns), rows, numeric=False)


def _outcome(one: Judgment) -> Status:
    """Returns the outcome as a sign, with the number of reproduced parts."""
    return Status(_parts(one) or one.outcome, _KINDS[one.outcome])


def _parts(one: Judgment) -> str:
    return f"{one.holding} of {one.parts}" if one.parts else ""


def _tried(claim: Judged) -> str:
    """Returns a claim's results in other set-ups: first those that reproduce it, then the others."""
    there = _full(claim)
    if not there:
        return "none tried" if claim.outcome == DIFFERS else ""
    told = []
    for sign, is_out in (("✔", True), ("✘", False)):
        alike: dict[tuple[str, str], list[Elsewhere]] = {}
        for one in there:
            if (one.outcome == REPRODUCED) is is_out:
                parts = "" if is_out else _parts(one)
                alike.setdefault((parts, _change(claim, one)), []).append(one)
        if alike:
            told.append(f"{sign} {'; '.join(_came(*what, ones) for what, ones in alike.items())}")
    return "; ".join(told)


def _came(parts: str, change: str, ones: Sequence[Elsewhere]) -> str:
    """Returns set-ups with the same result, how many parts they reproduce, and whether that is worse."""
    notes = [f"{parts} each" if parts and len(ones) > 1 else parts, change if change == _WORSE else ""]
    told = ", ".join(note for note in notes if note)
    named = ", ".join(f"{_named(one)}{_ALIKE * _alike(one)}" for one in ones)
    return f"{named} ({told})" if told else named


def _named(one: Elsewhere) -> str:
    return f"{one.words}{_SCALED_DOWN * one.is_quick}"


def _alike(one: Elsewhere) -> bool:
    """Returns whether a set-up has the published result at its points, so that only they differ."""
    return one.same_points is not None and one.same_points.is_like(one)


def _published(claim: Judged, one: Elsewhere) -> Judgment:
    """Returns the result of the published set-up of the same size at the points of another set-up."""
    return one.same_points or (claim.scaled_down if one.is_quick else None) or claim


def _change(claim: Judged, one: Elsewhere) -> str:
    """Returns whether another set-up reproduces more or fewer parts than the published one of the same size
    and points; empty if the numbers are equal, or if the two do not have the same parts."""
    there = _published(claim, one)
    if there.parts != one.parts or there.holding == one.holding:
        return ""
    return _BETTER if one.holding > there.holding else _WORSE


def _worse(families: Sequence[Family]) -> list[Block]:
    """Returns for each set-up the claims with fewer and those with more reproduced parts than the published
    one. A set-up that changes one claim only is left out; that claim's row has it."""
    found: dict[str, dict[str, list[str]]] = {}
    for family in families:
        for claim in family.claims:
            for one in _full(claim):
                found.setdefault(_named(one), {}).setdefault(_change(claim, one), []).append(claim.id)
    same: dict[str, list[str]] = {}
    for words, changes in found.items():
        if _WORSE in changes and sum(len(changes.get(one, ())) for one in (_WORSE, _BETTER)) > 1:
            better = f"; more of {', '.join(changes[_BETTER])}" if _BETTER in changes else ""
            same.setdefault(f"{', '.join(changes[_WORSE])}{better}", []).append(words)
    told = [
        f"With {' or '.join(words)}: fewer parts reproduced of {changed}." for changed, words in same.items()
    ]
    if not told:
        return []
    return [Paragraph("Set-ups that change several claims, some for the worse:"), Bullets(told)]


def _full(claim: Judged) -> list[Elsewhere]:
    """Returns each other set-up in the largest form that was run."""
    found: dict[str, Elsewhere] = {}
    for one in claim.elsewhere:
        found.setdefault(one.words, one)
    return list(found.values())


def anchor(claim: Judged) -> str:
    return "claim-" + "".join(letter for letter in claim.id.lower() if letter.isalnum())


def _family(family: Family, families: Sequence[Family], inline: bool, level: int = 3) -> Iterator[Block]:
    """Yields the blocks of an experiment; its parts have headings of `level`."""
    if level == 2:
        # Links lead to this anchor whether the experiment has its own page or not.
        yield Heading("Set-up", anchor=f"experiment-{family.name}")
    if family.description:
        yield Paragraph(family.description)
    yield from _setup(family)
    yield from _state(family)
    if family.claims:
        yield Heading("Claims", level)
        yield from map(_claim, family.claims)
    yield from _judged_again(family, families, level)
    if without_claims(families):
        yield from _numbers(family, level)
    yield Heading("Figures", level)
    if not family.figures:
        yield Paragraph("This experiment has no figures.")
    for one in family.figures:
        yield from _figure(one, inline)
    yield Heading("Conditions", level)
    yield Bullets(_conditions(family))


def _numbers(family: Family, level: int) -> list[Block]:
    """Returns a table of an experiment's points, one row each."""
    found = points.points(family.runs)
    if not found:
        return []
    told = "Each number is the mean over a point's seeds, with the lowest and the highest where they differ."
    table = Table(*points.table(found, points.shown_columns(found)))
    return [Heading("Numbers", level), Paragraph(told), table]


def _judged_again(family: Family, families: Sequence[Family], level: int) -> list[Block]:
    """Returns the results of other experiments' claims on the rows of this experiment."""
    rows: list[list[Cell]] = []
    for other in families:
        for claim in other.claims:
            link = Link(claim.id, anchor(claim), page_of(other) if level == 2 else "")
            for one in claim.elsewhere:
                if one.experiment == family.results.name:
                    there = _published(claim, one)
                    rows.append([link, one.words, _outcome(one), _outcome(there)])
    if not rows:
        return []
    told = "The number of reproduced parts of each claim. The claim itself has the measurements."
    head = ("claim", "with", "here", "published set-up, same points")
    return [Heading("Claims judged again", level), Paragraph(told), Table(head, rows, numeric=False)]


def _setup(family: Family) -> Iterator[Block]:
    setup = family.setup
    if setup.setup:
        yield Table(*setup.table(), numeric=False)
    if setup.short:
        yield Paragraph(setup.short)
    if setup.assumptions:
        yield Paragraph("Assumptions beyond the paper:")
        yield Bullets([one.sentence() for one in setup.assumptions])
    if family.base:
        title = f"Base settings of every run of {family.name}; the axes override them"
        yield Fold(title, [Code(family.base)])


def _state(family: Family) -> list[Block]:
    items = []
    if not len(family.runs):
        items.append(f"Nothing was measured: there are no finished runs of `{family.name}`.")
    if family.not_run and len(family.runs):
        items.append(f"Not run of {family.planned} planned: {'; '.join(family.not_run)}.")
    for row in family.failed:
        where = ", ".join(f"{axis} {value}" for axis, value in row.used_axes.items())
        items.append(f"Failed: {where}, seed {row.seed}: {row.get('error') or 'no reason was recorded'}")
    items += [f"Left out: {reason}." for reason in family.refused]
    return [Bullets(items)] if items else []


def _claim(claim: Judged) -> ClaimOutcome:
    facts = [("The paper", f"{claim.statement} ({claim.where})")]
    if claim.band:
        facts.append(("Reproduced if", claim.band))
    facts.append(("Measured", claim.measured or "nothing"))
    if claim.scaled_down is not None:
        facts.append(("Scaled down", f"{claim.scaled_down.outcome}: {claim.scaled_down.measured}"))
    for one in claim.elsewhere:
        seeds = ", ".join(map(str, one.seeds))
        source = f"`{one.experiment}`, seeds {seeds}"
        if one.same_points is not None:
            source += f"; published set-up at the same points: {_outcome_in_words(one.same_points)}"
        facts.append((f"With {one.words}", f"{_outcome_in_words(one)} ({source}): {one.measured}"))
    if claim.finding is not None:
        facts.append(("Reason" if claim.outcome == DIFFERS else "Note", claim.finding.reason))
        if claim.finding.evidence:
            facts.append(("Evidence", claim.finding.evidence))
    elif claim.outcome == DIFFERS:
        facts.append(("Reason", _UNEXPLAINED))
    return ClaimOutcome(anchor(claim), claim.id, Status(claim.outcome, _KINDS[claim.outcome]), facts)


def _outcome_in_words(one: Judgment) -> str:
    return f"{_parts(one)} parts" if one.outcome == DIFFERS else one.outcome


def _figure(one: Rendered, inline: bool) -> Iterator[Block]:
    drawing = one.drawing
    yield Heading(drawing.title, 4, anchor=f"figure-{drawing.name}")
    source = f"{drawing.paper}. " if drawing.paper else ""
    if one.problem or not drawing.measured():
        why = f"drawn: {one.problem}" if one.problem else "measured"
        yield Paragraph(f"{source}Not {why}.")
        return
    missing, points = drawing.missing()
    crosses = ", marked by a cross" if any(panel.kind != "lines" for panel in drawing.panels) else ""
    lacks = f" {missing} of {points} points have no number{crosses}." if missing else ""
    blank = [panel.title for panel in drawing.panels if not panel.measured()]
    left_out = f" Not measured, and not drawn: {'; '.join(blank)}." if blank else ""
    caption = f"{source}{drawing.caption}{lacks}{left_out}"
    yield Picture(one.file, svg.inline(one.text) if inline else "", drawing.title, caption)
    yield Fold("The numbers", drawing_table(drawing))


def _conditions(family: Family) -> list[str]:
    def code(*texts: str | None) -> str:
        return ", ".join(f"`{text}`" for text in texts if text) or "unknown"

    per_seed = sorted(Counter(run.seed for run in family.runs).items())
    seeds = ", ".join(str(seed) for seed, _ in per_seed) or "none"
    counted = ", ".join(f"{count:,} with seed {seed}" for seed, count in per_seed)
    wall = math.fsum(float(row.get("cpu_seconds") or 0) for row in family.rows)
    items = [
        f"{len(family.runs):,} finished runs{f' ({counted})' if counted else ''}, {wall:,.0f} s of CPU; "
        f"seeds {seeds}. Figures and tables show the mean over a point's seeds; lines in a figure and "
        "brackets in a table show the lowest and the highest. A point without them has one seed.",
        f"Commit {code(*family.origin.get('commits', ()))}.",
        f"P4 program {code(family.origin.get('program_digest'))}, engine "
        f"{code(family.origin.get('engine_digest'))} (SHA-256 of the compiled program and of the engine's "
        "sources).",
        f"Drawn with {', '.join(_packages())}.",
    ]
    violations = sum(int(row.get("phy_violations") or 0) for row in family.rows)
    reordered = sum(int(row.get("reordered") or 0) for row in family.rows)
    if len(family.runs):
        items.append(
            "Checked in every run: each packet that was sent was delivered or counted as dropped, by class. "
            f"{reordered} packets left a port out of order; {violations} transmissions began before their "
            "PHY was awake."
        )
    return items


def _packages() -> Iterator[str]:
    """Yields the packages that computed and drew the page, with their versions."""
    for name in _DRAWN_WITH:
        with suppress(metadata.PackageNotFoundError):
            yield f"{name} {metadata.version(name)}"
