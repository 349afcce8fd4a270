"""The values of a knob, and settings, which have one value of each knob. Pure functions.

Every knob has a finite number of values. A search can therefore tell when it has tried all settings, never
repeats one, and can be compared with the grid over all of them.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction

from eeon_control.errors import UnitError
from eeon_control.units import Bytes, Duration, PacketRate, Packets, Quantity, format_probability

_KINDS: tuple[type[Quantity], ...] = (Bytes, Packets, Duration, PacketRate)
_SETTING = re.compile(r"t[0-9]{3,}")
_PERCENT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*")
_DIGITS = 3
"""Significant digits of a value between two ends, as in handwritten values; they survive a round trip."""

Setting = Mapping[str, object]
"""A value for each active knob; a knob whose condition does not hold is left out."""


@dataclass(frozen=True)
class Knob:
    """A knob: the paths that it sets, and its values, in ascending order if `is_ordered`. `when`: the values
    that other knobs must have for the knob to be active."""

    name: str
    paths: tuple[tuple[str, ...], ...]
    values: tuple[object, ...]
    is_ordered: bool
    when: Mapping[str, tuple[object, ...]] = field(default_factory=dict)

    def counts(self, setting: Setting) -> bool:
        """Returns whether the knob is active: `setting` has the other knobs' values that `when` requires."""
        return all(name in setting and setting[name] in wanted for name, wanted in self.when.items())

    def added_to(self, settings: Iterable[Setting]) -> Iterator[dict[str, object]]:
        """Yields each setting with each of the knob's values; once, as it is, if the knob is not active."""
        for one in settings:
            values = self.values if self.counts(one) else ()
            yield from ({**one, self.name: value} for value in values)
            if not values:
                yield dict(one)


@dataclass(frozen=True)
class Space:
    """All settings. Each knob comes after those in its condition."""

    knobs: tuple[Knob, ...]

    def size(self) -> int:
        asked = {name for knob in self.knobs for name in knob.when}

        def below(depth: int, chosen: dict[str, object]) -> int:
            if depth == len(self.knobs):
                return 1
            knob = self.knobs[depth]
            if not knob.counts(chosen):
                return below(depth + 1, chosen)
            if knob.name not in asked:
                return len(knob.values) * below(depth + 1, chosen)
            return sum(below(depth + 1, {**chosen, knob.name: value}) for value in knob.values)

        return below(0, {})

    def all(self) -> Iterator[dict[str, object]]:
        """Yields every setting once, the last knob's value changing fastest."""
        found: Iterable[dict[str, object]] = ({},)
        for knob in self.knobs:
            found = knob.added_to(found)
        yield from found

    def neighbours(self, setting: Setting) -> Iterator[dict[str, object]]:
        """Yields settings that differ in one knob: by one step if it is ordered, else in any choice."""
        for knob in self.knobs:
            if knob.name not in setting:
                continue
            at = knob.values.index(setting[knob.name])
            near = (at - 1, at + 1) if knob.is_ordered else range(len(knob.values))
            for index in near:
                if index != at and 0 <= index < len(knob.values):
                    yield self.completed({**setting, knob.name: knob.values[index]})

    def completed(self, setting: Setting) -> dict[str, object]:
        """Returns `setting` without inactive knobs, and with the first value of each active knob that has
        none."""
        found: dict[str, object] = {}
        for knob in self.knobs:
            if knob.counts(found):
                found[knob.name] = setting.get(knob.name, knob.values[0])
        return found


def key(setting: Setting) -> str:
    """Returns a text that is equal only for equal settings."""
    return json.dumps(dict(setting), sort_keys=True, default=str)


def name(number: int) -> str:
    """Returns the name of the `number`th setting of a search, from 1."""
    return f"t{number:03d}"


def is_setting_name(text: str) -> bool:
    """Returns whether a search can give a setting this name."""
    return _SETTING.fullmatch(text) is not None


def words(setting: Setting) -> str:
    """Returns a setting as text for a reader."""
    return ", ".join(f"{knob} {text(value)}" for knob, value in setting.items()) or "nothing set"


def text(value: object) -> str:
    """Returns a value as text for a reader."""
    return value if isinstance(value, str) else json.dumps(value)


def overlay(space: Space, setting: Setting) -> dict[str, object]:
    """Returns the part of a configuration that a setting determines."""
    root: dict[str, object] = {}
    for knob in space.knobs:
        if knob.name not in setting:
            continue
        for path in knob.paths:
            here = root
            for step in path[:-1]:
                inner = here.setdefault(step, {})
                if not isinstance(inner, dict):  # a scalar choice of a knob with a shorter path
                    inner = here[step] = {}
                here = inner
            value, there = deepcopy(setting[knob.name]), here.get(path[-1])
            # A choice may be a mapping, of which another knob sets a part.
            here[path[-1]] = (
                {**value, **there} if isinstance(value, dict) and isinstance(there, dict) else value
            )
    return root


def broken_conditions(found: Iterable[Knob]) -> Iterator[tuple[str, str]]:
    """Yields conditions on a knob that does not precede theirs, or on a value it lacks: (knob, rule)."""
    before: dict[str, Knob] = {}
    for knob in found:
        for other, wanted in knob.when.items():
            if other not in before:
                yield knob.name, f"names {other}, which is not an earlier knob"
            elif strange := [value for value in wanted if value not in before[other].values]:
                known = ", ".join(map(text, before[other].values))
                yield knob.name, f"{text(strange[0])} is not a value of {other}; there are {known}"
        before[knob.name] = knob


_Unit = Callable[[Fraction], object]
"""Conversion of a number to a value in a configuration: a kind of quantity, or one of the following."""
_whole, _plain, _percent = int, float, format_probability


def values(low: object, high: object, steps: int, *, log: bool) -> tuple[object, ...]:
    """Returns at most `steps` values from `low` to `high`, both included, in their common unit: equally
    spaced, or with `log` at equal ratios. Values between the ends have three digits, and are whole numbers of
    the base unit.

    Raises ValueError for ends with different units, for an empty range, and for `log` from zero.
    """
    (first, unit), (last, other) = _number(low), _number(high)
    if {unit, other} == {_whole, _plain}:  # 1 is a fraction beside 0.1
        unit = other = _plain
    if unit is not other:
        raise ValueError(f"from {low} and to {high} have different units")
    if first >= last:
        raise ValueError(f"the range is empty: from {low} is not below to {high}")
    if log and not first:
        raise ValueError("log needs a range above zero; raise from, or leave log out")
    numbers = {first, last}
    for step in range(1, steps - 1):
        share = step / (steps - 1)
        if log:
            number = float(first) * (float(last) / float(first)) ** share
        else:
            number = float(first) + (float(last) - float(first)) * share
        numbers.add(min(max(_rounded(number, unit), first), last))
    found = tuple(map(unit, sorted(numbers)))
    return tuple(map(str, found)) if unit in _KINDS else found


def _number(value: object) -> tuple[Fraction, _Unit]:
    if isinstance(value, bool):
        raise ValueError(f"{value} is not a number")
    if isinstance(value, int | float):
        whole = isinstance(value, int) or value.is_integer()
        return Fraction(str(value)), _whole if whole else _plain
    shown = str(value)
    if match := _PERCENT.fullmatch(shown):
        return Fraction(match[1]) / 100, _percent
    for kind in _KINDS:
        try:
            return Fraction(int(kind.parse(shown))), kind
        except UnitError:
            continue
    raise ValueError(f"{shown!r} is not a size, time or share; write for example 30KB, 120us or 5%")


def _rounded(number: float, unit: _Unit) -> Fraction:
    digits = _DIGITS - 1 - math.floor(math.log10(number)) if number else 0
    if unit not in (_plain, _percent):
        digits = min(digits, 0)
    return Fraction(str(round(number, digits)))
