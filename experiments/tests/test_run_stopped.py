"""`eeon experiment run`, stopped by its user."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from eeon_control.cli import main
from eeon_experiments.sweep import Sweep
from made_experiments import TINY, write


def test_ctrl_c_says_what_is_kept_and_exits_130(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Sweep, "run", interrupted)
    words = ["experiment", "run", str(write(tmp_path, TINY)), "-o", str(tmp_path / "results")]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 130
    assert "stopped: 0 runs kept, 8 missing; the same command continues" in done.stderr
