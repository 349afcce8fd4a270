"""What goes into the state machine of a switch (events) and what comes out (actions). Values only.

An action that is answered carries a `ticket`; its answer carries it back, so that an answer to something that
no longer matters can be told. A ticket of `Connect` also names the connection and everything its stream says.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from eeon_control.fabric.diff import Change
from eeon_control.plan import Entry, EntryKey

# -- events ------------------------------------------------------------------------------------------------


class ArbitrationStatus(StrEnum):
    """What a switch says in a MasterArbitrationUpdate (P4Runtime 1.3, section 5.3)."""

    PRIMARY = "primary"  # status OK: this stream may write
    OTHER = "other"  # ALREADY_EXISTS: another client is primary, with the election id that is told
    NOBODY = "nobody"  # NOT_FOUND: nobody is; the election id that is told is the highest ever seen


@dataclass(frozen=True)
class Connected:
    """The channel is there."""

    ticket: int


@dataclass(frozen=True)
class StreamLost:
    """The connection failed or broke: nothing that was asked on it is answered any more.

    `id_in_use`: the switch closed the stream because another one has the election id that was bid.
    """

    ticket: int
    reason: str
    id_in_use: bool = False


@dataclass(frozen=True)
class Arbitrated:
    """The switch said who is primary, asked or not."""

    ticket: int
    role: ArbitrationStatus
    election_id: int


@dataclass(frozen=True)
class PipelineRead:
    """Whether the switch runs the intended program."""

    ticket: int
    same: bool


@dataclass(frozen=True)
class EntriesRead:
    """What the controller's tables hold."""

    ticket: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Done:
    """A push, a write or the settings were accepted."""

    ticket: int


@dataclass(frozen=True)
class Refused:
    """The switch answered with an error, in whole or in part."""

    ticket: int
    reason: str


@dataclass(frozen=True)
class PortChanged:
    """A port went up or down."""

    port: str
    up: bool


@dataclass(frozen=True)
class Intended:
    """What the switch is meant to hold.

    `settings`: whether there is something that cannot be read back (queue depth and rate over Thrift), to be
    applied after every connection and every push. `entries` include the default actions of the program.
    `owned`: what identifies the entries that are the controller's; None where all of its tables are.
    """

    revision: int
    entries: tuple[Entry, ...]
    settings: bool = False
    owned: frozenset[EntryKey] | None = None


@dataclass(frozen=True)
class IntendedIs:
    """The state folder was read: the answer to Refresh (ticket), or news (ticket 0)."""

    ticket: int
    intended: Intended


@dataclass(frozen=True)
class Writers:
    """Who else writes to this fabric, as the state folder tells.

    `apply_running`: a command holds the folder's lock. `superior`: a controller with a larger election id is
    alive. `inferior_bids`: election ids with which controllers of smaller rank are primary of this switch;
    only over these may a controller bid, because every other primary is there on purpose.
    """

    apply_running: bool = False
    superior: bool = False
    inferior_bids: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Tick:
    """Time has passed; nothing else has happened."""


@dataclass(frozen=True)
class Suspect:
    """Somebody has a reason to doubt what the switch holds."""

    reason: str


Event = (
    Connected
    | StreamLost
    | Arbitrated
    | PipelineRead
    | EntriesRead
    | Done
    | Refused
    | PortChanged
    | IntendedIs
    | Writers
    | Tick
    | Suspect
)

# -- actions -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Connect:
    """Open a channel and its stream. Answered by Connected or StreamLost."""

    ticket: int


@dataclass(frozen=True)
class Disconnect:
    """Close the channel; no further event of this ticket matters."""

    ticket: int


@dataclass(frozen=True)
class Bid:
    """Send a MasterArbitrationUpdate on the stream. Answered by Arbitrated, or StreamLost."""

    ticket: int
    election_id: int


@dataclass(frozen=True)
class Refresh:
    """Read from the state folder what is intended. Answered by IntendedIs."""

    ticket: int


@dataclass(frozen=True)
class ReadPipeline:
    """Ask which program the switch runs. Answered by PipelineRead or Refused."""

    ticket: int


@dataclass(frozen=True)
class ReadEntries:
    """Read the controller's tables. Answered by EntriesRead or Refused."""

    ticket: int


@dataclass(frozen=True)
class PushPipeline:
    """Load the program. Answered by Done or Refused."""

    ticket: int
    election_id: int


@dataclass(frozen=True)
class Write:
    """Send changes in order. Answered by Done or Refused."""

    ticket: int
    election_id: int
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class ApplySettings:
    """Set what cannot be read back. Answered by Done or Refused."""

    ticket: int


@dataclass(frozen=True)
class Say:
    """One line for the log: what happened and why. `fields` are further words and numbers of the line."""

    event: str
    reason: str = ""
    level: str = "info"
    fields: tuple[tuple[str, str | int | float], ...] = ()


@dataclass(frozen=True)
class Restored:
    """The switch was not as intended and is now, verified by reading it back.

    `seconds`: from when that was noticed. `entries`: how many were written; `pushed`: whether the program was
    loaded. `drift`: the switch had neither restarted nor was it told anything new; somebody else wrote to it.
    """

    seconds: float
    entries: int
    pushed: bool
    drift: bool


Action = (
    Connect
    | Disconnect
    | Bid
    | Refresh
    | ReadPipeline
    | ReadEntries
    | PushPipeline
    | Write
    | ApplySettings
    | Say
    | Restored
)
