"""TCP's settings in users' units, and in the engine's form."""

from __future__ import annotations

from typing import get_args

import pytest
from eeon_experiments.tcp import Tcp


def test_the_algorithms_are_those_of_the_engine() -> None:
    engine = pytest.importorskip("eeon_engine", reason="the engine is not built; `make setup` builds it")
    assert set(get_args(Tcp.model_fields["algorithm"].annotation)) == set(engine.TCP_NAMES)
