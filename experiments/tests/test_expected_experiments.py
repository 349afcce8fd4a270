"""Results and refusals of experiments, workloads and searches: each row of `expected/*.yaml`."""

import lzma
import operator
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import made_runs
import pytest
import test_tune
import test_tune_attack
from eeon_control import config, topology
from eeon_control.errors import EeonError
from eeon_experiments import expand, files, setup, store
from eeon_experiments.claims import model as claims
from eeon_experiments.fabric import spec_of, workload_of
from eeon_experiments.nic_queue import queue_like
from eeon_experiments.qcn import Dcqcn, Qcn
from eeon_experiments.quantities import rough_time
from eeon_experiments.report import elsewhere, gather, markdown
from eeon_experiments.report.blocks import Document, Paragraph
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.comparison import Compared, compare
from eeon_experiments.report.points import drawings
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Results
from eeon_experiments.results import Row as RowOfRun
from eeon_experiments.scheduler import Scheduler
from eeon_experiments.settings import Nic
from eeon_experiments.tcp import Tcp
from eeon_experiments.tune import knobs
from eeon_experiments.tune.answer import share
from eeon_experiments.workloads import Workload
from eeon_experiments.workloads.flow_files import read_list, read_points, shipped_points
from eeon_experiments.workloads.flows import Sizes
from eeon_experiments.workloads.job_mix import JobMix
from eeon_experiments.workloads.phases import Step
from eeon_tools.errors import ToolsError
from made_experiments import points
from pydantic import ValidationError
from test_compare import runs
from test_folder import EXPERIMENT

from control_plane.tests import expected_rows
from control_plane.tests.expected_rows import Messages, Reader, bases, command, rows, value

FOLDER = Path(__file__).parent / "expected"
FLOWS = bases(FOLDER / "workloads.yaml")["flows"]
MODELS = {one.__name__: one for one in (Scheduler, Tcp, Qcn, Dcqcn, Nic, JobMix)}


def refused(read: Callable[[], object], folder: Path) -> Messages:
    return expected_rows.refused(
        read, errors=(EeonError, ToolsError, ValueError, claims.Missing), folder=folder
    )


def experiment(text: str, folder: Path, quick: bool = False) -> Messages:
    return refused(lambda: points(folder, text, quick=quick), folder)


def combinations(text: str, folder: Path, quick: bool = False) -> object:
    """Returns the axes' values and the seed of each point, of which there are as many as are counted."""
    found = points(folder, text, quick=quick)
    assert expand.count(files.load(folder), quick=quick) == len(found)
    return [[*point.axes.values(), point.run.seed] for point in found]


def settings(text: str, folder: Path, keys: list[str], quick: bool = False) -> object:
    """Returns the values of some keys for each point."""
    return [
        [reduce(operator.getitem, key.split("."), point.run.settings) for key in keys]
        for point in points(folder, text, quick=quick)
    ]


def application(text: str, folder: Path, key: str) -> object:
    """Returns the engine's form of an application, under a key."""
    of_run, fabric, _ = points(folder, text)[0].run.parts()
    found: object = workload_of(of_run, fabric, 1)["applications"][0]
    for part in key.split("."):
        assert isinstance(found, Mapping)
        found = found.get(part)
    return found


def model(text: str, folder: Path, of: str) -> object:
    """Returns settings in the engine's form, or the reasons why they are invalid."""
    try:
        made = MODELS[of].model_validate(value(text))
    except ValidationError as error:
        return Messages(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
    return Messages([]) if isinstance(made, (Nic, JobMix)) else made.engine()


def nic(text: str, folder: Path) -> object:
    """Returns the engine's form of a NIC at 1 Gbit/s that queues like a port with this profile."""
    roles = {role: {"queue": "fabric"} for role in ("host_facing", "uplink", "spine")}
    profiles = {"queue": {"fabric": {"buffer": "shallow", **value(text)}}}
    leaf = topology.load("leaf-spine-160").port("leaf1:1")
    assert leaf is not None
    return queue_like(config.from_value({"profiles": profiles, "roles": roles}, "made"), leaf)


def job_mix(text: str, folder: Path) -> Messages:
    workload = Workload.model_validate({"applications": {"small": value(text)}})
    return Messages(
        f"{'.'.join(place)}: {rule}" for place, rule in workload.broken(topology.load("two-rack-24"))
    )


def distribution(text: str, folder: Path) -> Messages:
    """Returns the reasons why a file is not a distribution: from its reader, and from an experiment."""
    (folder / "own.cdf").write_text(text, encoding="utf-8")
    alone = refused(lambda: read_points(folder / "own.cdf"), folder)
    return Messages([*alone, *experiment(FLOWS.replace("websearch", "own.cdf"), folder)])


def list_of_flows(text: str, folder: Path) -> Messages:
    (folder / "flows").write_text(text, encoding="utf-8")
    return refused(lambda: read_list(folder / "flows"), folder)


def search(text: str, folder: Path) -> Messages:
    return Messages(test_tune.refusal(folder, text).replace(f"{folder}/", "").splitlines())


def attack(text: str, folder: Path) -> Messages:
    asked: list[str] = []
    found = refused(lambda: test_tune_attack.attacked(folder, text, asked), folder)
    assert not asked
    return found


def folder_of_ones_own(text: str, folder: Path, file: str) -> Messages:
    """Returns the mistakes in a file beside an experiment's."""
    (folder / "experiment.yaml").write_text(EXPERIMENT)
    (folder / file).write_text(text)
    read: dict[str, Callable[[], object]] = {
        "setup.yaml": lambda: setup.load(folder),
        "figures.yaml": lambda: Figures(str(folder / "figures.py")),
        "judged.yaml": lambda: elsewhere.load(folder),
    }
    found = refused(read.get(file, lambda: gather.family(str(folder), folder)), folder)
    assert all(file in line for line in found)
    return found


def compared(text: str, folder: Path) -> Messages:
    there = runs(("l30", "slow", 1, 1.0), ("l30", "fast", 1, 2.0), ("l70", "slow", 2, 1.0))
    return refused(lambda: compare(there, Compared.parse(text), "runtime_seconds"), folder)


def messages(text: str, folder: Path) -> str:
    """Returns the sending and the receiving rank of each message of a step among four ranks."""
    return " ".join(f"{one}-{other}" for one, other in Step.model_validate(value(text)).messages(4))


def axis(text: str, folder: Path) -> str:
    """Returns the kind of the drawing along an axis, and the values of the axis in the drawing's order."""
    [drawn] = drawings(Runs(RowOfRun(made_runs.row("ordered", 1, {"size": one})) for one in value(text)))
    return " ".join([drawn.panels[0].kind, *drawn.panels[0].positions])


def change(text: str, folder: Path) -> Messages:
    """Returns the reasons why a column has no change between two points of some rows."""
    results = Results(
        [RowOfRun({"run_id": "1", "status": "finished", "seed": 1, **one}) for one in value(text)]
    )
    points = ({"queue": "red"}, {"queue": "plain"})
    return refused(lambda: claims.change(results, "t", *points), folder)


def fabric(text: str, folder: Path, key: str) -> object:
    """Returns a part of the engine's fabric."""
    found: Any = spec_of(*points(folder, text)[0].run.parts(), 1)
    for part in key.split("."):
        found = found[int(part)] if part.isdecimal() else found.get(part)
    return found


def results(text: str, folder: Path, file: str) -> Messages:
    """Returns the reasons why a folder with this text as its manifest, or as its rows, has no results."""
    made_runs.keep(folder / "out", "tiny", [], [])
    content = text.encode() if file == store.MANIFEST else lzma.compress(text.encode())
    (folder / "out" / file).write_bytes(content)
    return refused(lambda: store.load(folder / "out"), folder)


def paragraph(text: str, folder: Path) -> str:
    """Returns a paragraph in Markdown."""
    return markdown.render(Document("t", [Paragraph(text)])).removeprefix("# t").strip()


READERS: dict[str, Reader] = {
    "eeon": command,
    "experiment": experiment,
    "points": combinations,
    "settings": settings,
    "application": application,
    "model": model,
    "advice": lambda text, folder: Messages(Tcp.model_validate(value(text)).advice()),
    "experiment advice": lambda text, folder: Messages(expand.advice(points(folder, text))),
    "NIC": nic,
    "job mix": job_mix,
    "distribution": distribution,
    "list of flows": list_of_flows,
    "search": search,
    "attack": attack,
    "folder": folder_of_ones_own,
    "comparison": compared,
    "messages": messages,
    "axis": axis,
    "range": lambda text, folder, log: " ".join(map(str, knobs.values(*value(text), log=log))),
    "change": change,
    "fabric": fabric,
    "results": results,
    "mean size": lambda text, folder: round(Sizes(points=shipped_points(text)).mean_bytes()),
    "paragraph": paragraph,
    "rough time": lambda text, folder: rough_time(value(text)),
    "share": lambda text, folder: share(value(text)),
}
TABLES = sorted(FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("row", [row for file in TABLES for row in rows(file)])
def test_answer_is_the_expected_one(row, tmp_path):
    row.check(READERS, tmp_path)
