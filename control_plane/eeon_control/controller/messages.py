"""The input (events) and output (actions) of a switch's state machine, as values.

An action with an answer has a `ticket`, which its answer repeats, so that outdated answers are recognised.
The ticket of `Connect` also identifies the connection and all messages of its stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from eeon_control.fabric.diff import Change
from eeon_control.plan import Entry, EntryKey

# -- events ------------------------------------------------------------------------------------------------


class ArbitrationStatus(StrEnum):
    """The status in a switch's MasterArbitrationUpdate (P4Runtime 1.3, section 5.3)."""

    PRIMARY = "primary"  # status OK: this stream may write
    OTHER = "other"  # ALREADY_EXISTS: another client is primary, with the reported election id
    NOBODY = "nobody"  # NOT_FOUND: there is none; the reported election id is the highest ever seen


@dataclass(frozen=True)
class Connected:
    """The channel is open."""

    ticket: int


@dataclass(frozen=True)
class StreamLost:
    """The connection failed or broke: its pending requests will not be answered.

    `id_in_use`: the switch closed the stream because another one has the same election id.
    """

    ticket: int
    reason: str
    id_in_use: bool = False


@dataclass(frozen=True)
class Arbitrated:
    """The switch reported the primary, in answer to a bid or not."""

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
    """The entries of the controller's tables."""

    ticket: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Done:
    """A push, a write or settings were accepted."""

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
    """The intended configuration of the switch.

    `settings`: whether there are settings that cannot be read back (queue depth and rate over Thrift); they
    are applied after every connection and every push. `entries` include the default actions of the program.
    `owned`: keys of the controller's entries; None for all entries of its tables.
    """

    revision: int
    entries: tuple[Entry, ...]
    settings: bool = False
    owned: frozenset[EntryKey] | None = None


@dataclass(frozen=True)
class IntendedIs:
    """The intended configuration was read: the answer to Refresh (ticket), or a change (ticket 0)."""

    ticket: int
    intended: Intended


@dataclass(frozen=True)
class Writers:
    """The other writers to this fabric, according to the state folder.

    `apply_running`: a command holds the folder's lock. `superior`: a controller of larger rank is alive.
    `inferior_bids`: election ids with which controllers of smaller rank are primary of this switch. A
    controller may outbid only these, because every other primary is intentional.
    """

    apply_running: bool = False
    superior: bool = False
    inferior_bids: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Tick:
    """Time has passed without another event."""


@dataclass(frozen=True)
class Suspect:
    """There is a reason to doubt the switch's state."""

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
    """Close the channel; further events of this ticket are ignored."""

    ticket: int


@dataclass(frozen=True)
class Bid:
    """Send a MasterArbitrationUpdate on the stream. Answered by Arbitrated, or StreamLost."""

    ticket: int
    election_id: int


@dataclass(frozen=True)
class Refresh:
    """Read the intended configuration from the state folder. Answered by IntendedIs."""

    ticket: int


@dataclass(frozen=True)
class ReadPipeline:
    """Read the switch's program. Answered by PipelineRead or Refused."""

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
    """Apply the settings that cannot be read back. Answered by Done or Refused."""

    ticket: int


@dataclass(frozen=True)
class Say:
    """A log line: the event and its reason. `fields` are further fields of the line."""

    event: str
    reason: str = ""
    level: str = "info"
    fields: tuple[tuple[str, str | int | float], ...] = ()


@dataclass(frozen=True)
class Restored:
    """The switch differed from the intended configuration and was restored, verified by reading it back.

    `seconds`: since the difference was noticed. `entries`: number of entries written; `pushed`: whether the
    program was loaded. `drift`: another client wrote, without a restart or a new intended configuration.
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
