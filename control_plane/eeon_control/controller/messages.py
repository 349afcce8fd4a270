"""The input (events) and output (actions) of a switch's state machine, as values.

An action with an answer has a `ticket`, which its answer repeats, so that outdated answers are recognised.
The ticket of `Connect` also identifies the connection and all messages of its stream.
"""

import logging
from dataclasses import dataclass

from eeon_control.election import ArbitrationStatus
from eeon_control.fabric.diff import Change
from eeon_control.plan import Entry, EntryKey

# -- events ------------------------------------------------------------------------------------------------


class Event:
    """An input of the state machine."""


@dataclass(frozen=True)
class Answer(Event):
    """An event that answers a request, or belongs to a connection."""

    ticket: int


class Connected(Answer):
    """The channel is open."""


@dataclass(frozen=True)
class StreamLost(Answer):
    """The connection failed or broke: its pending requests will not be answered.

    `id_in_use`: the switch closed the stream because another one has the same election id.
    """

    reason: str
    id_in_use: bool = False


@dataclass(frozen=True)
class Arbitrated(Answer):
    """The switch reported the primary, in answer to a bid or not."""

    role: ArbitrationStatus
    election_id: int


@dataclass(frozen=True)
class PipelineRead(Answer):
    """Whether the switch runs the intended program."""

    same: bool


@dataclass(frozen=True)
class EntriesRead(Answer):
    """The entries of the controller's tables."""

    entries: tuple[Entry, ...]


class Done(Answer):
    """A push, a write or settings were accepted."""


@dataclass(frozen=True)
class Refused(Answer):
    """The switch answered with an error, in whole or in part."""

    reason: str


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
class IntendedIs(Answer):
    """The intended configuration was read: the answer to Refresh (ticket), or a change (ticket 0)."""

    intended: Intended


@dataclass(frozen=True)
class Writers(Event):
    """The other writers to this fabric, according to the state folder.

    `apply_running`: a command holds the folder's lock. `superior`: a controller of larger rank is alive.
    `inferior_bids`: election ids with which controllers of smaller rank are primary of this switch. A
    controller may outbid only these, because every other primary is intentional.
    """

    apply_running: bool = False
    superior: bool = False
    inferior_bids: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Tick(Event):
    """Time has passed without another event."""


@dataclass(frozen=True)
class Suspect(Event):
    """There is a reason to doubt the switch's state, such as a port that went down."""

    reason: str


# -- actions -----------------------------------------------------------------------------------------------


class Action:
    """An output of the state machine."""


@dataclass(frozen=True)
class Request(Action):
    """An action with a ticket, which its answer repeats."""

    ticket: int


class Connect(Request):
    """Open a channel and its stream. Answered by Connected or StreamLost."""


class Disconnect(Request):
    """Close the channel; further events of this ticket are ignored."""


@dataclass(frozen=True)
class Bid(Request):
    """Send a MasterArbitrationUpdate on the stream. Answered by Arbitrated, or StreamLost."""

    election_id: int


class Refresh(Request):
    """Read the intended configuration from the state folder. Answered by IntendedIs."""


class ReadPipeline(Request):
    """Read the switch's program. Answered by PipelineRead or Refused."""


class ReadEntries(Request):
    """Read the controller's tables. Answered by EntriesRead or Refused."""


class PushPipeline(Request):
    """Load the program, with the id of the last bid. Answered by Done or Refused."""


@dataclass(frozen=True)
class Write(Request):
    """Send changes in order, with the id of the last bid. Answered by Done or Refused."""

    changes: tuple[Change, ...]


class ApplySettings(Request):
    """Apply the settings that cannot be read back. Answered by Done or Refused."""


@dataclass(frozen=True)
class Say(Action):
    """A log line: the event and its reason. `fields` are further fields of the line."""

    event: str
    reason: str = ""
    level: int = logging.INFO
    fields: tuple[tuple[str, str | int | float], ...] = ()


@dataclass(frozen=True)
class Restored(Action):
    """The switch differed from the intended configuration and was restored, verified by reading it back.

    `seconds`: since the difference was noticed. `entries`: number of entries written; `pushed`: whether the
    program was loaded. `drift`: another client wrote, without a restart or a new intended configuration.
    """

    seconds: float
    entries: int
    pushed: bool
    drift: bool
