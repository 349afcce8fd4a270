"""Fixtures of several tests: traces on the smallest fabric."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from eeon_control import topology as topologies
from eeon_tools.trace.generate import Workload, generate
from eeon_tools.trace.manifest import manifest_path
from eeon_tools.trace.senders import SenderSettings
from made_jobs import INCAST, small_job


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests that need a trace: the twin that makes it starts servers."""
    for item in items:
        if "made_trace" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.system)


@pytest.fixture(scope="session")
def made_trace(tmp_path_factory) -> Callable[[Workload, int], Path]:
    """Makes a trace of a workload on leaf-spine-4."""

    def make(workload: Workload, seed: int) -> Path:
        path = tmp_path_factory.mktemp("made") / f"{workload.kind}.pcap"
        generate(path, topologies.load("leaf-spine-4"), workload, SenderSettings(), seed)
        return path

    return make


@pytest.fixture(scope="session")
def _small_trace(made_trace) -> Path:
    return made_trace(small_job(), 7)


@pytest.fixture
def small_trace(_small_trace, tmp_path) -> Path:
    """Returns a trace of a few hundred packets with its manifest, which a test may change."""
    path = tmp_path / _small_trace.name
    for file in (_small_trace, manifest_path(_small_trace)):
        shutil.copy(file, path.with_name(file.name))
    return path


@pytest.fixture(scope="session")
def incast(made_trace) -> Path:
    """Returns a trace that congests the link of one host."""
    return made_trace(INCAST, 1)


@pytest.fixture
def named_trace(request) -> Callable[[str], Path]:
    """Returns the trace `small` or `incast`, which are made on the first use."""
    return lambda name: request.getfixturevalue({"small": "_small_trace", "incast": "incast"}[name])
