"""What every group of settings has in common, and the words that they share. Pure.

Settings are in the units of people (bytes, packets, picoseconds, fractions). An action has whole numbers:
sizes as they are, times in ticks of the target's timestamps, probabilities and wire times in fixed point.
Fixed point is rounded to nearest, and a time between two ticks up: a PHY is never taken to be ready sooner
than it is.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from eeon_control.constants import PROTECT
from eeon_control.entries import Action
from eeon_control.units import Bytes, Duration, Packets

IN_TICKS = Duration(1)
"""The tick to read an action with where times are to stay numbers of ticks."""

Protect = Literal["ect", "ece", "ack_syn"]

_UNIT = re.compile(r"(?<=[0-9])(?=[A-Za-zµ])")
_PROTECT_NAMES = {number: name for name, number in PROTECT.items()}
_SPARED = {"ect": "only ECT", "ece": "ECT and ACKs with ECE", "ack_syn": "ECT, ACKs and SYNs"}
_NOT_SET = "not set"


class Settings(ABC):
    """One group of a port's settings. Subclasses are frozen dataclasses, one for each P4 action."""

    action: ClassVar[str]
    """The action of the P4 program, by its P4Info alias."""

    @abstractmethod
    def to_action(self, tick: Duration) -> Action:
        """Returns the action with its parameters, for a target whose timestamps count `tick`.

        Raises PlanError when the target cannot express a value; the message names the key and what can be
        expressed. `from_action` gives back the same settings, but for times between two ticks and what the
        class says is rounded.
        """

    @classmethod
    @abstractmethod
    def from_action(cls, params: Mapping[str, int], tick: Duration) -> Self:
        """Returns what the action's parameters mean. Whatever fits the parameters' widths can be read."""

    @abstractmethod
    def describe(self) -> str:
        """Returns all of it in words, for a sentence: `mark above 97.5 KB`."""

    @abstractmethod
    def summary(self) -> str:
        """Returns the same in the configuration's keys, for a cell of a table: `mark_threshold 97.5KB`."""

    def parts(self) -> dict[str, str]:
        """Returns name -> value in words of what may change within a mode; empty where all is described."""
        return {}

    def spans(self) -> dict[str, Duration]:
        """Returns the times that the action has in ticks, by the configuration's keys."""
        return {}

    @property
    def mode(self) -> str:
        """Settings of one mode are compared part by part; a change of mode is described whole."""
        return self.action


@dataclass(frozen=True)
class WithoutParameters(Settings):
    """Settings of an action that has no parameters: there is nothing to set but the action itself."""

    in_words: ClassVar[str]
    in_keys: ClassVar[str]

    def to_action(self, tick: Duration) -> Action:
        """Returns the action, which is always the same."""
        return Action(self.action)

    @classmethod
    def from_action(cls, params: Mapping[str, int], tick: Duration) -> Self:
        """Returns the settings, which are always the same."""
        return cls()

    def describe(self) -> str:
        """Returns `in_words`."""
        return self.in_words

    def summary(self) -> str:
        """Returns `in_keys`."""
        return self.in_keys


@dataclass(frozen=True)
class PortTable:
    """A table of the program with one entry for each port, or for each queue of a port.

    `name`: its P4Info alias. `what`: what it sets, for people. `settings`: one class for each of its actions.
    `of_parts`: what is said before a change of some parts.
    """

    name: str
    what: str
    settings: tuple[type[Settings], ...]
    of_parts: str = ""

    def from_action(self, action: Action, tick: Duration) -> Settings | None:
        """Returns the settings that an action of this table means; None for one that is not known here."""
        kind = next((one for one in self.settings if one.action == action.name), None)
        return None if kind is None else kind.from_action(dict(action.params), tick)

    def describe(self, action: Action | None, tick: Duration) -> str:
        """Returns an action in words; one that is not known as it is."""
        if action is None:
            return _NOT_SET
        settings = self.from_action(action, tick)
        return str(action) if settings is None else settings.describe()

    def describe_change(self, before: Action | None, after: Action | None, tick: Duration) -> str:
        """Returns `marking threshold 30 KB -> 97.5 KB`, or another mode as a whole: `EEE off -> standard`."""
        old, new = (None if one is None else self.from_action(one, tick) for one in (before, after))
        if old is not None and new is not None and old.mode == new.mode and new.parts():
            return self.of_parts + _parts_changed(old.parts(), new.parts())
        return f"{self.what} {self.describe(before, tick)} -> {self.describe(after, tick)}"


def to_ticks(span: Duration, tick: Duration) -> int:
    """Returns a time in ticks, rounded up."""
    return -(-int(span) // int(tick))


def from_ticks(ticks: int, tick: Duration) -> Duration:
    """Returns the time that a number of ticks is."""
    return Duration(ticks * tick)


def protect_number(name: str) -> int:
    """Returns the program's number of a `protect` setting."""
    number = PROTECT.get(name)
    return int(name) if number is None else number


def protect_name(number: int) -> str:
    """Returns the `protect` setting of the program's number, which is its own name where the program has
    none."""
    return _PROTECT_NAMES.get(number, str(number))


def spares(protect: str) -> str:
    """Returns whom a `protect` setting spares."""
    return _SPARED.get(protect, protect)


def spaced(text: object) -> str:
    """Returns `97.5 KB` for `97.5KB`."""
    return _UNIT.sub(" ", str(text))


def size_text(size: Bytes | Packets) -> str:
    """Returns `97.5 KB`, `1 packet` or `2 packets`."""
    text = spaced(size)
    return text.replace("pkt", "packet" if size == 1 else "packets") if isinstance(size, Packets) else text


def on_off(value: bool) -> str:
    """Returns `on` or `off`."""
    return "on" if value else "off"


def _parts_changed(old: dict[str, str], new: dict[str, str]) -> str:
    changed = [f"{name} {old.get(name, 'none')} -> {new[name]}" for name in new if new[name] != old.get(name)]
    return ", ".join(changed) or "details of the same meaning"
