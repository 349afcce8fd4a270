"""Choices read from an input, so that a fuzzer that changes a byte changes a choice. Beyond its end, an input
gives zeros, which choose the first and the fewest."""

from random import Random


class Draws(Random):
    """A reader of one input, as the random numbers of a generator."""

    def __init__(self, data: bytes) -> None:
        super().__init__(0)
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

    def random(self) -> float:
        """Returns a number below 1; a zero gives the highest, because generators do most things rarely."""
        return 1 - (self.number(1) + 1) / 256

    def getrandbits(self, k: int) -> int:
        """Returns a number of `k` bits."""
        return self.number((k + 7) // 8) & (1 << k) - 1

    # `Random` chooses by it among items and numbers; its own would take bytes until one is small enough.
    def _randbelow(self, n: int) -> int:
        return self.number(1 if n <= 256 else 2 if n <= 65_536 else 4) % n

    def one_in(self, limit: int) -> bool:
        """Returns True once in `limit` times; never at the end of the input."""
        return self.randrange(limit) == limit - 1
