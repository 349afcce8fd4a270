"""The options for files of what happened to packets at each hop, and these files: of replays, and of runs of
experiments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from eeon_control.cli.options import FILE, as_one, output_file, together

from eeon_tools.cli.support import needs_plots
from eeon_tools.hops.recording import DEFAULT_LIMIT, Recording, recording_filter

if TYPE_CHECKING:
    from eeon_engine.hops import HopFilter


@dataclass(frozen=True)
class RecordedFiles:
    """The files that a command line asks for; `hops`: its limit of events."""

    html: Path | None
    pcapng: Path | None
    perfetto: Path | None
    hops: int | None

    @property
    def are_wanted(self) -> bool:
        """Whether there is one."""
        return any((self.html, self.pcapng, self.perfetto))

    def check(self) -> None:
        """Raises the error of a file that cannot be made: before a run, not after it."""
        for path in (self.html, self.perfetto):
            if path is not None:
                needs_plots(str(path))
        for path in (self.html, self.pcapng, self.perfetto):
            if path is not None:
                output_file(path)

    def filter(self) -> HopFilter:
        """Returns what a recording keeps for these files."""
        from eeon_tools.hops import pcapng

        return recording_filter(
            limit=self.hops or DEFAULT_LIMIT, snap_bytes=pcapng.SNAP_BYTES if self.pcapng else 0
        )

    def write(self, recording: Recording) -> list[str]:
        """Writes all but the page. Returns a line for each file, and one if events are missing."""
        told = []
        if self.pcapng is not None:
            from eeon_tools.hops import pcapng

            count = pcapng.write(recording, self.pcapng)
            told.append(f"pcapng: {self.pcapng}, {count:,} records; frame.packet_id is the packet's number")
        if self.perfetto is not None:
            from eeon_tools.hops import perfetto

            perfetto.write(recording, self.perfetto)
            told.append(f"Perfetto trace: {self.perfetto}; open it in ui.perfetto.dev")
        if missing := recording.truncation():
            told.append(f"{recording.name}: {missing}; --hops sets the limit")
        return told


recording_options = together(
    click.option("--html", type=FILE, help="Write a page for examining the run; it works offline."),
    click.option(
        "--pcapng",
        type=FILE,
        help="Write every packet at every port, with the reason for its verdict as a comment, for Wireshark.",
    ),
    click.option(
        "--perfetto", type=FILE, help="Write queues, sleep and packets over time, for ui.perfetto.dev."
    ),
    click.option(
        "--hops",
        type=click.IntRange(1, 10_000_000),
        help="Maximum number of events recorded for --html, --pcapng and --perfetto; 64 bytes each.  "
        f"[default: {DEFAULT_LIMIT}]",
    ),
    as_one("files", RecordedFiles),
)
"""These options. The command gets them as one parameter: `files`."""
