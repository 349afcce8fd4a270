"""The files of the report: README.md, NAME.md of each experiment, figures/NAME.svg, data/claims.json, and
each experiment's rows and manifest."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from eeon_tools.errors import InputError

from eeon_experiments import store
from eeon_experiments.claims.model import Judgment
from eeon_experiments.report import markdown, points, webpage
from eeon_experiments.report.document import CLAIMS, document, of_experiment, overview, page_of
from eeon_experiments.report.family import DATA, Family, without_claims

PAGE = "README.md"
SIZE_LIMIT_BYTES = 1_000_000
"""Maximum size of each file beside the page, because they are committed."""
_FORMAT = 1


def pages(families: Sequence[Family], command: str) -> dict[str, str]:
    """Returns the Markdown by file: an overview and a page for each experiment, or a single page for a single
    experiment. Drawings are linked, not drawn."""
    if len(families) == 1:
        return {PAGE: markdown.render(document(families, command))}
    found = {PAGE: markdown.render(overview(families, command))}
    for family in families:
        found[page_of(family)] = markdown.render(of_experiment(family, families))
    return found


def files(families: Sequence[Family], command: str) -> dict[str, str]:
    """Returns the texts of the pages, their drawings and the claims, by path from the first page's folder.
    The same families give the same texts."""
    found = pages(families, command)
    found |= {one.file: one.text for family in families for one in family.figures if one.text}
    if without_claims(families):
        found |= {f"{one.data}/{points.FILE}": points.as_csv(points.points(one.runs)) for one in families}
    else:
        found[CLAIMS] = claims_json(families)
    return found


def claims_json(families: Sequence[Family]) -> str:
    """Returns the claims as JSON, with one line per claim."""
    text = json.dumps(summary(families), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # Quotation marks in texts are escaped, so this sequence occurs only at the beginning of a claim.
    return text.replace('{"id":', '\n{"id":') + "\n"


def web_page(families: Sequence[Family], command: str) -> str:
    """Returns everything as one HTML page that needs no other file."""
    return webpage.render(document(families, command, inline=True))


def write(families: Sequence[Family], folder: Path, command: str) -> list[Path]:
    """Writes the page and all files beside it, and replaces files of the same names. Returns the paths.

    Raises InputError for a file above the limit, before anything is written.
    """
    contents = {path: text.encode() for path, text in files(families, command).items()}
    for family in families:
        places = {family.data: family.results}
        if family.scaled_down is not None:
            places[f"{DATA}/{family.scaled_down.name}"] = family.scaled_down
        for place, source in places.items():
            for name in (store.ROWS, store.MANIFEST):
                if (source / name).is_file():
                    contents[f"{place}/{name}"] = (source / name).read_bytes()
    for path, content in contents.items():
        if len(content) > SIZE_LIMIT_BYTES:
            large = f"would have {len(content):,} bytes; the limit is {SIZE_LIMIT_BYTES:,}"
            raise InputError(str(folder / path), "", large)
    written = []
    for path, content in contents.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        store.write_atomically(target, content)
        written.append(target)
    return written


def summary(families: Sequence[Family]) -> dict[str, object]:
    return {
        "format": _FORMAT,
        "experiments": {
            family.name: {
                "quick": family.quick,
                "runs": len(family.runs),
                "planned": family.planned,
                "failed": len(family.failed),
                "seeds": family.runs.seeds(),
                "commits": list(family.origin.get("commits", ())),
                "program_digest": family.origin.get("program_digest") or "",
                "engine_digest": family.origin.get("engine_digest") or "",
            }
            for family in families
        },
        "claims": [
            {
                "id": claim.id,
                "experiment": family.name,
                **_of(claim, "statement", "where", "outcome", "measured"),
                "numbers": _finite(claim.numbers),
                **_of(claim, "holding", "parts"),
                "elsewhere": [
                    _of(one, "words", "experiment", "outcome", "measured", "holding", "parts", "seeds")
                    | {"same_points": one.same_points and _of(one.same_points, "outcome", "holding", "parts")}
                    for one in claim.elsewhere
                ],
                "scaled_down": claim.scaled_down
                and _of(claim.scaled_down, "outcome", "measured", "holding", "parts"),
                "reason": claim.finding.reason if claim.finding else None,
                "evidence": claim.finding.evidence if claim.finding else None,
            }
            for family in families
            for claim in family.claims
        ],
    }


def _of(one: Judgment, *names: str) -> dict[str, object]:
    return {name: getattr(one, name) for name in names}


def _finite(numbers: Mapping[str, float]) -> dict[str, float | None]:
    """Replaces numbers that are not finite with None, because JSON has no NaN."""
    return {name: value if math.isfinite(value) else None for name, value in numbers.items()}
