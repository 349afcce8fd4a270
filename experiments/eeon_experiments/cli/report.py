"""`eeon experiment report`: writes a page that compares the papers' claims with the measurements."""

import shlex
from collections import Counter
from contextlib import suppress
from pathlib import Path

import click
from eeon_control.cli.options import FILE, FOLDER, output_file
from eeon_control.cli.output import counted
from eeon_control.outputs import write_text
from eeon_tools.cli.support import reports_errors
from eeon_tools.errors import InputError, UnavailableError

from eeon_experiments.cli.numbers import MOST_ROWS, show_points

_RESULTS = Path("out/experiments")
_OUTPUT = Path("out/report")
_COMMITTED = "docs/results"


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option(
    "--results", type=FOLDER, default=_RESULTS, help="Folder with one folder of results per experiment."
)
@click.option(
    "-o", "--output", type=FOLDER, default=_OUTPUT, help="Folder for README.md, figures/ and data/."
)
@click.option("--html", "html_path", type=FILE, help="Also write the report as one HTML page.")
@click.option("--quick", is_flag=True, help="Use the scaled-down forms, in folders RESULTS/NAME-quick.")
@reports_errors
def report(names: tuple[str, ...], results: Path, output: Path, html_path: Path | None, quick: bool) -> None:
    """Write a page that compares every claim of the papers with the measurements.

    NAME is an experiment that ships, a file, or a folder with an experiment.yaml. Without NAME, the report
    covers all experiments that ship. For an experiment without claims, the page has the numbers of its points
    and a picture for each axis, and data/NAME/points.csv has all numbers. The page is OUTPUT/README.md, with
    its figures and data beside it. It names the runs that are missing.

    \b
    eeon experiment report
    eeon experiment report marking aqm --output out/report --html out/report/page.html
    eeon experiment report threshold --quick --output out/report
    eeon experiment report --results docs/results/data --output docs/results    # the committed page
    """
    from eeon_experiments import shipped
    from eeon_experiments.claims.model import OUTCOMES
    from eeon_experiments.report import gather, points
    from eeon_experiments.report import output as files
    from eeon_experiments.report.family import DATA, FULL, QUICK, without_claims
    from eeon_experiments.sweep import older
    from eeon_experiments.versions import versions

    if html_path is not None:
        output_file(html_path)
    wanted = list(dict.fromkeys(names or shipped.in_order()))
    families = [gather.family(name, results, QUICK if quick else FULL) for name in wanted]
    for name, count in Counter(family.name for family in families).items():
        if count > 1:
            several = "is the name of several of these experiments; report each into another OUTPUT"
            raise InputError("NAME", name, several)
    # Uses the data beside the page, so that a reader of the page can rebuild it.
    words = ["eeon", "experiment", "report", *names, *["--quick"] * quick]
    if quick or without_claims(families) or not set(wanted) <= set(shipped.in_order()):
        words += ["--results", str(results), "--output", str(output)]
    else:
        words += ["--results", f"{_COMMITTED}/{DATA}", "--output", _COMMITTED]
    command = shlex.join(words)
    written = files.write(families, output, command)
    if html_path is not None:
        write_text(html_path, files.web_page(families, command))
        written.append(html_path)
    for family in families:
        counts = ", ".join(
            f"{sum(claim.outcome == outcome for claim in family.claims)} {outcome}" for outcome in OUTCOMES
        )
        told = f"; {counts}" if family.claims else ""
        planned = f" ({family.planned} planned)" if family.planned is not None else ""
        click.echo(f"{family.name}: {counted(len(family.runs), 'run')} measured{planned}{told}")
        if not family.claims:
            with suppress(UnavailableError):  # without an engine, rows are of another one
                for line in older(family.results, family.rows, versions()):
                    click.echo(line, err=True)
            show_points(points.points(family.runs), most=MOST_ROWS)
    click.echo(f"{output / files.PAGE} and {len(written) - 1} files with it")
