"""What several tests share: the hosts of the smallest fabric and a small trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from eeon_control import topology as topologies
from eeon_tools.trace import hosts as trace_hosts
from eeon_tools.trace.generate import generate
from eeon_tools.trace.hosts import TraceHost
from eeon_tools.trace.mapreduce import Shuffle
from eeon_tools.trace.segments import TcpModel
from made_jobs import Incast, small_job


@pytest.fixture(scope="session")
def hosts() -> list[TraceHost]:
    """The four hosts of leaf-spine-4, two a leaf, at 1 Gbit/s."""
    return trace_hosts.of_topology(topologies.load("leaf-spine-4"))


@pytest.fixture
def small_trace(tmp_path: Path, hosts: list[TraceHost]) -> Path:
    """A trace of a few hundred packets with its manifest."""
    path = tmp_path / "small.pcap"
    generate(path, "leaf-spine-4", hosts, Shuffle(small_job(), len(hosts), 7), TcpModel(), 7)
    return path


@pytest.fixture(scope="session")
def incast(tmp_path_factory: pytest.TempPathFactory, hosts: list[TraceHost]) -> Path:
    """A trace that congests the link of one host."""
    path = tmp_path_factory.mktemp("incast") / "incast.pcap"
    generate(path, "leaf-spine-4", hosts, Incast(), TcpModel(), 1)
    return path
