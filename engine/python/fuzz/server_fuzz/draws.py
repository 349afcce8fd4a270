"""Choices read from an input, so that a fuzzer that changes a byte changes a choice. Beyond its end, an input
gives zeros, which choose the first and the fewest."""

from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")


class Draws:
    """A reader of one input."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_over(self) -> bool:
        """Whether the input is used up."""
        return self._at >= len(self._data)

    def bytes(self, count: int) -> bytes:
        """Returns the next `count` bytes; fewer at the end of the input."""
        taken = self._data[self._at : self._at + count]
        self._at += count
        return taken

    def rest(self) -> bytes:
        """Returns all remaining bytes."""
        return self.bytes(max(0, len(self._data) - self._at))

    def number(self, size: int) -> int:
        """Returns an unsigned number of `size` bytes."""
        return int.from_bytes(self.bytes(size).ljust(size, b"\0"), "big")

    def below(self, limit: int) -> int:
        """Returns a number from 0 to `limit` - 1."""
        return self.number(1 if limit <= 256 else 2 if limit <= 65_536 else 4) % limit

    def one_in(self, limit: int) -> bool:
        """Returns True once in `limit` times; never at the end of the input."""
        return self.below(limit) == limit - 1

    def pick(self, choices: Sequence[_T]) -> _T:
        """Returns one of the choices."""
        return choices[self.below(len(choices))]
