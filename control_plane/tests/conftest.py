"""What holds for every test: a state folder of its own, never the user's."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    folder = tmp_path / "state"
    monkeypatch.setenv("EEON_STATE", str(folder))
    return folder
