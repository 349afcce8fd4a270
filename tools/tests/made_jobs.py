"""Jobs for tests."""

from __future__ import annotations

from eeon_tools.trace.mapreduce import ShuffleSettings


def small_job(maps: int = 4, split_bytes: int = 200_000) -> ShuffleSettings:
    """A job of milliseconds on four hosts."""
    return ShuffleSettings(
        maps=maps, reducers=4, split_bytes=split_bytes, startup_ns=1_000_000, heartbeat_ns=1_000_000
    )
