"""A file in the format of the coflow benchmark, as coflows of an experiment."""

from pathlib import Path

import made_experiments
from eeon_experiments.expand import Point

from control_plane.tests.expected_rows import bases

EXPERIMENT = bases(Path(__file__).parent / "expected" / "workloads.yaml")["traced"]
# Racks 0 to 4 are h1, h3, h2, h4, h1: assigned to the two leaves in turn.
TRACE = bases(Path(__file__).parent / "expected" / "workloads.yaml")["trace"]


def points(folder: Path, given: str = "file: trace.txt") -> list[Point]:
    (folder / "trace.txt").write_text(TRACE, encoding="ascii")
    return made_experiments.points(folder, EXPERIMENT.replace("file: trace.txt", given))


def test_a_rack_is_a_host_and_a_reducer_gets_equal_parts_from_its_mappers(tmp_path: Path) -> None:
    [settings, _, _] = points(tmp_path)[0].run.parts()
    [(_, application)] = settings.workload.applications.items()
    found = {
        name: (int(one.at), [(sent.source, sent.destination, int(sent.size)) for sent in one.transfers])
        for name, one in application.sets.items()
    }
    assert found == {
        # The first has mapper and reducer on one host: it sends nothing, and the run begins with its arrival.
        "2_8": (
            50 * 10**9,
            [("h1", "h2", 1_500_000), ("h3", "h2", 1_500_000), ("h1", "h4", 1), ("h3", "h4", 1)],
        ),
        "3_9": (2050 * 10**9, [("h4", "h3", 2_000_000)]),
    }


def test_a_range_can_be_taken_and_scaled(tmp_path: Path) -> None:
    given = "file: trace.txt, first: 2, last: 3, scale: 0.5, time_scale: 4.0e+6"
    [settings, _, _] = points(tmp_path, given)[0].run.parts()
    [(_, application)] = settings.workload.applications.items()
    assert [int(one.at) // 1000 for one in application.sets.values()] == [0, 500]
    assert int(application.sets["3_9"].transfers[0].size) == 1_000_000
