"""Experiment files: their conversion, and reports of mistakes in them."""

import json
from pathlib import Path

import pytest
from eeon_control.errors import DataNotFound, InputError
from eeon_experiments import files, shipped, store
from eeon_experiments.expand import count, expand
from eeon_experiments.workloads.transfers import POISSON_FRAME_BYTES
from made_experiments import TINY, VERSIONS, points, write

DATA = Path(__file__).parents[2] / "docs" / "results" / "data"


def refusal(folder: Path, text: str, *, quick: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        points(folder, text, quick=quick)
    return str(caught.value).replace(str(folder / "experiment.yaml"), "FILE")


def test_ids_are_the_same_for_the_same_settings_however_they_are_written(tmp_path):
    ids = [point.run.id for point in points(tmp_path)]
    other = TINY.replace("min_rto: 10ms", "min_rto: 10000us").replace("input: 4MB", "input: 4000KB")
    assert [point.run.id for point in points(tmp_path, other)] == ids
    assert [point.run.id for point in points(tmp_path, other.replace("time_limit: 60s", ""))] == ids


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("min_rto: 10ms", "min_rto: 11ms"),
        ("topology: leaf-spine-4", "topology: leaf-spine-4\n  link_delay: 1us"),
        ("heartbeat: 20ms", "heartbeat: 21ms"),
        ("config: drop_tail", "config: [drop_tail, eee_standard]"),
        ("topology: leaf-spine-4", "topology: leaf-spine-4\n  nic: {eee: standard}"),
        ("topology: leaf-spine-4", "topology: leaf-spine-4\n  scheduler: {kind: fca}"),
        ("maps: 8", "maps: 9"),
        ("config: drop_tail", "config: drop_tail\n  faults: [spine1@5ms]"),
    ],
)
def test_another_setting_is_another_run(tmp_path, old, new):
    before = {point.run.id for point in points(tmp_path)}
    after = {point.run.id for point in points(tmp_path, TINY.replace(old, new))}
    assert len(after) == 8 and not before & after


def test_two_points_with_the_same_settings_share_a_run(tmp_path):
    text = TINY.replace("    dctcp: {tcp: {algorithm: dctcp}}", "    again: {tcp: {algorithm: newreno}}")
    found = points(tmp_path, text)
    assert len(found) == 8 and len({point.run.id for point in found}) == 4


def test_fabrics_with_their_nodes_in_another_order_are_not_one_run(tmp_path):
    links = "[{endpoints: ['l:1', 'h1:0']}, {endpoints: ['m:1', 'h2:0']}, {endpoints: ['l:2', 'm:2']}]"
    leaves = ["l: {kind: switch, role: leaf}", "m: {kind: switch, role: leaf}"]
    fabrics = [
        f"    {nodes[0][0]}: {{topology: {{name: two, defaults: {{rate: 1Gbps, delay: 1us}}, links: {links}, "
        f"nodes: {{{', '.join(nodes)}, h1: {{kind: host}}, h2: {{kind: host}}}}}}}}\n"
        for nodes in (leaves, leaves[::-1])
    ]
    text = TINY.replace("  topology: leaf-spine-4\n", "").replace(
        "axes:\n", f"axes:\n  first:\n{''.join(fabrics)}"
    )
    found = {
        point.axes["first"]: str(point.run.parts()[1].hosts["h1"].ipv4) for point in points(tmp_path, text)
    }
    assert found == {"l": "10.0.1.1", "m": "10.0.2.1"}


def test_files_beside_the_experiment_are_found_first(tmp_path):
    (tmp_path / "mine.yaml").write_text("roles: {host_facing: {eee: standard}}\n")
    found = points(tmp_path, TINY.replace("config: drop_tail", "config: [drop_tail, mine.yaml]"))
    _, topology, config = found[0].run.parts()
    assert config.eee_of(topology.ports()[0]).mode == "standard"


def test_a_product_that_is_too_large_is_refused_before_it_is_made(tmp_path):
    values = ", ".join(f"v{index}: {{}}" for index in range(50))
    axes = "".join(f"  {name}: {{{values}}}\n" for name in ("a", "b", "c", "d"))
    assert "the sweeps have 50000000 runs; the limit is 100000" in refusal(
        tmp_path, TINY.replace("axes:\n", f"axes:\n{axes}", 1)
    )
    seeds = TINY.replace("seeds: [1, 2]", f"seeds: {list(range(1001))}")
    assert "seeds: list should have at most 1000" in refusal(tmp_path, seeds)


def test_a_folder_and_its_file_are_the_same_experiment(tmp_path):
    with pytest.raises(DataNotFound, match=r"this folder has no experiment\.yaml; give a file, a folder"):
        files.load(tmp_path)
    write(tmp_path)
    assert files.load(tmp_path).path == files.load(tmp_path / "experiment.yaml").path


@pytest.mark.slow
@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", shipped.names())
def test_every_run_of_the_experiments_that_ship_is_valid_and_has_the_settings_of_its_published_rows(
    name, quick
):
    found = files.load(name)
    assert found.file.name == name
    runs = expand(found, VERSIONS, quick=quick)
    assert len(runs) == count(found, quick=quick)
    settings = {tuple(point.axes.items()): point.run.settings for point in runs}
    for row in store.load(DATA / f"{name}{'-quick' * quick}").rows:
        now = settings[tuple((axis, row.axis(axis)) for axis in found.file.axes)]
        told = json.loads(row.text("settings_json"))
        # Rows that are older than `start_jitter` were made without.
        assert told == now or {**told, "start_jitter": "0s"} == now, row.axes


def test_the_bounds_of_poisson_frames_are_the_engines():
    source = Path(__file__).parents[2] / "engine/workload/src/poisson.rs"
    assert f"FRAME_BYTES: (u64, u64) = {POISSON_FRAME_BYTES};" in source.read_text(encoding="utf-8")


def test_a_workload_may_have_more_than_a_mebibyte(tmp_path):
    text = TINY.replace("    applications:\n", f"    applications:  # {'x' * (1 << 20)}\n")
    assert len(points(tmp_path, text)) == 8
