"""The base of all groups of settings, and their common words. Pure.

Settings are in the configuration's units (bytes, packets, picoseconds, fractions). An action has whole
numbers: sizes unchanged, times in ticks of the target's timestamps, probabilities and wire times in fixed
point. Fixed-point values are rounded to nearest, and times up to a tick, so that a PHY is never considered
ready too early.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

from eeon_control.constants import PROTECT
from eeon_control.entries import Action
from eeon_control.units import Bytes, Duration, Packets

IN_TICKS = Duration(1)
"""The tick for reading an action with times left as numbers of ticks."""

Protect = Literal["ect", "ece", "ack_syn"]

_UNIT = re.compile(r"(?<=[0-9])(?=[A-Za-zµ])")
_PROTECT_NAMES = {number: name for name, number in PROTECT.items()}
_SPARED = {"ect": "only ECT", "ece": "ECT and ACKs with ECE", "ack_syn": "ECT, ACKs and SYNs"}
_NOT_SET = "not set"


class Kind(NamedTuple):
    """A kind of parameter: its number for a value, and its value for a number, at a tick."""

    number: Callable[[Any, Duration], int]
    value: Callable[[int, Duration], object]


class Settings(ABC):
    """One group of a port's settings. Subclasses are frozen dataclasses, one for each P4 action."""

    action: ClassVar[str]
    """The P4Info alias of the P4 program's action."""

    params: ClassVar[tuple[tuple[str, str, Kind], ...]] = ()
    """The action's parameters, with field and kind."""

    def to_action(self, tick: Duration) -> Action:
        """Returns the action with its parameters, for a target whose timestamps count `tick`.

        Raises PlanError if the target cannot express a value; the message names the key and the possible
        values. `from_action` returns the same settings, except for times between two ticks and for values
        that the class documents as rounded.
        """
        return Action(
            self.action,
            tuple((name, kind.number(getattr(self, field), tick)) for name, field, kind in self.params),
        )

    @classmethod
    def from_action(cls, params: Mapping[str, int], tick: Duration) -> Self:
        """Returns the settings of an action's parameters, with any values that fit their widths."""
        return cls(**{field: kind.value(params[name], tick) for name, field, kind in cls.params})

    @abstractmethod
    def describe(self) -> str:
        """Returns the settings for a sentence or a table cell: `mark_threshold 97.5KB`, `300 KB`."""

    def parts(self) -> dict[str, str]:
        """Returns name -> value in words, for values that may change within a mode; empty without any."""
        return {}

    def spans(self) -> dict[str, Duration]:
        """Returns the times that the action stores in ticks, by the configuration's keys."""
        return {field: getattr(self, field) for _, field, kind in self.params if kind is TICKS}

    @property
    def mode(self) -> str:
        """The mode. Changes within a mode are described by part; a change of mode is described whole."""
        return self.action


@dataclass(frozen=True)
class WithoutParameters(Settings):
    """The settings of an action without parameters."""

    text: ClassVar[str]

    def describe(self) -> str:
        return self.text


@dataclass(frozen=True)
class ByQueueSettings(WithoutParameters):
    """The port's AQM is the AQM of the packet's queue, in the table `queue_aqm`."""

    action: ClassVar[str] = "by_queue"
    text: ClassVar[str] = "by queue"


@dataclass(frozen=True)
class PortTable:
    """A table of the program with one entry per port, or per queue of a port.

    `name`: its P4Info alias. `what`: its subject in words. `settings`: one class for each of its actions.
    `of_parts`: the prefix of a description of changed parts.
    """

    name: str
    what: str
    settings: tuple[type[Settings], ...]
    of_parts: str = ""

    def from_action(self, action: Action, tick: Duration) -> Settings | None:
        """Returns the settings of an action of this table; None for an unknown action."""
        kind = next((one for one in self.settings if one.action == action.name), None)
        return None if kind is None else kind.from_action(dict(action.params), tick)

    def describe(self, action: Action | None, tick: Duration) -> str:
        """Returns an action in words; an unknown action is returned as text."""
        if action is None:
            return _NOT_SET
        settings = self.from_action(action, tick)
        return str(action) if settings is None else settings.describe()

    def describe_change(self, before: Action | None, after: Action | None, tick: Duration) -> str:
        """Returns `marking threshold 30 KB -> 97.5 KB`, or for another mode `EEE off -> standard`."""
        old, new = (None if one is None else self.from_action(one, tick) for one in (before, after))
        if old is not None and new is not None and old.mode == new.mode and new.parts():
            return self.of_parts + _parts_changed(old.parts(), new.parts())
        return f"{self.what} {self.describe(before, tick)} -> {self.describe(after, tick)}"


def to_ticks(span: Duration, tick: Duration) -> int:
    """Returns a time in ticks, rounded up."""
    return -(-int(span) // int(tick))


def from_ticks(ticks: int, tick: Duration) -> Duration:
    """Returns the duration of a number of ticks."""
    return Duration(ticks * tick)


def protect_number(name: str) -> int:
    """Returns the program's number for a `protect` setting."""
    number = PROTECT.get(name)
    return int(name) if number is None else number


def protect_name(number: int) -> str:
    """Returns the `protect` setting for the program's number; an unknown number is returned as text."""
    return _PROTECT_NAMES.get(number, str(number))


TICKS = Kind(to_ticks, from_ticks)
BYTES = Kind(lambda size, _: int(size), lambda number, _: Bytes(number))
PACKETS = Kind(lambda size, _: int(size), lambda number, _: Packets(number))
FLAG = Kind(lambda value, _: int(value), lambda number, _: bool(number))
PROTECTED = Kind(lambda name, _: protect_number(name), lambda number, _: protect_name(number))


def protects(protect: str) -> str:
    """Returns the packets that a `protect` setting protects, in words."""
    return _SPARED.get(protect, protect)


def spaced(text: object) -> str:
    """Returns `97.5 KB` for `97.5KB`."""
    return _UNIT.sub(" ", str(text))


def size_text(size: Bytes | Packets) -> str:
    """Returns `97.5 KB`, `1 packet` or `2 packets`."""
    text = spaced(size)
    return text.replace("pkt", "packet" if size == 1 else "packets") if isinstance(size, Packets) else text


def on_off(value: bool) -> str:
    return "on" if value else "off"


def _parts_changed(old: dict[str, str], new: dict[str, str]) -> str:
    changed = [f"{name} {old.get(name, 'none')} -> {new[name]}" for name in new if new[name] != old.get(name)]
    return ", ".join(changed) or "details without effect"
