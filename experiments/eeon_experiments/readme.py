"""The README.md of each experiment's folder and of the folder of all experiments, generated from their data.

`python -m eeon_experiments.readme` writes those of the experiments that ship.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from eeon_experiments import files, setup, shipped
from eeon_experiments.expand import count
from eeon_experiments.report import markdown
from eeon_experiments.report.blocks import Block, Bullets, Code, Document, Heading, Paragraph, Table

FILE = "README.md"
_CODE = re.compile(r"(?<!\[)`([\w./-]+)`(?!\])")


def of_experiment(name: str) -> str:
    """Returns the README of an experiment that ships."""
    experiment = files.load(name)
    folder = experiment.path.parent
    told = setup.load(folder, experiment.document)
    blocks: list[Block] = []
    if experiment.file.description:
        blocks.append(Paragraph(experiment.file.description))
    blocks += [Paragraph(text) for text in told.about]
    if experiment.file.claims:
        blocks.append(Paragraph(f"{_span(experiment.file.claims)}."))
    if told.questions:
        blocks.append(Bullets(told.questions))
    blocks.append(Code(_commands(experiment, told)))
    if told.setup or told.notes or told.short:
        blocks.append(Heading("Set-up"))
    if told.setup:
        head, rows = told.table()
        blocks.append(Table(head, rows, numeric=False))
    blocks += [Paragraph(text) for text in (*told.notes, told.short) if text]
    if told.assumptions:
        blocks.append(Heading("Assumptions"))
    if told.assumed:
        blocks.append(Paragraph(told.assumed))
    if told.assumptions:
        blocks.append(Bullets([one.sentence() for one in told.assumptions]))
    title = f"{experiment.name}: {experiment.file.title}"
    return _linked(markdown.render(Document(title, blocks)), folder)


def _span(claims: Sequence[str]) -> str:
    """Returns the range of its claims, in the order of the file."""
    return f"Claims {claims[0]} to {claims[-1]}" if len(claims) > 1 else f"Claim {claims[0]}"


def _commands(experiment: files.Experiment, told: setup.Setup) -> str:
    """Returns the commands that run the experiment, with the number of runs and the size of each form."""
    forms = [(f"eeon experiment run {experiment.name}", count(experiment), told.full)]
    if experiment.file.quick is not None:
        forms.append((f"{forms[0][0]} --quick", count(experiment, quick=True), told.quick))
    width = max(len(command) for command, _, _ in forms)
    return "\n".join(
        f"{command:<{width}}  # {': '.join(part for part in (f'{runs} runs', size.replace('`', '')) if part)}"
        for command, runs, size in forms
    )


def of_all() -> str:
    """Returns the README of the folder of all experiments that ship."""
    folder = shipped.folder()
    rows = [(f"`{name}`", _line(name)) for name in shipped.in_order()]
    blocks: Sequence[Block] = (
        Paragraph(
            "Each experiment has its own folder; `eeon experiment list` lists them. `docs/experiments.md` "
            "explains how to run them, the content of their files, and the columns of the results."
        ),
        Table(
            ("file", "content"),
            (
                ("`experiment.yaml`", "the runs: settings, axes, sweeps, seeds, the quick form"),
                ("`setup.yaml`", "the values from a paper, and the assumptions beyond it"),
                ("`claims.yaml`", "the paper's claims, each with its band, in words and as conditions"),
                ("`claims.py`", "judges of claims with conditions that the file cannot state"),
                ("`figures.yaml`", "the report's figures: texts, panels, the numbers in them"),
                ("`figures.py`", "numbers of figures that the file cannot ask for"),
                ("`findings.yaml`", "why a result differs from the paper's claim"),
                ("`judged.yaml`", "the experiments whose claims also judge its rows"),
                ("`README.md`", "generated from `experiment.yaml` and `setup.yaml` by `make reference`"),
            ),
            numeric=False,
        ),
        Paragraph(
            "`eeon_experiments/` is the code that all experiments share; `tests/` has its tests and theirs. "
            "Together they form the package eeon-experiments, which provides the command `eeon experiment`."
        ),
        Table(("folder", "subject"), rows, numeric=False),
    )
    return _linked(markdown.render(Document("Experiments", blocks)), folder)


def _line(name: str) -> str:
    experiment = files.load(name)
    told, claims = setup.load(experiment.path.parent, experiment.document), experiment.file.claims
    return f"{told.summary}. {_span(claims)}" if claims else told.summary


def _linked(text: str, folder: Path) -> str:
    """Returns the page with each code word that names another experiment or a document of the repository as a
    link."""
    root = shipped.folder().parent
    experiments = {*shipped.names()} - {folder.name}

    def link(found: re.Match[str]) -> str:
        word = found[1]
        if word in experiments:
            return f"[{word}]({_relative(shipped.folder() / word / FILE, folder)})"
        if word.endswith(".md") and "/" in word and (root / word).is_file():
            return f"[{word}]({_relative(root / word, folder)})"
        return found[0]

    return _CODE.sub(link, text)


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def pages() -> dict[Path, str]:
    """Returns every README by its file."""
    folder = shipped.folder()
    return {
        folder / FILE: of_all(),
        **{folder / name / FILE: of_experiment(name) for name in shipped.names()},
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(path)
